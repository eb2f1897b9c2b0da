package simulate

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate/internal/steps"
)

// On a wrong clock a timer may be late and never early, and a lease ends with the clock that grants it.
func TestWrongClocksAreNeverEarlyForTimersNorLateForDeadlines(t *testing.T) {
	property.Check(t, func(t *property.T) {
		d := &steps.Drift{Times: property.Uint64Range(1, 50).Draw(t, "times"), Of: property.Uint64Range(1, 50).Draw(t, "of")}
		now := election.Units(property.Uint64Range(0, 1000).Draw(t, "now"))
		wait := election.Units(property.Uint64Range(0, 1000).Draw(t, "wait"))
		counted := func(units election.Ticks) uint64 { return units.Lo * d.Times } // in units of 1/Of of the clock
		real := d.Real(wait)
		if counted(real) < wait.Lo*d.Of || real.Lo > 0 && counted(election.Units(real.Lo-1)) >= wait.Lo*d.Of {
			t.Fatalf("a timer of %s runs %s with a clock of %d/%d", wait, real, d.Times, d.Of)
		}
		deadline := d.Local(now).Add(wait)
		end := d.Real(deadline)
		if d.Local(end).Less(deadline) || end.Lo > 0 && !d.Local(election.Units(end.Lo-1)).Less(deadline) {
			t.Fatalf("at %s a deadline in %s comes at %s, with a clock of %d/%d", now, wait, end, d.Times, d.Of)
		}
	})
}

// leased leads for 10 units from the moment in which the process before, if any, has stopped, if clocks run alike.
var leased = election.Algorithm[election.ID, struct{}]{
	Declaration: election.Declaration{
		Name: "leased", Topology: election.Complete, Timing: election.Timed, Task: election.Service, Leased: true,
		Kinds: []election.MessageKind{{Name: "none"}}, Timers: []string{"turn"},
	},
	New: func(l election.Local) election.ID { return l.ID },
	Start: func(id *election.ID, out *election.Out[struct{}]) {
		out.After(0, election.Units(10*uint64(*id)))
	},
	Receive: func(*election.ID, election.Port, election.Kind, struct{}, *election.Out[struct{}]) {},
	Timeout: func(id *election.ID, _ election.Timer, out *election.Out[struct{}]) {
		out.LeadUntil(out.Deadline(election.Units(10)), election.Term(*id))
	},
}

func TestLeasesOverlapIfClocksDrift(t *testing.T) {
	for _, c := range []struct {
		drift faults.Drift
		holds bool
	}{
		{faults.Drift{Process: 0, Times: 1, Of: 1}, true},
		{faults.Drift{Process: 0, Times: 2, Of: 1}, true},  // the first lease ends early
		{faults.Drift{Process: 0, Times: 1, Of: 2}, false}, // … late
		{faults.Drift{Process: 1, Times: 2, Of: 1}, false}, // the second one begins early
	} {
		o := Options{Setup: network.On(1, 2), Faults: faults.Script{Drifts: []faults.Drift{c.drift}}}
		r, err := Must(OfSmall(&leased)).Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if (len(r.Faults) == 0) != c.holds {
			t.Errorf("drift %+v: %v", c.drift, r.Faults)
		}
	}
}
