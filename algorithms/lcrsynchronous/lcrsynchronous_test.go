package lcrsynchronous_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/lcrsynchronous"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, lcrsynchronous.Algorithm, electiontest.Options{Verify: 5})
}

func TestTheLargestOutputsLeaderAtTheEndOfRoundNAndNoOtherProcessOutputsAnything(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for ids := range electiontest.Rings(n) {
			r := electiontest.Run(t, lcrsynchronous.Algorithm, simulate.Options{Setup: network.On(ids...)})
			end := election.Units(uint64(n))
			leader := slices.Index(ids, slices.Max(ids))
			if r.Time.Elected != end || r.Time.Quiet != end || !slices.Equal(r.Leaders, []int{leader}) || r.Decided != 1 {
				t.Fatalf("%v: leaders at %v, %d decided, elected at %s, quiet at %s", ids, r.Leaders, r.Decided, r.Time.Elected, r.Time.Quiet)
			}
		}
	}
}

// An identifier makes as many hops as its distance to the next greater one.
func TestMessagesAreTheDistancesToTheNextGreater(t *testing.T) {
	for _, c := range []struct {
		ids  []uint64
		want uint64
	}{
		{[]uint64{1}, 1},
		{[]uint64{2, 1}, 3},
		{[]uint64{3, 2, 1}, 6},
		{[]uint64{1, 2, 3}, 5},
		{[]uint64{4, 3, 2, 1}, 10},
		{[]uint64{5, 4, 3, 2, 1}, 15},
		{[]uint64{3, 1, 4, 2, 5}, 11},
		{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 36},
		{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 15},
		{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 20},
	} {
		r := electiontest.Elect(t, lcrsynchronous.Algorithm, simulate.Options{Setup: network.On(c.ids...)})
		if r.Messages.Election != c.want || r.Messages.Total != c.want {
			t.Errorf("%v: %d messages, want %d", c.ids, r.Messages.Total, c.want)
		}
	}
}

func TestExtremesOverAllOrders(t *testing.T) {
	for n := 1; n <= 7; n++ {
		least, most := electiontest.Extremes(t, lcrsynchronous.Algorithm, n, nil)
		if least != uint64(2*n-1) || most != uint64(n*(n+1)/2) {
			t.Errorf("n=%d: %d to %d messages, want %d to %d", n, least, most, 2*n-1, n*(n+1)/2)
		}
	}
}

// With T4 and T6 exchanged the smallest would win; if every identifier were passed on, all would.
func TestMutantsAreFound(t *testing.T) {
	for name, receive := range map[string]func(p *lcrsynchronous.Process, m lcrsynchronous.Message, out *election.Out[lcrsynchronous.Message]){
		"passes on the smaller": func(p *lcrsynchronous.Process, m lcrsynchronous.Message, out *election.Out[lcrsynchronous.Message]) {
			switch {
			case m.ID < p.ID:
				out.Send(lcrsynchronous.Right, lcrsynchronous.UID, m)
			case m.ID == p.ID:
				out.Lead(0)
			}
		},
		"passes on everything": func(p *lcrsynchronous.Process, m lcrsynchronous.Message, out *election.Out[lcrsynchronous.Message]) {
			if m.ID == p.ID {
				out.Lead(0)
				return
			}
			out.Send(lcrsynchronous.Right, lcrsynchronous.UID, m)
		},
	} {
		mutant := lcrsynchronous.Algorithm
		mutant.Receive = func(p *lcrsynchronous.Process, _ election.Port, _ election.Kind, m lcrsynchronous.Message, out *election.Out[lcrsynchronous.Message]) {
			receive(p, m, out)
		}
		report, err := verify.Run(mutant, verify.Options{Size: 2})
		if err != nil {
			t.Fatal(err)
		}
		if report.Violation == nil {
			t.Errorf("one that %s is not found", name)
		}
	}
}
