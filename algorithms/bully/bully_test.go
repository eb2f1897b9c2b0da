package bully_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// process is one process on its own, to be told what happens.
type process struct {
	bully.Process
	c election.Collector[bully.Message]
}

func newProcess(id election.ID, members int, parameters map[string]string) *process {
	set, err := bully.Algorithm.Set(parameters)
	if err != nil {
		panic(err)
	}
	return &process{Process: bully.Algorithm.New(election.Local{ID: id, Degree: members, Parameters: set})}
}

// did is what a step did: messages as kind and receiver, and other effects by their Op.
type did struct {
	sent []sent
	rare []election.Op
}

type sent struct {
	kind election.Kind
	to   election.ID
}

func (p *process) step(do func(out *election.Out[bully.Message])) did {
	p.c.Reset()
	do(p.c.Out())
	var d did
	for _, m := range p.c.Sent() {
		d.sent = append(d.sent, sent{m.Kind(), election.From(election.Port(m.On()))})
	}
	for _, e := range p.c.Rare() {
		d.rare = append(d.rare, e.Op)
	}
	return d
}

func (p *process) hears(kind election.Kind, from election.ID) did {
	return p.step(func(out *election.Out[bully.Message]) {
		p.Receive(election.To(from), kind, bully.Message{}, out)
	})
}

func (p *process) expires(timer election.Timer) did {
	return p.step(func(out *election.Out[bully.Message]) { p.Timeout(timer, out) })
}

func expect(t *testing.T, what string, got did, sent []sent, rare ...election.Op) {
	t.Helper()
	if !slices.Equal(got.sent, sent) || !slices.Equal(got.rare, rare) {
		t.Errorf("%s: did %+v, want %v and %v", what, got, sent, rare)
	}
}

func TestRule1(t *testing.T) {
	highest := newProcess(3, 3, nil)
	expect(t, "the highest recovers", highest.step(highest.Start),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 2}}, election.Lead)
	lowest := newProcess(1, 3, nil)
	expect(t, "the lowest recovers", lowest.step(lowest.Start),
		[]sent{{bully.Election, 2}, {bully.Election, 3}}, election.SetTimer)
}

func TestRule2(t *testing.T) {
	p := newProcess(2, 3, nil)
	p.step(p.Start)
	expect(t, "no answer", p.expires(bully.AnswerTimeout),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 3}}, election.Lead)
	p = newProcess(2, 3, map[string]string{"victory": "lower"})
	p.step(p.Start)
	expect(t, "no answer, victory=lower", p.expires(bully.AnswerTimeout), []sent{{bully.Coordinator, 1}}, election.Lead)
}

func TestRule3(t *testing.T) {
	p := newProcess(1, 3, nil)
	p.step(p.Start)
	expect(t, "an answer", p.hears(bully.Answer, 3), nil, election.StopTimer, election.SetTimer)
	expect(t, "another", p.hears(bully.Answer, 2), nil)
	expect(t, "no victory after all", p.expires(bully.VictoryTimeout),
		[]sent{{bully.Election, 2}, {bully.Election, 3}}, election.SetTimer)
}

func TestRule4(t *testing.T) {
	p := newProcess(2, 3, nil)
	expect(t, "a lower one asks", p.hears(bully.Election, 1), []sent{{bully.Answer, 1}, {bully.Election, 3}}, election.SetTimer)
	expect(t, "and again", p.hears(bully.Election, 1), []sent{{bully.Answer, 1}})
}

func TestRule5(t *testing.T) {
	p := newProcess(1, 3, nil)
	expect(t, "a coordinator", p.hears(bully.Coordinator, 3), nil, election.StopTimer, election.StopTimer, election.Follow)
	if p.Coordinator != 3 {
		t.Errorf("follows %d, want 3", p.Coordinator)
	}
}

func TestLowerCoordinatorIsBullied(t *testing.T) {
	p := newProcess(3, 3, nil)
	p.step(p.Start)
	expect(t, "a lower one claims victory over the leader", p.hears(bully.Coordinator, 2),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 2}}, election.Lead)
	p = newProcess(1, 3, nil)
	p.hears(bully.Coordinator, 3)
	expect(t, "one lower than the coordinator claims victory", p.hears(bully.Coordinator, 2),
		[]sent{{bully.Election, 2}, {bully.Election, 3}}, election.Doubt, election.SetTimer)
}

func TestOnlyTheCoordinatorIsMissed(t *testing.T) {
	p := newProcess(1, 3, nil)
	p.hears(bully.Coordinator, 3)
	expect(t, "another is suspected", p.step(func(out *election.Out[bully.Message]) { p.Suspect(election.To(2), out) }), nil)
	expect(t, "the coordinator is suspected", p.step(func(out *election.Out[bully.Message]) { p.Suspect(election.To(3), out) }),
		[]sent{{bully.Election, 2}, {bully.Election, 3}}, election.Doubt, election.SetTimer)
}

