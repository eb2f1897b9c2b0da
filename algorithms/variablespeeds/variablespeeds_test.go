package variablespeeds_test

import (
	"errors"
	"testing"

	"ringleader.example/ringleader/algorithms/variablespeeds"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type (
	process = variablespeeds.Process
	message = variablespeeds.Message
)

var anyTime = map[string]string{"starts": "any"}

func TestConformance(t *testing.T) {
	electiontest.Conform(t, variablespeeds.Algorithm, electiontest.Options{Verify: 4, Parameters: []map[string]string{nil, anyTime}})
}

func run(t *testing.T, o simulate.Options) *simulate.Result {
	t.Helper()
	r := electiontest.Run(t, variablespeeds.Algorithm, o)
	if !r.Right || len(r.Faults) > 0 {
		t.Fatalf("leaders at %v, %d of %d decided, %v", r.Leaders, r.Decided, r.Live, r.Faults)
	}
	return r
}

// Token messages and times of small rings: elected after n·2^v units, then n announcements.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		ids           []uint64
		tokens, after uint64
	}{
		{[]uint64{1}, 1, 2},
		{[]uint64{1, 2}, 2, 4},
		{[]uint64{2, 1}, 2, 4},
		{[]uint64{1, 2, 3}, 3, 6},
		{[]uint64{3, 2, 1}, 4, 6},
		{[]uint64{4, 3, 2, 1}, 5, 8},
		{[]uint64{1, 2, 3, 4, 5}, 5, 10},
		{[]uint64{5, 4, 3, 2, 1}, 6, 10},
		{[]uint64{3, 1, 4, 2, 5}, 7, 10},
		{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 10, 16},
		{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 8, 16},
		{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 11, 16},
		{[]uint64{5, 2, 7, 1, 8, 3, 6, 4}, 10, 16},
		{[]uint64{0, 1, 2, 3, 4, 5, 6, 7}, 8, 8},
		{[]uint64{7, 6, 5, 4, 3, 2, 1, 0}, 10, 8},
	} {
		r := run(t, simulate.Options{Setup: network.On(c.ids...)})
		n := uint64(len(c.ids))
		if r.Messages.Election != c.tokens || r.Messages.Announcement != n ||
			r.Time.Elected != election.Units(c.after) || r.Time.Quiet != election.Units(c.after+n) {
			t.Errorf("%v: %d messages and %d, elected at %s, quiet at %s; want %d and %d, %d, %d",
				c.ids, r.Messages.Election, r.Messages.Announcement, r.Time.Elected, r.Time.Quiet, c.tokens, n, c.after, c.after+n)
		}
	}
}

func TestMostTokenMessagesOverAllOrders(t *testing.T) {
	for n, want := range []uint64{1: 1, 2, 4, 5, 7, 9, 11, 12} { // the most token messages of all orders, by exhaustive simulation
		if n == 0 {
			continue
		}
		most := uint64(0)
		for ids := range electiontest.Rings(n) {
			for low := range uint64(2) { // 0 … n - 1, and 1 … n
				shifted := make([]uint64, n)
				for p, id := range ids {
					shifted[p] = id - low
				}
				most = max(most, run(t, simulate.Options{Setup: network.On(shifted...)}).Messages.Election)
			}
		}
		if most != want {
			t.Errorf("n=%d: at most %d token messages, want %d", n, most, want)
		}
	}
}

func TestTheSmallestIsElectedAfterExactlyNTimes2ToItsPower(t *testing.T) {
	for low := uint64(0); low <= 120; low += 8 {
		ids := electiontest.Random(t, 50, low)
		for p := range ids {
			ids[p] += low - 1
		}
		r := run(t, simulate.Options{Setup: network.On(ids...)})
		if want := election.Power(uint(low)).Times(50); r.Time.Elected != want || r.Messages.Election >= 100 {
			t.Errorf("from %d on: %d messages, elected at %s, want %s", low, r.Messages.Election, r.Time.Elected, want)
		}
	}
}

