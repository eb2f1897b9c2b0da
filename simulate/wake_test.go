package simulate_test

import (
	"errors"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// at returns times to wake; a negative one is never.
func at(times ...int) []election.Ticks {
	wake := make([]election.Ticks, len(times))
	for p, t := range times {
		wake[p] = election.Forever
		if t >= 0 {
			wake[p] = election.Units(uint64(t))
		}
	}
	return wake
}

// alarm has two timers, of which the first outlasts all time, and sends a message to all on every wake-up.
func alarm(first election.Ticks) election.Algorithm[bool, struct{}] {
	awake := func(s *bool, out *election.Out[struct{}]) {
		if !*s {
			*s = true
			out.Send(0, 0, struct{}{})
			out.After(0, first)
			out.After(1, election.Units(1))
		}
	}
	return election.Algorithm[bool, struct{}]{
		Declaration: election.Declaration{
			Name: "alarm", OneWay: true, Timing: election.Synchronous, Decides: election.LeaderOnly,
			Kinds: []election.MessageKind{{Name: "awake"}}, Timers: []string{"never", "soon"},
		},
		New:   func(election.Local) bool { return false },
		Start: awake,
		Receive: func(s *bool, _ election.Port, _ election.Kind, _ struct{}, out *election.Out[struct{}]) {
			awake(s, out)
		},
		Timeout: func(*bool, election.Timer, *election.Out[struct{}]) {},
	}
}

func TestProcessesWakeAtTheirTimesMessagesFirstAndTimersLast(t *testing.T) {
	a := alarm(election.Units(9))
	// 0 wakes at 2, and its message reaches 1 when that wakes too; 2 wakes only by 1's message; 3 woke long before.
	r := run(t, small(a), simulate.Options{Setup: network.On(4, 3, 2, 1), Wake: at(2, 3, -1, 0), Record: true})
	type step struct {
		time    uint64
		process int
		event   trace.Event
	}
	var got []step
	for _, s := range r.Record.Steps {
		got = append(got, step{s.Time.Lo, s.Process, s.Event})
	}
	want := []step{
		{0, 3, trace.Start},
		{1, 0, trace.Receive},
		{1, 3, trace.Timeout},
		{2, 1, trace.Receive},
		{2, 0, trace.Start},
		{2, 0, trace.Timeout},
		{3, 2, trace.Receive},
		{3, 1, trace.Start},
		{3, 1, trace.Timeout},
		{4, 3, trace.Receive},
		{4, 2, trace.Timeout},
		{9, 3, trace.Timeout},
		{10, 0, trace.Timeout},
		{11, 1, trace.Timeout},
		{12, 2, trace.Timeout},
	}
	if !slices.Equal(got, want) || r.Starters != 3 {
		t.Errorf("%d start: %v, want %v", r.Starters, got, want)
	}
}

func TestLargeRingsWakeAsSmallOnesDo(t *testing.T) {
	ids, wake := make(election.List, 5000), slices.Repeat([]election.Ticks{election.Forever}, 5000)
	for p := range ids {
		ids[p] = uint64(p + 1)
	}
	wake[4999], wake[17] = election.Units(70), election.Power(100)
	r := run(t, lcr.Program, simulate.Options{Setup: network.Setup{IDs: ids}, Timing: election.Synchronous, Wake: wake})
	if want := election.Units(70 + 2*5000); r.Time.Quiet != want || r.Starters != 2 || !r.Right {
		t.Errorf("%d start, quiet at %s, want 2 and %s", r.Starters, r.Time.Quiet, want)
	}
}

func TestTimesToWakeThatCannotBe(t *testing.T) {
	together := alarm(election.Units(9))
	together.Starts = election.Together
	for _, c := range []struct {
		a    election.Algorithm[bool, struct{}]
		o    simulate.Options
		says string
	}{
		{alarm(election.Units(9)), simulate.Options{Wake: at(0, 1)}, "each position has a time to wake, or never wakes by itself; 3 have 3, not 2"},
		{alarm(election.Units(9)), simulate.Options{Wake: at()}, "each position has a time to wake, or never wakes by itself; 3 have 3, not 0"},
		{alarm(election.Units(9)), simulate.Options{Wake: at(-1, -1, -1)}, "no process wakes spontaneously; at least one must"},
		{alarm(election.Units(9)), simulate.Options{Wake: at(0, 0, 0), Initiators: []int{1}}, "wake times set which process initiates and when; leave out initiators and any time"},
		{alarm(election.Units(9)), simulate.Options{Wake: at(0, 0, 0), AnyTime: true}, "wake times set which process initiates and when; leave out initiators and any time"},
		{alarm(election.Units(9)), simulate.Options{Wake: at(0, -1, 0), Faults: faults.Script{Dead: []int{2}}}, "process 3 is dead and cannot start"},
		{together, simulate.Options{Wake: at(0, 1, 0)}, "all processes initiate at time 0; none wakes at another time"},
		{together, simulate.Options{Wake: at(0, -1, 0)}, "all processes initiate at time 0; none can be left out"},
	} {
		c.o.Setup = network.On(1, 2, 3)
		_, err := simulate.New(small(c.a)).Run(c.o)
		if want := "cannot simulate alarm: " + c.says; !errors.Is(err, simulate.ErrOptions) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	o := simulate.Options{Setup: network.On(1, 2, 3), Wake: at(0, 0, 0)}
	if _, err := simulate.New(lcr.Program).Run(o); !errors.Is(err, simulate.ErrOptions) {
		t.Errorf("an asynchronous run with times to wake: %v", err)
	}
}

func TestATimerForEverCostsNothingUnlessTheElectionDependsOnIt(t *testing.T) {
	for _, forever := range []election.Ticks{election.Forever, {Hi: election.Forever.Hi, Lo: election.Forever.Lo - 3}} {
		lead := func(lead bool) (*simulate.Result, error) {
			a := alarm(forever)
			a.Timeout = func(_ *bool, timer election.Timer, out *election.Out[struct{}]) {
				if timer == 1 && lead {
					out.Lead(0)
				}
			}
			o := simulate.Options{Setup: network.On(7), Wake: at(5)}
			if timesOut := !lead; timesOut {
				o.Until = election.Units(8)
				if r, err := simulate.New(small(a)).Run(o); err != nil || r.Agreed {
					t.Errorf("a run that ends before all time: %v", err)
				}
				o.Until = election.Ticks{}
			}
			return simulate.New(small(a)).Run(o)
		}
		if r, err := lead(true); err != nil || !r.Right || r.Time.Quiet != election.Units(6) {
			t.Errorf("waiting %s: %v", forever, err)
		}
		if _, err := lead(false); !errors.Is(err, election.ErrTime) {
			t.Errorf("an election that ends after %s units: %v", forever, err)
		}
	}
}

func TestUnwillingProcessesDoNotBegin(t *testing.T) {
	a := alarm(election.Units(9))
	a.Willingness = true
	o := simulate.Options{Setup: network.On(4, 3, 2, 1), Record: true}
	o.Setup.Unwilling = []int{0, 2}
	r, err := simulate.New(small(a)).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	var start []int
	for _, s := range r.Record.Steps {
		if s.Event == trace.Start {
			start = append(start, s.Process)
		}
	}
	if !slices.Equal(start, []int{1, 3}) || r.Starters != 2 {
		t.Errorf("%d start: %v", r.Starters, start)
	}
	o.Faults.Dead = []int{1, 3}
	if _, err := simulate.New(small(a)).Run(o); !errors.Is(err, simulate.ErrOptions) {
		t.Errorf("no live process is willing: %v", err)
	}
}
