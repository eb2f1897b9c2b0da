package simulate_test

import (
	"errors"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

func TestARunEndsWhenItIsAsked(t *testing.T) {
	o := simulate.Options{Setup: network.On(1, 2, 3, 4, 5), Initiators: []int{0}, Delay: 5, Seed: 3}
	whole := run(t, bully.Program, o)
	for until := uint64(1); until < 60; until++ {
		o.Until = election.Units(until)
		r := run(t, bully.Program, o)
		if !r.Complete || o.Until.Less(r.Time.Quiet) || o.Until.Less(r.Time.Decided) {
			t.Fatalf("until %d: complete %v, %+v", until, r.Complete, r.Time)
		}
		if late := !o.Until.Less(whole.Time.Quiet); late != (r.Deliveries == whole.Deliveries) {
			t.Errorf("until %d: %d deliveries; the whole run, until %s, has %d", until, r.Deliveries, whole.Time.Quiet, whole.Deliveries)
		}
	}
	ring := simulate.Options{Setup: network.On(1, 2, 3), Schedule: simulate.LIFO, Until: election.Units(2)}
	if _, err := simulate.New(lcr.Program).Run(ring); !errors.Is(err, simulate.ErrOptions) {
		t.Errorf("without a clock: %v", err)
	}
}

// pulse is a service that is never quiescent: a process leads in the next term at each tick of its timer.
func pulse(task election.Task) election.Algorithm[uint64, struct{}] {
	beat := func(term *uint64, out *election.Out[struct{}]) {
		*term++
		out.Lead(election.Term(*term))
		out.After(0, election.Units(10))
	}
	return election.Algorithm[uint64, struct{}]{
		Declaration: election.Declaration{
			Name: "pulse", Topology: election.Complete, Timing: election.Timed, Task: task, Survives: election.Recovery,
			Kinds: []election.MessageKind{{Name: "none"}}, Timers: []string{"beat"},
			Settles: func(n uint64, _ election.Parameters) election.Ticks { return election.Units(25 * n) },
		},
		New:     func(election.Local) uint64 { return 0 },
		Start:   beat,
		Receive: func(*uint64, election.Port, election.Kind, struct{}, *election.Out[struct{}]) {},
		Timeout: func(term *uint64, _ election.Timer, out *election.Out[struct{}]) { beat(term, out) },
		Recover: beat,
	}
}

func TestAServiceThatNeverRestsIsJudgedWhenItMustHaveSettled(t *testing.T) {
	o := simulate.Options{Setup: network.On(7)}
	if r := run(t, small(pulse(election.Service)), o); !r.Right || r.Time.Decided != election.Units(20) {
		t.Errorf("right %v, decided at %s", r.Right, r.Time.Decided)
	}
	o.Faults.Crashes = []faults.Crash{{At: election.Units(12)}}
	o.Faults.Recoveries = []faults.Recovery{{At: election.Units(33)}}
	if r := run(t, small(pulse(election.Service)), o); !r.Right || r.Time.Decided != election.Units(53) {
		t.Errorf("after a recovery at 33: right %v, decided at %s", r.Right, r.Time.Decided)
	}
}

func TestALeaderOfGroupsLeadsOnceInATerm(t *testing.T) {
	o := simulate.Options{Setup: network.On(7)}
	if r := run(t, small(pulse(election.Groups)), o); len(r.Faults) > 0 {
		t.Error(r.Faults)
	}
	o.Faults.Crashes = []faults.Crash{{At: election.Units(12)}}
	o.Faults.Recoveries = []faults.Recovery{{At: election.Units(33)}}
	want := []string{"process 7 leads in term 1 again", "process 7 leads in term 2 again"}
	r, err := simulate.New(small(pulse(election.Groups))).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Faults, want) || r.Right {
		t.Errorf("%q, right %v", r.Faults, r.Right)
	}
}