func TestATokenThatCannotMoveBeforeTheElectionEndsNeedsNoTime(t *testing.T) {
	r := run(t, simulate.Options{Setup: network.On(1<<32-2, 120, 128, 1<<20, 121)})
	if want := election.Power(120).Times(5); r.Time.Elected != want || r.Messages.Election != 5+2 { // 121 makes 2 hops in 5·2^120 units
		t.Errorf("elected at %s after %d messages, want %s", r.Time.Elected, r.Messages.Election, want)
	}
	for _, ids := range [][]uint64{{128}, {128, 129}, {127, 128}, {126, 1000, 127, 900}, {1<<32 - 2}} {
		if _, err := simulate.Must(simulate.OfSmall(&variablespeeds.Algorithm)).Run(simulate.Options{Setup: network.On(ids...)}); !errors.Is(err, election.ErrTime) {
			t.Errorf("%v: %v", ids, err)
		}
	}
	if r := run(t, simulate.Options{Setup: network.On(127)}); r.Time.Elected != election.Power(127) {
		t.Errorf("127 is elected at %s", r.Time.Elected)
	}
}

// Phase 0 ends everywhere within n units of the first start. Then the smallest participating identifier needs n·2^v
// units.
func TestPhase0(t *testing.T) {
	at := func(times ...int) (wake []election.Ticks) {
		for _, t := range times {
			if t < 0 {
				wake = append(wake, election.Forever)
			} else {
				wake = append(wake, election.Units(uint64(t)))
			}
		}
		return wake
	}
	for _, c := range []struct {
		ids       []uint64
		wake      []election.Ticks
		unwilling []int
		leader    int
		elected   uint64
	}{
		{[]uint64{3}, at(7), nil, 0, 8 + 8},
		{[]uint64{3, 0, 2}, at(0, -1, -1), nil, 1, 1 + 3},
		{[]uint64{3, 0, 2}, at(0, -1, -1), []int{1}, 2, 2 + 12},
		{[]uint64{3, 0, 2}, at(0, 0, -1), []int{1}, 1, 1 + 3},  // it woke before the message came
		{[]uint64{3, 0, 2}, at(0, 1, -1), []int{1}, 2, 2 + 12}, // the message came first: a message and a start in one unit
		{[]uint64{3, 0, 2}, at(0, -1, -1), []int{1, 2}, 0, 3 + 24},
	} {
		o := simulate.Options{Setup: network.On(c.ids...), Wake: c.wake}
		o.Setup.Unwilling, o.Setup.Parameters = c.unwilling, anyTime
		r := run(t, o)
		n := uint64(len(c.ids))
		if r.Leaders[0] != c.leader || r.Time.Elected != election.Units(c.elected) || r.Messages.ByKind[variablespeeds.Started] != n {
			t.Errorf("%v, waking %v, unwilling %v: leader at %d, elected at %s, want %d at %d", c.ids, c.wake, c.unwilling, r.Leaders[0], r.Time.Elected, c.leader, c.elected)
		}
	}
}

func TestAtOneSpeedItIsLCR(t *testing.T) {
	mutant := variablespeeds.Algorithm
	mutant.Timeout = nil
	mutant.Timers = nil
	mutant.Start = func(p *process, out *election.Out[message]) {
		p.Awake, p.Candidate, p.Best = true, true, p.ID
		out.Send(variablespeeds.Right, variablespeeds.Token, message{ID: p.ID})
	}
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *election.Out[message]) {
		switch {
		case kind == variablespeeds.Token && m.ID < p.Best:
			p.Best = m.ID
			out.Send(variablespeeds.Right, variablespeeds.Token, m)
		case kind == variablespeeds.Elected && m.ID != p.ID: // there is no timer to stop
			out.Follow(m.ID, 0)
			out.Send(variablespeeds.Right, variablespeeds.Elected, m)
		default:
			p.Receive(port, kind, m, out)
		}
	}
	const n = 32
	ids := make([]uint64, n)
	for p := range ids {
		ids[p] = uint64(p)
	}
	if r := electiontest.Elect(t, mutant, simulate.Options{Setup: network.On(ids...)}); r.Messages.Election != n*(n+1)/2 {
		t.Errorf("%d messages, want n(n+1)/2", r.Messages.Election)
	}
}

// A process that starts while a smaller token is held there kills it.
func TestWithoutPhase0AllHaveToStartTogether(t *testing.T) {
	mutant := variablespeeds.Algorithm
	mutant.Starts = election.AnyStart
	report, err := verify.Run(mutant, verify.Options{Size: 2, Starts: verify.AnyTime})
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation == nil {
		t.Error("nothing breaks")
	}
}
