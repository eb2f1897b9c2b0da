package quorumbully

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type algorithm = election.Algorithm[Process, Message]

// receiving is the algorithm with something done before each message; false: the message is dealt with.
func receiving(a *algorithm, before func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool) {
	a.Receive = func(p *Process, port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
		if before(p, election.From(port), kind, &m, out) {
			p.Receive(port, kind, m, out)
		}
	}
}

// led is a run in which 3 leads, since it is the highest, in time for the faults.
func led(seed uint64, lines ...string) simulate.Options {
	o := simulate.Options{Seed: seed, Delay: 2, Until: election.Units(300), Limit: 100_000}
	o.Setup = network.Setup{IDs: members(3), Parameters: map[string]string{"rho": "0", "lease": "40", "renewal": "15", "delay": "2"}}
	reader := faults.NewReader(o.Setup.IDs)
	for _, line := range lines {
		if err := reader.Line(line); err != nil {
			panic(err)
		}
	}
	o.Faults = reader.Script
	return o
}

// halfCut leaves the leader one member, whose answers are slow, and at some time no request reaches that one any more.
func halfCut(seed uint64) simulate.Options {
	cut := 39 + seed%12
	return led(seed, "partition 1 | 3 from 30 until 300", fmt.Sprintf("slow 2 by 8 from 34 until %d", cut), fmt.Sprintf("cut 3 -> 2 from %d until 300", cut))
}

// reminded is halfCut with a leader that repeats its newest request each unit of time.
func reminded(seed uint64) simulate.Options {
	o := halfCut(seed)
	for at := uint64(30); at < 100; at++ {
		o.Commands = append(o.Commands, reminders(3, at)...)
	}
	return o
}

// backAtOnce lets the leader crash and recover after it has offered the lead to 2, which has a higher weight: so 2 asks it
// while its promise to the earlier life binds it. The leader has lost 1 before, which is free by then.
func backAtOnce(seed uint64) simulate.Options {
	at := 80 + seed%20
	o := led(seed, "pause 2 from 0 until 25", "partition 1 | 3 from 30 until 300", fmt.Sprintf("crash 3 at %d", at), fmt.Sprintf("recover 3 at %d", at+1))
	o.Setup.Priorities = []uint16{1, 2, 1}
	for name, value := range map[string]string{"lease": "60", "preemption": "yes", "preempt-delay": "78"} {
		o.Setup.Parameters[name] = value
	}
	return o
}

// handsBack lets the leader crash, and lead again before the others are told once more that it had died.
func handsBack(seed uint64) simulate.Options {
	o := led(seed, "crash 3 at 40", "recover 3 at 41", "pause 3 from 80 until 130")
	o.Delay, o.Wardens = 4, true
	o.Setup.Parameters["delay"] = "4"
	o.Setup.Parameters["lease"] = "60"
	o.Setup.Parameters["renewal"] = "16"
	for at := uint64(45); at < 75; at += 3 {
		o.Commands = append(o.Commands, simulate.Command{
			Process: 1, At: election.Units(at), Command: election.Command{Order: election.Transfer, Member: 3},
		})
	}
	for p := range 2 {
		o.Commands = append(o.Commands, simulate.Command{
			Process: p, At: election.Units(80 + seed%20), Command: election.Command{Order: election.Died, Member: 3, Number: 1},
		})
	}
	return o
}

