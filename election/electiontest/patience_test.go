package electiontest

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// On a synchronous ring silence carries information: identifier i waits i·2¹⁰⁰ units and then, if it has heard
// nothing, announces itself. Any time of at least n units is enough.
type sleeper struct {
	ID      election.ID
	Decided bool
}

type told struct{ ID election.ID }

var patience = func() election.Algorithm[sleeper, told] {
	d := title("test-patience")
	d.OneWay = true
	d.Timing = election.Synchronous
	d.Identifiers = election.Computed
	d.Starts = election.Together
	d.Winner = election.Smallest
	d.Kinds = []election.MessageKind{{Name: "elected"}}
	d.Timers = []string{"patience"}
	d.Bounds = []election.Bound{{
		Of: "total", Case: election.Worst, Formula: "n", Value: func(n uint64) uint64 { return n },
	}}
	return election.Algorithm[sleeper, told]{
		Declaration: d,
		New:         func(l election.Local) sleeper { return sleeper{ID: l.ID} },
		Start: func(s *sleeper, out *election.Out[told]) {
			if !s.Decided {
				out.After(0, election.Power(100).Times(uint64(s.ID)))
			}
		},
		Timeout: func(s *sleeper, _ election.Timer, out *election.Out[told]) { out.Send(0, 0, told{s.ID}) },
		Receive: func(s *sleeper, _ election.Port, _ election.Kind, m told, out *election.Out[told]) {
			s.Decided = true
			out.Stop(0)
			if m.ID == s.ID {
				out.Lead(0)
				return
			}
			out.Follow(m.ID, 0)
			out.Send(0, 0, m)
		},
	}
}()

func TestIdleTimeIsSkippedExactly(t *testing.T) {
	r, err := simulate.New(small(t, patience)).Run(simulate.Options{Setup: network.On(9, 3, 5)})
	if err != nil {
		t.Fatal(err)
	}
	want := election.Power(100).Times(3).Add(election.Units(3))
	if r.Time.Elected != want || r.Messages.Total != 3 {
		t.Errorf("elected at %s with %d messages, want %s with 3", r.Time.Elected, r.Messages.Total, want)
	}
}

func TestTimeBeyond128BitsIsAnError(t *testing.T) {
	a := patience
	a.Start = func(s *sleeper, out *election.Out[told]) { out.After(0, election.Power(127).Times(uint64(s.ID))) }
	if _, err := simulate.New(small(t, a)).Run(simulate.Options{Setup: network.On(2)}); err == nil {
		t.Error("2^128 units passed unnoticed")
	}
}
