package quorumbully

import (
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// complaints maps each property of leases to words of the simulator's message about a violation.
var complaints = map[string]string{
	verify.TwoLeases: "while the lease", verify.TwoInTerm: "has led in term", verify.WrongTerm: "has led in term",
	verify.Revived: "whose lease had ended", verify.Unpaired: "before its host has stopped",
}

// follow repeats a run of the checker in the simulator, which must make the same steps, and returns what the simulator
// complains about before the last step and at it.
func follow(t *testing.T, a algorithm, o verify.Options, v *verify.Violation) (before, last string) {
	t.Helper()
	s, err := simulate.Must(simulate.OfSmall(&a)).Session(simulate.Options{
		Setup: o.Setup, AnyTime: true, Delay: uint64(max(1, o.Delay)), Wardens: o.Wardens, Faults: faults.Script{Unordered: o.Unordered},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Follow(&v.Record); err != nil {
		t.Fatal(err)
	}
	all := s.Result().Faults
	for len(s.Record().Steps) == len(v.Record.Steps) {
		s.Back()
	}
	none := s.Result().Faults
	return strings.Join(none, "; "), strings.Join(all[len(none):], "; ")
}

// all is a budget for walks with every fault.
func all() budget {
	return budget{crashes: 2, recoveries: 2, commands: 1, cuts: 1, suspicions: 1, losses: 1, duplicates: 1, delay: 2, terms: 4}
}

// walked are the mutants that walks at random find. With -long, all are tried.
var walked = []string{"a lapse is not for good", "a claim given up counts late grants", "a release voids every grant to its sender"}

// The walks of a mutant end at its violation: there, and not before, the simulator complains about the same.
func TestCheckerAndSimulatorAgreeOnEachMutant(t *testing.T) {
	const walks = 120
	found := 0
	for _, mutant := range mutants {
		if !*long && !slices.Contains(walked, mutant.name) {
			continue
		}
		a := Algorithm
		mutant.mutate(&a)
		program := process.Must(process.Of(&a))
		for seed := range uint64(6) {
			b := all()
			b.wardens, b.unordered = seed%2 == 1, seed%3 == 2
			o := b.few()
			r, err := verify.Walks(program, o, walks, seed)
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation == nil {
				continue
			}
			found++
			before, last := follow(t, a, o, r.Violation)
			want := complaints[r.Violation.Property]
			if before != "" || want == "" || !strings.Contains(last, want) {
				t.Errorf("%s, seed %d: %s, %s; the simulator: %q and then %q", mutant.name, seed, r.Violation.Property, r.Violation.Detail, before, last)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d violations", found)
	}
	t.Logf("%d violations", found)
}

// With all rules, a walk ends where something happens that a test looks for. The simulator complains about nothing on the way.
func TestCheckerAndSimulatorAgreeOnRunsWithoutViolation(t *testing.T) {
	for _, end := range []struct {
		name string
		seen func(before, after *Process) bool
	}{
		{"a member leads in term 3", func(before, after *Process) bool { return !before.leads() && after.leads() && after.Term == 3 }},
		{"work stops after a lease", func(before, after *Process) bool {
			return before.Work != 0 && after.Work == 0 && before.Role == Follower
		}},
		{"a member hands over", func(before, after *Process) bool { return before.Role == Stopping && after.Work == 0 }},
		{"a restarted member grants a claim", func(before, after *Process) bool {
			return after.Kept.Incarnation > 1 && !before.following() && after.following()
		}},
	} {
		a := Algorithm
		look := func(p *Process, step func()) {
			before := *p
			if step(); end.seen(&before, p) {
				panic(end.name)
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
		for seed := range uint64(5) {
			b := all()
			b.wardens = seed%2 == 1
			o := b.few()
			r, err := verify.Walks(process.Must(process.Of(&a)), o, 20_000, seed)
			if err != nil || r.Violation == nil || r.Violation.Property != verify.Panicked {
				t.Fatalf("%s: %+v, %v", end.name, r, err)
			}
			if before, last := follow(t, Algorithm, o, r.Violation); before+last != "" {
				t.Errorf("%s: %q, %q", end.name, before, last)
			}
		}
	}
}
