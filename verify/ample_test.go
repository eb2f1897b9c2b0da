package verify

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/preference"
	"ringleader.example/ringleader/network"
)

// agreeing compares a reduction with the whole search, which must find a violation.
func agreeing(t *testing.T, name string, a election.Algorithm[scripted, line], o Options, property string) {
	t.Helper()
	whole, err := Run(a, o)
	if err != nil || whole.Violation == nil || whole.Violation.Property != property {
		t.Fatalf("%s: %+v, %v", name, whole, err)
	}
	o.Reduce = PartialOrder
	if r, err := Run(a, o); err != nil || essence(t, r) != essence(t, whole) {
		t.Errorf("%s: %+v, %v; the whole search finds %s", name, r, err, essence(t, whole))
	}
}

// Each of these has a violation that is lost if the events of process 1 come first too soon.
func TestNoEventComesFirstWhereAnotherProcessCanInterfere(t *testing.T) {
	const (
		suspected = 1 << 13
		early     = 1 << 14
		again     = 1 << 15 // in a later life
	)
	for name, test := range map[string]struct {
		o       Options
		durable bool // what a process has received
		does    script
		suspect func(p *scripted, port election.Port, out *election.Out[line])
	}{
		"a message before a start": {o: Options{Starts: AnyTime}, does: func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			if p.ID == 1 && m > 0 && p.Seen == 0 {
				panic("before the start")
			}
			p.Seen |= 1 << m
		}},
		// Process 1 suspects process 3 before it receives 1, which is under way when process 3 answers 3 and then crashes.
		"a crash gives a suspicion": {o: Options{Crashes: 1}, does: func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			switch {
			case p.ID == 2 && m == 0:
				to(1, 1)
				to(3, 3)
			case p.ID == 3 && m == 3:
				to(2, 4)
			case p.ID == 2 && m == 4:
				to(1, 2)
			case p.ID == 1 && m == 2 && p.Seen&early != 0:
				panic("suspected too early")
			}
			p.Seen |= 1 << m
		}, suspect: func(p *scripted, port election.Port, _ *election.Out[line]) {
			if p.ID == 1 && port == 1 && p.Seen&(1<<1) == 0 { // process 3
				p.Seen |= early
			}
		}},
		// Process 3 suspects process 1, which then recovers, and receives 1.
		"a recovery takes a suspicion": {o: Options{Crashes: 1, Recoveries: 1}, does: func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			switch {
			case p.ID == 2 && m == 0:
				to(1, 1)
			case p.ID == 1 && m == 1:
				to(3, 2)
			case p.ID == 3 && m == 2 && p.Seen&suspected != 0:
				panic("suspected before")
			}
		}, suspect: func(p *scripted, port election.Port, _ *election.Out[line]) {
			if p.ID == 3 && port == 0 { // process 1
				p.Seen |= suspected
			}
		}},
		// Process 1 has crashed, and loses 2 and 5, which is sent when 2 is lost. It recovers, and receives 6 and then 1.
		"a process that will recover gets a message": {o: Options{Crashes: 1, Recoveries: 1}, durable: true, does: func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			switch {
			case p.ID == 2 && m == 0:
				to(3, 3)
				to(3, 4)
			case p.ID == 3 && (m == 3 || m == 4 && p.Seen&(1<<3) != 0):
				to(1, m+2)
			case p.ID == 1 && m == 1 && p.Seen&^again == 1<<0|1<<6:
				panic("without 2 and 5")
			}
			p.Seen |= 1 << m
		}},
		// Process 3 receives 3, crashes, recovers, receives 4 and sends 5, all before process 1 receives 1.
		"a process that will recover sends a message": {o: Options{Crashes: 1, Recoveries: 1}, durable: true, does: func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			switch {
			case p.ID == 2 && m == 0:
				to(1, 1)
				to(3, 3)
				to(3, 4)
			case p.ID == 3 && m == 3 && p.Seen&again != 0:
				return
			case p.ID == 3 && m == 4 && p.Seen&again != 0 && p.Seen&(1<<3) != 0:
				to(1, 5)
			case p.ID == 1 && m == 1 && p.Seen&(1<<5) != 0:
				panic("after 5")
			}
			p.Seen |= 1 << m
		}},
	} {
		a := scripting(false, test.does)
		if a.Suspect = test.suspect; test.o.Recoveries > 0 {
			a.Recover = func(p *scripted, _ *election.Out[line]) { p.Seen |= again }
			a.Durable = func(p *scripted) any { return &p.ID }
		}
		if test.durable {
			a.Durable = func(p *scripted) any { return &p.Seen }
		}
		test.o.Setup, test.o.SafetyOnly = network.On(1, 2, 3), true
		agreeing(t, name, a, test.o, Panicked)
	}
}