// mutants break a rule of safety each: the rows of the specification's section 2. Of these, 4, 11 and 12 and the second
// half of 9 are about hosts: a clock that is read too early, two processes with one identifier, a clock that stands still
// in suspension, and a proof of death that comes before the work is dead.
var mutants = []struct {
	name   string
	row    int
	faults string // one of the complaints
	mutate func(*algorithm)
	runs   func(seed uint64) simulate.Options // where it shows; nil: harsh
	check  *budget                            // with which the checker finds it, too; nil: not within four million states
}{
	{"a term is granted again when its grant has run out", 1, "has led in term", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			if kind == Claim && m.Request.Term == p.Kept.Promise && p.Given.Holder == 0 {
				p.Kept.Promise--
			}
			return true
		})
	}, nil, &budget{terms: 1, lazy: true, property: verify.TwoInTerm}},
	{"a candidate's own grant obeys no rule", 2, "while the lease", func(a *algorithm) {
		a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
			if timer == StageEnd && p.Role == Follower {
				p.Given = Given{}
			}
			p.Timeout(timer, out)
		}
	}, nil, &budget{delay: 2, terms: 3, large: true}},
	{"an answer counts from the newest request", 3, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Grant {
				m.Request.Number = p.Number
			}
			return true
		})
	}, halfCut, nil},
	{"an answer counts from when it arrives", 3, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			if kind == Grant && p.mine(&m.Request) {
				p.Sent[m.Request.Number%requests] = out.Deadline(election.Units(p.Settings.Entitled))
			}
			return true
		})
	}, halfCut, &budget{terms: 2, lazy: true, large: true}},
	{"an answer counts from when its request was repeated", 3, "while the lease", func(a *algorithm) {
		a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
			if c.Order == election.Confirm && c.Member != 0 && p.leads() && !out.Passed(p.deadline()) {
				p.Sent[p.Number%requests] = out.Deadline(election.Units(p.Settings.Entitled))
			}
			p.Command(c, out)
		}
	}, reminded, nil},
	{"a restarted member waits for a shorter lease than it promised", 5, "while the lease", func(a *algorithm) {
		a.Recover = func(p *Process, out *election.Out[Message]) {
			p.Kept.Longest /= 2
			p.Recover(out)
		}
	}, nil, &budget{crashes: 1, recoveries: 1, terms: 3, large: true}},
	{"a restarted member does not wait", 5, "while the lease", func(a *algorithm) {
		a.Recover = func(p *Process, out *election.Out[Message]) {
			longest := p.Kept.Longest
			p.Kept.Longest = 0
			p.Recover(out)
			p.Kept.Longest = max(longest, p.Kept.Longest)
		}
	}, nil, &budget{crashes: 1, recoveries: 1, terms: 2}},
	{"a lapse is not for good", 7, "whose lease had ended", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			if kind == Grant && p.Role == Leader && out.Passed(p.deadline()) {
				p.granted(x, m, out)
				return false
			}
			return true
		})
		a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
			if timer == Lapse && p.Role == Leader {
				return
			}
			p.Timeout(timer, out)
		}
	}, nil, &budget{delay: 3, terms: 1, lease: 4, property: verify.Revived}},
	{"a claim given up counts late grants", 8, "while the lease", func(a *algorithm) {
		a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
			if timer == StageEnd && p.Stage == Claiming {
				p.release(p.Term, 0, out)
				p.Stage = Pausing
				return
			}
			p.Timeout(timer, out)
		}
	}, nil, &budget{delay: 2, terms: 3}},
	{"a release voids every grant to its sender", 8, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, _ *Message, out *election.Out[Message]) bool {
			if kind == Release && p.Given.Holder == x {
				p.unbind(out)
			}
			return true
		})
	}, nil, &budget{delay: 1, terms: 3, unordered: true}},
	{"a new incarnation is proof that the old one's work is dead", 9, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, _ election.Kind, m *Message, out *election.Out[Message]) bool {
			if p.Given.Holder == x && p.Given.Incarnation < m.Sender.Incarnation {
				p.unbind(out)
				p.rest(out)
			}
			return true
		})
	}, backAtOnce, nil},
	{"a proof of death names no incarnation", 9, "while the lease", func(a *algorithm) {
		a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
			if c.Order == election.Died && p.Given.Holder == c.Member {
				p.unbind(out)
			}
			p.Command(c, out)
		}
	}, handsBack, &budget{crashes: 1, recoveries: 1, terms: 2, wardens: true, large: true}},
	{"a promise does not survive a crash", 10, "has led in term", func(a *algorithm) {
		a.Recover = func(p *Process, out *election.Out[Message]) {
			p.Kept = Kept{Incarnation: p.Kept.Incarnation}
			p.Recover(out)
		}
	}, nil, &budget{crashes: 1, recoveries: 1, terms: 2}},
	{"a renewal of a lower term takes the place of a higher grant", 20, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Renew {
				p.F, p.Given.Term = 0, min(p.Given.Term, m.Request.Term)
			}
			return true
		})
	}, nil, &budget{delay: 2, terms: 2, lease: 3, unordered: true, property: verify.WrongTerm}},
	{"work is released before it has stopped", 0, "while the lease", func(a *algorithm) {
		a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
			p.Command(c, out)
			if c.Order == election.Resign && p.Role == Stopping {
				p.release(p.Term, 0, out)
			}
		}
	}, nil, &budget{commands: 1, terms: 3}},
	{"a suspicion voids a grant", 6, "while the lease", func(a *algorithm) {
		a.Suspect = func(p *Process, port election.Port, out *election.Out[Message]) {
			if p.Given.Holder == election.From(port) {
				p.unbind(out)
			}
			p.Suspect(port, out)
		}
	}, nil, &budget{crashes: 1, terms: 3}},
}

