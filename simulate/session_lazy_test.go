package simulate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/quorumbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// unprepared are two members that take clocks for right, so that two leases can run at once if clocks are wrong.
func unprepared() network.Setup {
	i := network.On(1, 2)
	i.Parameters = map[string]string{
		"terms": "3", "renewals": "1", "lease": "6", "rho": "0", "renewal": "2", "answer-timeout": "1", "deferral": "1", "claim-timeout": "2", "asking": "no",
	}
	return i
}

// heir leads when its timer has counted the lease of the other process, which that process reads on another clock.
type heir struct {
	ID    election.ID
	Until [2]election.Deadline
}

func heirs() election.Algorithm[heir, struct{}] {
	return election.Algorithm[heir, struct{}]{
		Declaration: election.Declaration{
			Name: "heirs", Topology: election.Complete, Timing: election.Timed, Task: election.Service, Leased: true, Winner: election.Unspecified,
			Kinds: []election.MessageKind{{Name: "leads"}}, Timers: []string{"lease", "ends"},
		},
		New: func(l election.Local) heir { return heir{ID: l.ID} },
		Start: func(h *heir, out *election.Out[struct{}]) {
			if h.ID == 1 {
				h.Until[1] = out.Deadline(election.Units(20))
				out.LeadUntil(h.Until[1], 1)
				out.At(1, h.Until[1])
				out.Send(1, 0, struct{}{})
			}
		},
		Receive: func(h *heir, _ election.Port, _ election.Kind, _ struct{}, out *election.Out[struct{}]) {
			h.Until[0] = out.Deadline(election.Units(20))
			out.After(0, election.Units(20))
		},
		Timeout: func(h *heir, timer election.Timer, out *election.Out[struct{}]) {
			if timer == 0 {
				out.LeadUntil(out.Deadline(election.Units(20)), 2)
			}
		},
	}
}

// Each step of the checker's run has the same effects and leaves the same state here; and the last one breaks the same property.
func TestASessionRepeatsARunInLazyTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	a, tenth := heirs(), faults.Chance{Times: 1, Of: 10}
	hastened, program := 0, process.Must(process.Of(&a))
	for seed := range uint64(40) {
		o := verify.Options{Setup: numbered(2), Lazy: true, ClockError: tenth}
		r, err := verify.Program(program, o)
		if seed > 0 {
			r, err = verify.Walks(program, o, 1000, seed)
		}
		if err != nil || r.Violation == nil {
			t.Fatalf("seed %d: %+v, %v", seed, r, err)
		}
		s := session(t, small(a), simulate.Options{Setup: numbered(2), AnyTime: true})
		if err := s.BeLazy(tenth); err != nil {
			t.Fatal(err)
		}
		if err := s.Follow(&r.Violation.Record); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, c := range s.Made() {
			if c.What == simulate.Hasten {
				hastened++
			}
		}
		all := s.Result().Faults
		s.Back()
		if before := s.Result().Faults; len(before) > 0 || len(all) == 0 {
			t.Errorf("seed %d: %s: %s; the simulator finds %v and then %v", seed, r.Violation.Property, r.Violation.Detail, before, all)
		}
	}
	if hastened == 0 {
		t.Error("no deadline comes early")
	}
}

func TestInASessionInLazyTimeNothingIsUrgent(t *testing.T) {
	s := session(t, quorumbully.Program, simulate.Options{Setup: unprepared(), AnyTime: true})
	if err := s.BeLazy(faults.Chance{Times: 1, Of: 10}); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for range 2 {
		if err := s.Step(s.Choices()[0]); err != nil {
			t.Fatal(err)
		}
	}
	can := func() string {
		kinds = kinds[:0]
		for _, c := range s.Choices() {
			kinds = append(kinds, c.What.String())
		}
		return strings.Join(kinds, " ")
	}
	for slices.Contains(strings.Fields(can()), "expire") { // each grants its own claim
		i := slices.IndexFunc(s.Choices(), func(c simulate.Choice) bool { return c.What == simulate.Expire })
		if err := s.Step(s.Choices()[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got := can(); got != "deliver deliver pass" { // the messages need no time
		t.Error(got)
	}
	for range 2 {
		if err := s.Step(simulate.Choice{What: simulate.Pass, Time: election.Units(10)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := can(); got != "deliver deliver expire expire expire expire pass" { // nor are late ones, and late timers, urgent
		t.Error(got)
	}
	if early := (simulate.Choice{What: simulate.Hasten, Process: 1}); s.Text(early) != "the deadlines of process 2 come a step early" || s.Step(early) != nil || !s.Back() {
		t.Error(s.Text(early))
	}
}

func TestLazyTimeIsOfTimedSessionsWithLeases(t *testing.T) {
	leased := session(t, quorumbully.Program, simulate.Options{Setup: unprepared(), AnyTime: true})
	begun := session(t, quorumbully.Program, simulate.Options{Setup: unprepared(), AnyTime: true})
	if err := begun.Step(begun.Choices()[0]); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s     *simulate.Session
		wrong faults.Chance
		want  string
	}{
		{session(t, bully.Program, simulate.Options{Setup: numbered(2)}), faults.Chance{}, "for timed runs of algorithms with leases"},
		{leased, faults.Chance{Times: 2, Of: 2}, "the error of a clock is below 1"},
		{leased, faults.Chance{Times: 1, Of: 1<<20 + 1}, "with a denominator of at most 1048576"},
		{begun, faults.Chance{}, "before the first event"},
	} {
		if err := c.s.BeLazy(c.wrong); !errors.Is(err, simulate.ErrOptions) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
}
