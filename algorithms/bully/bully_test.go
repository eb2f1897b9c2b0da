package bully_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, bully.Algorithm, electiontest.Options{
		Parameters: []map[string]string{
			nil,
			{"victory": "lower", "delay": "2"},
			{"known-dead": "skipped"},
			{"known-dead": "decides", "asked-coordinator": "tells"},
			{"known-dead": "skipped", "asked-coordinator": "tells", "delay": "3", "victory": "lower"},
		},
		Verify: 2, // schedules_test.go goes further
	})
	electiontest.Conform(t, bully.Algorithm, electiontest.Options{
		Sizes: []int{1, 2, 3, 6}, Runs: 5, Verify: 2, Parameters: electiontest.Settings(&bully.Algorithm.Declaration),
	})
}

// process is a single process that a test feeds with events.
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
	for _, e := range p.c.Effects() {
		d.rare = append(d.rare, e.Op)
	}
	return d
}

func (p *process) hears(kind election.Kind, from election.ID) did {
	return p.step(func(out *election.Out[bully.Message]) {
		p.Receive(election.To(from), kind, bully.Message{}, out)
	})
}

func (p *process) suspects(other election.ID) did {
	return p.step(func(out *election.Out[bully.Message]) { p.Suspect(election.To(other), out) })
}

func (p *process) trusts(other election.ID) did {
	return p.step(func(out *election.Out[bully.Message]) { p.Trust(election.To(other), out) })
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

func TestRule1TheHighestAnnouncesItselfAndOthersAsk(t *testing.T) {
	highest := newProcess(3, 3, nil)
	expect(t, "the highest recovers", highest.step(highest.Start),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 2}}, election.Lead)
	lowest := newProcess(1, 3, nil)
	expect(t, "the lowest recovers", lowest.step(lowest.Start),
		[]sent{{bully.Election, 2}, {bully.Election, 3}}, election.SetTimer)
	lowest = newProcess(1, 3, nil)
	lowest.hears(bully.Coordinator, 3)
	expect(t, "another than the coordinator is suspected", lowest.suspects(2), nil)
	expect(t, "the coordinator is suspected", lowest.suspects(3),
		[]sent{{bully.Election, 2}, {bully.Election, 3}}, election.NoLeader, election.SetTimer)
}

func TestRule2WhoHearsNoAnswerWins(t *testing.T) {
	p := newProcess(2, 3, nil)
	p.step(p.Start)
	expect(t, "no answer", p.expires(bully.AnswerTimeout),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 3}}, election.Lead)
	p = newProcess(2, 3, map[string]string{"victory": "lower"})
	p.step(p.Start)
	expect(t, "no answer, victory=lower", p.expires(bully.AnswerTimeout), []sent{{bully.Coordinator, 1}}, election.Lead)
}

func TestRule3WhoHearsAnAnswerWaitsForAVictory(t *testing.T) {
	p := newProcess(1, 3, nil)
	p.step(p.Start)
	expect(t, "an answer", p.hears(bully.Answer, 3), nil, election.StopTimer, election.SetTimer)
	expect(t, "another", p.hears(bully.Answer, 2), nil)
	expect(t, "no victory after all", p.expires(bully.VictoryTimeout),
		[]sent{{bully.Election, 2}, {bully.Election, 3}}, election.SetTimer)
	p.hears(bully.Coordinator, 3)
	expect(t, "an answer after the election", p.hears(bully.Answer, 2), nil)
}

func TestRule4WhoIsAskedAnswersAndHoldsAnElection(t *testing.T) {
	p := newProcess(2, 3, nil)
	expect(t, "a lower one asks", p.hears(bully.Election, 1), []sent{{bully.Answer, 1}, {bully.Election, 3}}, election.SetTimer)
	expect(t, "and again", p.hears(bully.Election, 1), []sent{{bully.Answer, 1}})
	p.hears(bully.Answer, 3)
	expect(t, "and while it waits", p.hears(bully.Election, 1), []sent{{bully.Answer, 1}})
	p.hears(bully.Coordinator, 3)
	expect(t, "and after that election", p.hears(bully.Election, 1),
		[]sent{{bully.Answer, 1}, {bully.Election, 3}}, election.SetTimer)
}

func TestRule5WhoHearsOfACoordinatorFollowsIt(t *testing.T) {
	p := newProcess(1, 3, nil)
	expect(t, "a coordinator", p.hears(bully.Coordinator, 3), nil, election.StopTimer, election.StopTimer, election.Follow)
	if p.Coordinator != 3 {
		t.Errorf("follows %d, want 3", p.Coordinator)
	}
	leader := newProcess(3, 3, map[string]string{"bullying": "no"})
	leader.step(leader.Start)
	expect(t, "as printed, even one below itself", leader.hears(bully.Coordinator, 2),
		nil, election.StopTimer, election.StopTimer, election.Follow)
}

