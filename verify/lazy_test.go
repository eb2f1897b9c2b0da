package verify

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
)

// lessor leads for 20 units when it starts, and has a timer of 20 and one at its deadline.
func lessor(start func(*caller, calls)) election.Algorithm[caller, call] {
	a := calling(election.Timed, func(p *caller, out calls) {
		p.Until = out.Deadline(election.Units(20))
		out.LeadUntil(p.Until, election.Term(p.ID))
		out.After(0, election.Units(20))
		out.At(1, p.Until)
		start(p, out)
	})
	a.Task, a.Leased, a.Winner = election.Service, true, election.Unspecified
	return a
}

func TestInLazyTimeNothingIsUrgent(t *testing.T) {
	a := lessor(once)
	w := newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Lazy: true, ClockError: faults.Chance{Times: 1, Of: 10}}).then("1 starts")
	w.can("due 2 receives ring on 1, free 10 pass, free 1 hastens")
	w.then("10 pass").can("due 2 receives ring on 1, free 10 pass, free 1 hastens") // 9 left of the timer, 11 of the deadline
	w.then("10 pass").can("due 2 receives ring on 1, due 1 tick, free 10 pass, free 1 hastens")
	if p := w.c.Process(w.here, 0); left(p.Lease) != election.Units(2) || left(p.Timers[1]) != election.Units(2) || !strings.Contains(w.c.Values.StateText(p.State), "Until in 2") {
		t.Errorf("%+v, %s", p, w.c.Values.StateText(p.State))
	}
	late := w.back().then("10 pass")
	late.can("due 2 receives ring on 1, due 1 tick, due 1 tock") // and time changes nothing any more
	late.then("1 tock", "1 tick", "2 receives ring on 1").can("")
	if steps := late.recorded().Steps; steps[1].Time != election.Units(30) {
		t.Errorf("%+v", steps)
	}
	w.then("1 hastens").can("due 2 receives ring on 1, due 1 tick, due 1 tock")
	if step := w.recorded().Steps[1]; step.Text != "its deadlines come a step early" {
		t.Errorf("%+v", step)
	}
	early := newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Lazy: true}).then("1 starts", "1 hastens")
	if p := early.c.Process(early.here, 0); left(p.Lease) != election.Units(19) || left(p.Timers[0]) != election.Units(20) || left(p.Timers[1]) != election.Units(19) {
		t.Errorf("%+v", p)
	}
}

// The lease of a slow clock outlasts the timer of a fast one.
func TestLeasesAreComparedInTrueTime(t *testing.T) {
	for _, test := range []struct {
		wrong faults.Chance
		wait  uint64
		holds bool
	}{
		{faults.Chance{}, 20, true},
		{faults.Chance{}, 19, false},
		{faults.Chance{Times: 1, Of: 10}, 20, false},
		{faults.Chance{Times: 1, Of: 10}, 33, true}, // 20 units on a slow clock end after 3 steps, in which a fast one counts 33
		{faults.Chance{Times: 1, Of: 10}, 22, false},
	} {
		a := lessor(silent)
		a.Start = func(p *caller, out calls) {
			if p.ID == 1 {
				out.LeadUntil(out.Deadline(election.Units(20)), 1)
			} else {
				out.After(0, election.Units(test.wait))
			}
		}
		a.Timeout = func(_ *caller, _ election.Timer, out calls) { out.LeadUntil(out.Deadline(election.Units(20)), 2) }
		r, err := Run(a, Options{Size: 2, Lazy: true, ClockError: test.wrong})
		if err != nil || (r.Violation == nil) != test.holds {
			t.Errorf("%+v: %+v, %v", test, r, err)
		}
	}
}

func TestLazyTimeIsForLeases(t *testing.T) {
	leased, timed := lessor(silent), calling(election.Timed, silent)
	for _, test := range []struct {
		a    election.Algorithm[caller, call]
		o    Options
		want string
	}{
		{leased, Options{Size: 2, Lazy: true}, ""},
		{timed, Options{Size: 2, Lazy: true}, "lazy time is for algorithms with leases, which are safe under any delays; of others it shows nothing"},
		{leased, Options{Size: 2, Lazy: true, Delay: 2}, "in lazy time a message takes any time; leave the delay out"},
		{leased, Options{Size: 2, ClockError: faults.Chance{Times: 1, Of: 10}}, "an error of clocks is for lazy time; in timed runs clocks run alike"},
		{leased, Options{Size: 2, Lazy: true, ClockError: faults.Chance{Times: 1, Of: 1}}, "the error of a clock is below 1, with a denominator of at most 1048576, not 1"},
	} {
		_, err := Run(test.a, test.o)
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "cannot verify calling: ")
		}
		if got != test.want {
			t.Errorf("%+v: %q; want %q", test.o, got, test.want)
		}
	}
}
