package simulate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// hand is the state of a process that does as it is told.
type hand struct {
	ID    election.ID
	Lives uint64 // kept
}

// hands lead for 20 units from the beginning of each life, at 1, 11, 21, … and stop their work when they are told to resign.
var hands = election.Algorithm[hand, struct{}]{
	Declaration: election.Declaration{
		Name: "hands", Topology: election.Complete, Timing: election.Timed, Task: election.Service, Leased: true,
		Survives: election.Crash | election.Recovery, Kinds: []election.MessageKind{{Name: "none"}}, Timers: []string{"turn"},
	},
	New:     func(l election.Local) hand { return hand{ID: l.ID} },
	Start:   (*hand).begin,
	Recover: (*hand).begin,
	Receive: func(*hand, election.Port, election.Kind, struct{}, *election.Out[struct{}]) {},
	Timeout: func(h *hand, _ election.Timer, out *election.Out[struct{}]) {
		out.LeadUntil(out.Deadline(election.Units(20)), election.Term(10*h.Lives+uint64(h.ID)))
	},
	Command: func(_ *hand, c election.Command, out *election.Out[struct{}]) {
		switch c.Order {
		case election.Resign:
			out.StopWork()
		case election.Stopped:
			out.NoLeader()
		}
	},
	Durable:     func(h *hand) any { return &h.Lives },
	Incarnation: func(h *hand) uint64 { return h.Lives },
}

func (h *hand) begin(out *election.Out[struct{}]) {
	h.Lives++
	out.After(0, election.Units(10*uint64(h.ID)-9))
}

func commanded(t *testing.T, o simulate.Options, lines ...string) *simulate.Result {
	t.Helper()
	o.Setup, o.Delay, o.Record, o.Faults = numbered(2), 1, true, scripted(t, 2, lines...)
	r, err := simulate.New(small(hands)).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Process 2 leads from 11 on: before 1 has stopped, or after.
func TestAHostReportsWhenWorkHasStoppedAndUntilThenItsLeaseCounts(t *testing.T) {
	resign := []simulate.Command{{Process: 0, At: election.Units(5)}}
	r := commanded(t, simulate.Options{Commands: resign})
	same(t, "1, which stops at once", steps(r, 1, trace.Command), "5 command: resign", "5 command: note that its work has stopped")
	if len(r.Faults) > 0 {
		t.Error(r.Faults)
	}
	late := 0
	for seed := range uint64(40) {
		r := commanded(t, simulate.Options{Commands: resign, StopTime: 10, Seed: seed})
		stopped := steps(r, 1, trace.Command)[1]
		if !strings.HasSuffix(stopped, "stopped") || (len(r.Faults) > 0) != slices.Contains([]string{"11", "12", "13", "14", "15"}, strings.Fields(stopped)[0]) {
			t.Errorf("seed %d: %s, %v", seed, stopped, r.Faults)
		}
		if len(r.Faults) > 0 {
			late++
		}
	}
	if late == 0 || late == 40 {
		t.Errorf("%d of 40 stopped late", late)
	}
	r = commanded(t, simulate.Options{Commands: resign, StopTime: 3}, "crash 1 at 5", "recover 1 at 6")
	same(t, "1, of which that life has ended", steps(r, 1, trace.Command))
}

func TestWardensProveTheDeathOfOneLifeToAllOthers(t *testing.T) {
	r := commanded(t, simulate.Options{Wardens: true}, "crash 1 at 3", "recover 1 at 40", "crash 1 at 60")
	told := steps(r, 2, trace.Command)
	if len(told) != 4 || told[0] != "4 command: note that 1 is dead, incarnation 1" || told[2] != "61 command: note that 1 is dead, incarnation 2" {
		t.Errorf("%q", told)
	}
	same(t, "1, which is dead", steps(r, 1, trace.Command))
	if len(r.Faults) > 0 {
		t.Error(r.Faults) // what is proven dead works no more
	}
	if r := commanded(t, simulate.Options{}, "crash 1 at 3"); len(r.Faults) == 0 {
		t.Error("without a proof, its lease runs")
	}
}

// Terms rise, and one is led in by one life.
func TestATermIsNotLedInAgain(t *testing.T) {
	a := hands
	a.Timeout = func(h *hand, _ election.Timer, out *election.Out[struct{}]) {
		out.LeadUntil(out.Deadline(election.Units(2)), 5)
		out.After(0, election.Units(uint64(h.ID)))
	}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"dead 2"}, ""}, // renewed each unit
		{[]string{"dead 1"}, "process 2 leads in term 5 again, whose lease had ended"},
		{[]string{"dead 2", "crash 1 at 3", "recover 1 at 20"}, "process 1 leads in term 5 again, whose lease had ended"},
	} {
		r, err := simulate.New(small(a)).Run(simulate.Options{Setup: numbered(2), Delay: 1, Faults: scripted(t, 2, c.lines...), Until: election.Units(40)})
		if err != nil || strings.Join(r.Faults[:min(1, len(r.Faults))], "") != c.want {
			t.Errorf("%v: %v, %v; want %s", c.lines, r.Faults, err, c.want)
		}
	}
}

func TestCommandsThatNoProcessObeysAreRefused(t *testing.T) {
	deaf := hands
	deaf.Command, deaf.Incarnation = nil, nil
	resign := []simulate.Command{{Process: 0, At: election.Units(5)}}
	for _, c := range []struct {
		a election.Algorithm[hand, struct{}]
		o simulate.Options
	}{
		{deaf, simulate.Options{Commands: resign}},
		{deaf, simulate.Options{Wardens: true}},
		{hands, simulate.Options{Commands: []simulate.Command{{Process: 2, At: election.Units(5)}}}},
	} {
		c.o.Setup = numbered(2)
		if _, err := simulate.New(small(c.a)).Run(c.o); !errors.Is(err, simulate.ErrOptions) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}