func TestTheSimulatorCatchesEachMutant(t *testing.T) {
	for _, mutant := range mutants {
		t.Run(mutant.name, func(t *testing.T) {
			runs := mutant.runs
			if runs == nil {
				runs = harsh
			}
			t.Logf("row %d", mutant.row)
			mustCatch(t, mutant.mutate, from(rarest[mutant.name], runs), 3000)
		})
	}
}

// rarest are seeds of runs that show the rarest errors. A search begins there, and takes the other seeds as well where scripts have changed.
var rarest = map[string]uint64{
	"a term is granted again when its grant has run out":            2230,
	"a renewal of a lower term takes the place of a higher grant":   943,
	"a restarted member waits for a shorter lease than it promised": 106,
}

// from is runs whose first seed is another one.
func from(first uint64, runs func(seed uint64) simulate.Options) func(seed uint64) simulate.Options {
	return func(seed uint64) simulate.Options { return runs(first + seed) }
}

// mustCatch looks for a run in which a mutant breaks a property. The same run of the algorithm itself breaks none.
func mustCatch(t *testing.T, mutate func(*algorithm), runs func(seed uint64) simulate.Options, most uint64) {
	t.Helper()
	a := Algorithm
	mutate(&a)
	for seed := range most {
		r := electiontest.Run(t, a, runs(seed))
		if len(r.Faults) == 0 {
			continue
		}
		t.Logf("seed %d: %s", seed, strings.Join(r.Faults, "; "))
		if whole, err := simulate.Must(simulate.OfSmall(&Algorithm)).Run(runs(seed)); err != nil || len(whole.Faults) > 0 {
			t.Errorf("with all rules %v, %v", whole.Faults, err)
		}
		return
	}
	t.Errorf("not found in %d runs", most)
}

// Row 6: ρ is too small for the clocks. The leader's is slow and those of the others are fast, by 5 % each.
func TestALeaseThatClocksOutrunMakesTwoLeaders(t *testing.T) {
	for rho, holds := range map[string]bool{"0": false, "1/20": false, "1/10": true} {
		o := led(1, "drift 3 by 19/20", "drift 1,2 by 21/20", "partition 3 | 1,2 from 50")
		o.Setup.Parameters["rho"], o.Setup.Parameters["lease"], o.Until = rho, "400", election.Units(1000)
		r := electiontest.Run(t, Algorithm, o)
		if (len(r.Faults) == 0) != holds || r.Decisions[1].Term < 2 {
			t.Errorf("rho %s: %v, %v", rho, r.Faults, r.Decisions)
		}
	}
}

// budget limits what may happen in a check.
type budget struct {
	crashes, recoveries, commands, delay, terms int
	cuts, suspicions, losses, duplicates        int
	lease                                       int // 0: 6 units
	lazy, wardens, unordered                    bool
	large                                       bool   // with -long only, or to its first states
	property                                    string // the one that a mutant violates; empty: verify.TwoLeases
}

// few are members, of which the first is a witness, without the Bully stage and with few claims and renewals: so the checker
// comes to an end, and a member wins though all claim at once.
func (b budget) few() verify.Options {
	o := verify.Options{
		Crashes: b.crashes, Recoveries: b.recoveries, Commands: b.commands, Delay: b.delay, SafetyOnly: true,
		Cuts: b.cuts, Suspicions: b.suspicions, Losses: b.losses, Duplicates: b.duplicates,
		Lazy: b.lazy, Wardens: b.wardens, Unordered: b.unordered,
	}
	lease, renewal, claim := cmp.Or(b.lease, 6), "2", "2"
	if lease < 4 {
		renewal = "1"
	}
	if b.lazy {
		lease, renewal, claim = 2, "1", "1"
	}
	o.Setup = network.Setup{IDs: members(3), Priorities: []uint16{0, 1, 1}, Parameters: map[string]string{
		"terms": fmt.Sprint(b.terms), "renewals": "1", "lease": fmt.Sprint(lease), "rho": "0", "renewal": renewal,
		"answer-timeout": "1", "deferral": "1", "claim-timeout": claim, "asking": "no",
	}}
	return o
}