func TestLowerCoordinatorIsBullied(t *testing.T) {
	p := newProcess(3, 3, nil)
	p.step(p.Start)
	expect(t, "a lower one claims victory over the leader", p.hears(bully.Coordinator, 2),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 2}}, election.Lead)
	p = newProcess(1, 3, nil)
	p.hears(bully.Coordinator, 3)
	expect(t, "one lower than the coordinator claims victory", p.hears(bully.Coordinator, 2),
		[]sent{{bully.Election, 2}, {bully.Election, 3}}, election.NoLeader, election.SetTimer)
}

func TestTrustedAgainHearsOfTheCoordinator(t *testing.T) {
	p := newProcess(2, 3, nil)
	p.step(p.Start)
	p.expires(bully.AnswerTimeout)
	expect(t, "a lower one is back", p.trusts(1), []sent{{bully.Coordinator, 1}})
	expect(t, "a higher one is back", p.trusts(3), []sent{{bully.Election, 3}}, election.SetTimer)
}

func TestKnownDeadAreNotAskedUntilTheyAreHeardOf(t *testing.T) {
	p := newProcess(2, 4, map[string]string{"known-dead": "skipped"})
	before := p.Process // shares its knowledge of dead processes
	p.suspects(4)
	expect(t, "4 is dead", p.step(p.Start), []sent{{bully.Election, 3}}, election.SetTimer)
	p.hears(bully.Coordinator, 3)
	expect(t, "3 is dead, too", p.suspects(3),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 3}, {bully.Coordinator, 4}}, election.NoLeader, election.Lead)
	expect(t, "4 was not dead", p.trusts(4), []sent{{bully.Election, 4}}, election.SetTimer)
	p.hears(bully.Coordinator, 4)
	p.hears(bully.Coordinator, 3)
	p.hears(bully.Coordinator, 4)
	expect(t, "3 is back", p.suspects(4), []sent{{bully.Election, 3}}, election.NoLeader, election.SetTimer)
	p.Process = before
	expect(t, "nothing is known", p.step(p.Start), []sent{{bully.Election, 3}, {bully.Election, 4}}, election.SetTimer)
}

func TestKnowledgeOfCrashesDecides(t *testing.T) {
	loyal := map[string]string{"known-dead": "decides"}
	p := newProcess(2, 5, loyal)
	p.hears(bully.Coordinator, 5)
	for _, lower := range []election.ID{1, 3, 4} {
		expect(t, "5 is followed", p.hears(bully.Coordinator, lower), nil)
	}
	expect(t, "5 is dead", p.suspects(5), []sent{{bully.Election, 3}, {bully.Election, 4}}, election.NoLeader, election.SetTimer)
	expect(t, "4 has won", p.hears(bully.Coordinator, 4), nil, election.StopTimer, election.StopTimer, election.Follow)
	expect(t, "5 is back", p.hears(bully.Coordinator, 5), nil, election.StopTimer, election.StopTimer, election.Follow)

	p = newProcess(2, 4, loyal)
	p.step(p.Start)
	expect(t, "one of those that it asked is dead", p.suspects(4), nil)
	expect(t, "and the other", p.suspects(3),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 3}, {bully.Coordinator, 4}}, election.StopTimer, election.StopTimer, election.Lead)
	p = newProcess(3, 4, loyal)
	p.step(p.Start)
	p.hears(bully.Answer, 4)
	expect(t, "the one that answered is dead", p.suspects(4),
		[]sent{{bully.Coordinator, 1}, {bully.Coordinator, 2}, {bully.Coordinator, 4}}, election.StopTimer, election.StopTimer, election.Lead)
	expect(t, "it leads, and a lower one is dead", p.suspects(1), nil)

	p = newProcess(3, 3, loyal)
	p.step(p.Start)
	expect(t, "it leads itself", p.hears(bully.Coordinator, 2), []sent{{bully.Coordinator, 1}, {bully.Coordinator, 2}}, election.Lead)
}

func TestAskedCoordinatorAnnouncesItselfToTheAskerOnly(t *testing.T) {
	p := newProcess(3, 3, map[string]string{"asked-coordinator": "tells"})
	expect(t, "it does not know that it is one", p.hears(bully.Election, 1),
		[]sent{{bully.Answer, 1}, {bully.Coordinator, 1}, {bully.Coordinator, 2}}, election.Lead)
	expect(t, "it is one", p.hears(bully.Election, 2), []sent{{bully.Answer, 2}, {bully.Coordinator, 2}})
	p = newProcess(3, 3, nil)
	p.step(p.Start)
	expect(t, "rule 4 as printed", p.hears(bully.Election, 2),
		[]sent{{bully.Answer, 2}, {bully.Coordinator, 1}, {bully.Coordinator, 2}}, election.Lead)
}

// Timeouts of any length fit into a process's clock, or are refused.
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
	for name, bad := range map[string]string{ // to the engines a delay is a number of 64 bits
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