// Process 1 receives 2 and 3 in some order, and process 3 flips a coin when both are under way. The election goes on if the
// coin shows the order. A schedule that waits for the coin makes it go on for ever; one that orders the two messages before
// does so with probability 0.
func TestWithACycleOnlyASingleMessageComesFirst(t *testing.T) {
	const second = 1 << 8 // 3 came before 2
	pennies := scripting(false, func(p *scripted, m uint8, to func(election.ID, uint8), out *election.Out[line]) {
		switch p.ID {
		case 1:
			if m == 3 && p.Seen&(1<<2) == 0 {
				p.Seen |= second
			}
			if p.Seen |= 1 << m &^ 1; m == 0 || p.Seen == 1<<2|1<<3|1<<6 || p.Seen == 1<<2|1<<3|1<<7|second {
				p.Seen = 0
				to(2, 1)
				to(3, 1)
			}
		case 2: // when process 3 has sent 3, so that it sends 4, and when 2 is sent
			if m == 1 {
				to(1, 2)
			}
			if p.Seen |= 1 << m &^ 1; p.Seen == 1<<1|1<<4 {
				p.Seen = 0
				to(3, 5)
			}
		case 3:
			switch m {
			case 1:
				to(1, 3)
				to(2, 4)
			case 5:
				to(1, 6+uint8(out.Choose(2)))
			}
		}
	})
	agreeing(t, "pennies", pennies, Options{Setup: network.On(1, 2, 3)}, NeverEnds)
}

// In a cycle that chance leaves, messages have no bound.
func TestPartialOrderFindsABrokenBoundInACycle(t *testing.T) {
	a := coins(2)
	a.Bounds = []election.Bound{{Of: "election", Case: election.Worst, Formula: "4", Value: func(uint64) uint64 { return 4 }}}
	for _, reduce := range []Reduction{NoReduction, PartialOrder} {
		r, err := Run(a, Options{Setup: network.Setup{IDs: make(election.List, 2)}, Reduce: reduce})
		if err != nil || r.Violation == nil || r.Violation.Property != BoundBroken {
			t.Errorf("%s: %+v, %v", reduce, r, err)
		}
	}
}

// A reduced search that reaches its limit ends there: more passes would reach it as well.
func TestAReducedSearchEndsAtItsLimit(t *testing.T) {
	cyclic := scripting(false, func(p *scripted, m uint8, to func(election.ID, uint8), out *election.Out[line]) {
		if p.Seen++; m == 0 || out.Choose(2) == 1 { // a message goes on with bad luck
			to(p.ID%3+1, 1)
			to((p.ID+1)%3+1, 1)
		}
	})
	for _, reduce := range []Reduction{AnyReduction, PartialOrder, Symmetry} {
		r, err := Run(cyclic, Options{Size: 3, Reduce: reduce, MaxStates: 500})
		if err != nil || r.Complete || r.Limit != StateLimit || r.States != 500 || (r.Partial == 1) != (reduce != Symmetry) || r.Symmetry != (reduce != PartialOrder) || r.MaxMessages != nil {
			t.Errorf("%s: %+v, %v", reduce, r, err)
		}
	}
}

// A process that has crashed for ever sends no more, and what arrives there is lost. So more events come first: where messages wait for the dead, only
// their loss, and where others wait for what the dead have not sent, only what they have.
func TestThoseThatHaveCrashedForEverWaitForNothingAndKeepNobodyWaiting(t *testing.T) {
	for _, test := range []struct {
		program *process.Program
		crashes int
		states  int
	}{
		{franklin.Program.Hidden(), 1, 1692},
		{preference.Program.Hidden(), 2, 436},
	} {
		r, err := Program(test.program, Options{Size: 3, Crashes: test.crashes, SafetyOnly: true, Reduce: PartialOrder})
		if err != nil || !r.Complete || r.Violation != nil || r.States != test.states {
			t.Errorf("%s: %+v, %v; want %d states", test.program.Name, r, err, test.states)
		}
	}
}