func TestTheCheckerCatchesMutants(t *testing.T) {
	for _, mutant := range mutants {
		if mutant.check == nil {
			continue
		}
		t.Run(mutant.name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("it only computes")
			}
			if mutant.check.large && !*long {
				t.Skip("-long: it computes hundreds of thousands of states, and other tests find this mutant in a run")
			}
			a := Algorithm
			mutant.mutate(&a)
			r, err := verify.Run(a, mutant.check.few())
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation == nil || r.Violation.Property != cmp.Or(mutant.check.property, verify.TwoLeases) {
				t.Fatalf("%+v in %d states", r.Violation, r.States)
			}
			t.Logf("%s; %d states, %d deep", r.Violation.Detail, r.States, r.Depth)
		})
	}
}

// Row 6, in lazy time: the timers of fast clocks run out before the lease of a slow one.
func TestTheCheckerFindsTheClocksThatALeaseNeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for rho, holds := range map[string]bool{"0": false, "1/2": true} {
		o := budget{terms: 2, lazy: true}.few()
		o.ClockError = faults.Chance{Times: 1, Of: 5}
		for parameter, value := range map[string]string{"lease": "6", "renewal": "3", "claim-timeout": "3", "rho": rho} {
			o.Setup.Parameters[parameter] = value
		}
		o.MaxStates = 500_000 // more than the violation needs
		r, err := verify.Run(Algorithm, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("rho %s: %d states", rho, r.States)
		if (r.Violation == nil) != holds || !holds && r.Violation.Property != verify.TwoLeases {
			t.Errorf("rho %s: %+v in %d states", rho, r.Violation, r.States)
		}
	}
}

func TestEveryScheduleOfFewClaimsIsSafe(t *testing.T) {
	for _, b := range []budget{
		{crashes: 1, recoveries: 1, terms: 2},
		{crashes: 1, commands: 1, terms: 2, large: true},
		{commands: 1, terms: 3},
		{delay: 2, terms: 2, large: true},
		{terms: 1, lazy: true, large: true},
		{crashes: 1, recoveries: 1, terms: 2, wardens: true, large: true},
	} {
		o := b.few()
		if b.large && !*long {
			o.MaxStates = 20_000
		}
		r, err := verify.Run(Algorithm, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil || !r.Complete && o.MaxStates == 0 {
			t.Errorf("%+v: %+v in %d states", b, r.Violation, r.States)
		}
		t.Logf("%+v: %d states, %d transitions; vacuous %v", b, r.States, r.Transitions, r.Vacuous())
	}
}

// What the checker finds nothing wrong with does happen in its model: each of these is found as if it were a violation.
func TestTheModelIsNotVacuous(t *testing.T) {
	for name, c := range map[string]struct {
		budget
		seen func(before, after *Process) bool
	}{
		"a member leads":                      {budget{terms: 2}, func(_, after *Process) bool { return after.Role == Leader }},
		"a lease lapses":                      {budget{terms: 2}, func(before, after *Process) bool { return before.leads() && after.Work != 0 && after.Role == Follower }},
		"a member leads after another one":    {budget{terms: 3}, func(_, after *Process) bool { return after.Role == Leader && after.Term == 3 }},
		"a tenure ends in good order":         {budget{commands: 1, terms: 2}, func(before, after *Process) bool { return before.Role == Stopping && after.Work == 0 }},
		"a restarted member grants a renewal": {budget{crashes: 1, recoveries: 1, terms: 2}, func(before, after *Process) bool { return before.Restarted && after.following() }},
		"a restarted member waits in full": {budget{crashes: 1, recoveries: 1, terms: 2}, func(before, after *Process) bool {
			return before.Restarted && !after.Restarted && after.Given.Holder == 0
		}},
		"a claim is given up": {budget{terms: 2}, func(before, after *Process) bool { return before.Role == Candidate && after.Role == Follower }},
	} {
		a := Algorithm
		look := func(p *Process, step func()) {
			before := *p
			if step(); c.seen(&before, p) {
				panic(name)
			}
		}
		a.Receive = func(p *Process, port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
			look(p, func() { p.Receive(port, kind, m, out) })
		}
		a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
			look(p, func() { p.Timeout(timer, out) })
		}
		a.Command = func(p *Process, command election.Command, out *election.Out[Message]) {
			look(p, func() { p.Command(command, out) })
		}
		r, err := verify.Run(a, c.few())
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation == nil || r.Violation.Property != verify.Panicked {
			t.Errorf("%s: never in %d states", name, r.States)
		}
	}
}
