package simulate_test

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// givesUp is hands, but process 1 no longer leads while its host stops the work.
func givesUp() election.Algorithm[hand, struct{}] {
	a := hands
	a.Command = func(_ *hand, c election.Command, out *election.Out[struct{}]) {
		if c.Order == election.Resign {
			out.NoLeader()
			out.StopWork()
		}
	}
	return a
}

// Work that a host is to stop counts until it has stopped, though its process no longer leads; and no longer.
func TestWorkCountsUntilItHasStopped(t *testing.T) {
	for _, stop := range []uint64{2, 9} { // process 2 leads at 11
		s := session(t, small(givesUp()), simulate.Options{Setup: numbered(2)})
		do := func(c simulate.Choice) {
			t.Helper()
			if err := s.Step(c); err != nil {
				t.Fatal(err)
			}
		}
		pass := func(until uint64) {
			for s.Now().Less(election.Units(until)) {
				do(simulate.Choice{What: simulate.Pass, Time: election.Units(1)})
				for _, c := range s.Choices() {
					if c.What == simulate.Expire {
						do(c)
					}
				}
			}
		}
		do(simulate.Choice{What: simulate.Begin, Process: 0})
		do(simulate.Choice{What: simulate.Begin, Process: 1})
		pass(5)
		do(simulate.Choice{What: simulate.Abdicate, Process: 0})
		pass(5 + stop)
		do(simulate.Choice{What: simulate.Cease, Process: 0})
		pass(20)
		if r := s.Result(); (len(r.Faults) > 0) != (stop == 9) || stop == 9 && r.Faults[0] != "process 2 leads while the lease of process 1 runs" {
			t.Errorf("stopped %d units later: %v", stop, r.Faults)
		}
	}
}

// Each walk of the checker that violates a property of leases does so in the simulator, at the same step and not before.
func TestCheckerAndSimulatorAgreeOnLeases(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	again := givesUp() // leads in a new term before the work of the last one has stopped
	again.Start = func(h *hand, out *election.Out[struct{}]) {
		h.Lives++
		if h.ID == 1 {
			out.After(0, election.Units(1))
		}
	}
	again.Timeout = func(h *hand, _ election.Timer, out *election.Out[struct{}]) {
		out.LeadUntil(out.Deadline(election.Units(9)), election.Term(h.Lives))
		h.Lives++
		out.After(0, election.Units(9))
	}
	back := givesUp() // leads in the term again that it gave up
	back.Start = again.Start
	back.Timeout = func(_ *hand, _ election.Timer, out *election.Out[struct{}]) {
		out.LeadUntil(out.Deadline(election.Units(9)), 1)
		out.After(0, election.Units(3))
	}
	lower := givesUp() // prolongs its term though another process has led in a higher one
	lower.Start = func(h *hand, out *election.Out[struct{}]) {
		out.After(0, election.Units(uint64(h.ID)))
	}
	lower.Timeout = func(h *hand, _ election.Timer, out *election.Out[struct{}]) {
		if h.ID == 1 {
			out.LeadUntil(out.Deadline(election.Units(9)), 1)
			out.After(0, election.Units(2))
			return
		}
		out.LeadUntil(out.Deadline(election.Ticks{}), 2)
	}
	for _, c := range []struct {
		a              election.Algorithm[hand, struct{}]
		property, says string
	}{
		{givesUp(), verify.TwoLeases, "while the lease of process 1 runs"},
		{again, verify.Unpaired, "before its host has stopped its earlier work"},
		{back, verify.Revived, "leads in term 1 again"},
		{lower, verify.WrongTerm, "leads in term 1, and process 2 has led in term 2"},
	} {
		seen := false
		for seed := range uint64(12) {
			o := verify.Options{Setup: numbered(2), Commands: 1, SafetyOnly: true}
			r, err := verify.Walks(process.Must(process.Of(&c.a)), o, 200, seed)
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation == nil {
				continue
			}
			s := session(t, small(c.a), simulate.Options{Setup: numbered(2), AnyTime: true})
			if err := s.Follow(&r.Violation.Record); err != nil {
				t.Fatal(err)
			}
			all := s.Result().Faults
			s.Back()
			before := s.Result().Faults
			if len(before) > 0 || len(all) == 0 || r.Violation.Property == c.property && !strings.Contains(strings.Join(all, ";"), c.says) {
				t.Errorf("%s: %s; the simulator %v and then %v", c.property, r.Violation.Detail, before, all)
			}
			seen = seen || r.Violation.Property == c.property
		}
		if !seen {
			t.Errorf("%s: never", c.property)
		}
	}
}