func TestTrustedAgainHearsOfTheCoordinator(t *testing.T) {
	p := newProcess(2, 3, nil)
	p.step(p.Start)
	p.expires(bully.AnswerTimeout)
	expect(t, "a lower one is back", p.step(func(out *election.Out[bully.Message]) { p.Trust(election.To(1), out) }),
		[]sent{{bully.Coordinator, 1}})
	expect(t, "a higher one is back", p.step(func(out *election.Out[bully.Message]) { p.Trust(election.To(3), out) }),
		[]sent{{bully.Election, 3}}, election.SetTimer)
}

// However long they are, timeouts fit into a process's clock, or are refused.
func TestLongestTimeouts(t *testing.T) {
	const longest = "1000000000000000000000000000000000000" // not much below 2^120
	for _, good := range []map[string]string{
		{"delay": "4611686018427387904"},
		{"delay": "4611686018427387904", "answer-timeout": longest},
		{"victory-timeout": longest},
	} {
		set, err := bully.Algorithm.Set(good)
		if err != nil {
			t.Fatal(err)
		}
		bully.Algorithm.New(election.Local{ID: 1, Degree: 2, Parameters: set})
	}
	for name, bad := range map[string]string{ // a delay is a number of 64 bits to the engines
		"delay": "18446744073709551616", "answer-timeout": longest + "9", "victory-timeout": longest + "9",
	} {
		if _, err := bully.Algorithm.Set(map[string]string{name: bad}); err == nil {
			t.Errorf("%s may be %s", name, bad)
		}
	}
}

func TestAloneAProcessLeadsAtOnce(t *testing.T) {
	p := newProcess(1, 1, nil)
	expect(t, "one process", p.step(p.Start), nil, election.Lead)
}

func check(t *testing.T, a election.Algorithm[bully.Process, bully.Message], o verify.Options, parameters map[string]string) *verify.Report {
	t.Helper()
	o.Size = 3
	o.Instance.Parameters = parameters
	report, err := verify.Run(a, o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation == nil && !report.Complete {
		t.Fatalf("not finished after %d states", report.States)
	}
	return report
}

func TestThreeProcessesUnderEverySchedule(t *testing.T) {
	for _, delay := range []string{"1", "2"} {
		for _, victory := range []string{"others", "lower"} {
			o := verify.Options{Starts: verify.EverySet, Crashes: 1, Recoveries: 1}
			report := check(t, bully.Algorithm, o, map[string]string{"delay": delay, "victory": victory})
			if report.Violation != nil {
				t.Errorf("delay %s, victory %s: %s: %s", delay, victory, report.Violation.Property, report.Violation.Detail)
			}
		}
	}
}

// literal is S4 as printed: rule 5 believes every coordinator that is not below oneself.
func literal(p *bully.Process, port election.Port, kind election.Kind, m bully.Message, out *election.Out[bully.Message]) {
	if kind == bully.Coordinator && election.From(port) > p.ID {
		p.Coordinator = 0
	}
	p.Receive(port, kind, m, out)
}

func TestBelievingADeposedCoordinatorIsFound(t *testing.T) {
	mutant := bully.Algorithm
	mutant.Receive = literal
	o := verify.Options{Starts: verify.EverySet, Crashes: 1, Recoveries: 1}
	if report := check(t, mutant, o, map[string]string{"delay": "2"}); report.Violation == nil || report.Violation.Property != verify.Disagreement {
		t.Errorf("found %+v, want a disagreement at the end", report.Violation)
	}
}

// A process that waits for exactly the time that question and answer take, with the timer before the
// message when both are due, takes over from one that lives.
func TestImpatientProcessIsFound(t *testing.T) {
	for _, delay := range []string{"1", "2"} {
		exact := map[string]string{"1": "2", "2": "4"}[delay]
		o := verify.Options{Starts: verify.EverySet}
		if report := check(t, bully.Algorithm, o, map[string]string{"delay": delay, "answer-timeout": exact}); report.Violation == nil {
			t.Errorf("delay %s, answer-timeout %s: not found", delay, exact)
		}
		if report := check(t, bully.Algorithm, o, map[string]string{"delay": delay}); report.Violation != nil {
			t.Errorf("delay %s, one unit longer: %s: %s", delay, report.Violation.Property, report.Violation.Detail)
		}
	}
}

func TestHealsWhateverTheTimeout(t *testing.T) {
	// ALGORITHMS section 6: victory over all others, with the rule, ends in agreement even if T1 is too short.
	for seed := range uint64(3000) {
		i := election.On(1, 2, 3, 4, 5)
		i.Parameters = map[string]string{"delay": "2", "answer-timeout": "3"}
		r, err := simulate.Run(bully.Algorithm, simulate.Options{Instance: i, Dead: []int{4}, Seed: seed, Initiators: []int{int(seed % 4)}})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Right {
			t.Fatalf("seed %d: leaders at %v", seed, r.Leaders)
		}
	}
}
