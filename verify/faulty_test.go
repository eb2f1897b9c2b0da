package verify

import (
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

type lcrAlgorithm = election.Algorithm[lcr.Process, lcr.Message]

// A function of the algorithm that is no step, and that fails or depends on more than its argument, is a violation that names it.
func TestAFunctionThatFailsIsNamed(t *testing.T) {
	calls := 0
	for want, change := range map[string]func(*lcrAlgorithm){
		"panic: New of process 2 panics: newborn": func(a *lcrAlgorithm) {
			a.New = func(election.Local) lcr.Process { panic("newborn") }
		},
		"broke the contract: New of process 2 makes another process when it is called again; it depends on its argument only": func(a *lcrAlgorithm) {
			a.New = func(l election.Local) lcr.Process {
				calls++
				return lcr.Process{ID: election.ID(calls)}
			}
		},
		"panic: Eligible of process 2 panics: eligible": func(a *lcrAlgorithm) {
			a.Eligible = func(*lcr.Process) bool { panic("eligible") }
		},
		"broke the contract: Eligible of process 2 has another answer when it is asked again; it depends on its argument only": func(a *lcrAlgorithm) {
			a.Eligible = func(*lcr.Process) bool { calls++; return calls%2 == 0 }
		},
		"panic: the bound ⌊n⌋ of election messages panics: bound": func(a *lcrAlgorithm) {
			a.Bounds = []election.Bound{{Of: "election", Case: election.Worst, Formula: "⌊n⌋", Source: "none", Value: func(uint64) uint64 { panic("bound") }}}
		},
	} {
		a := lcr.Algorithm
		change(&a)
		for _, o := range []Options{{Size: 2}, {Size: 2, Reduce: AnyReduction, Cores: 2}} {
			r, err := Run(a, o)
			if err != nil || r.Violation == nil || r.Violation.Property+": "+r.Violation.Detail != want {
				t.Errorf("%+v, %v; want %s", r, err, want)
			}
		}
		bound := len(a.Bounds) == 1 && a.Bounds[0].Formula == "⌊n⌋" // walks have none
		r, err := Walks(process.Must(process.Of(&a)), Options{Setup: network.On(2, 1)}, 10, 1)
		if err != nil || !bound && (r.Violation == nil || r.Violation.Property+": "+r.Violation.Detail != want) {
			t.Errorf("walks: %+v, %v; want %s", r.Violation, err, want)
		}
	}
}

// What processes of one network leave for each other in a package variable, processes of another network of that size leave, too.
func TestAMemoryThatTheProcessesOfOneSizeShareIsFound(t *testing.T) {
	greatest := map[int]election.ID{}
	a := calling(election.Asynchronous, nil)
	a.KnowsSize = true
	a.New = func(l election.Local) caller {
		greatest[l.N] = max(greatest[l.N], l.ID)
		return caller{ID: l.ID}
	}
	a.Start = func(p *caller, out calls) {
		if p.ID == greatest[3] {
			out.Lead(0)
		}
	}
	v := fails(t, a, Options{Size: 3}, BrokeContract, 0) // by the rehearsal, which is no run
	if v.Detail != "process 3 starts and does something else when the same step is made again after others; a step depends on its arguments and Choose only" {
		t.Error(v.Detail)
	}
}
