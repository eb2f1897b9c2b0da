package knownsize_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

var anyTime = map[string]string{"starts": "any"}

func TestConformance(t *testing.T) {
	electiontest.Conform(t, knownsize.Algorithm, electiontest.Options{
		Verify: 4, Parameters: []map[string]string{nil, {"N": "23"}, anyTime, {"starts": "any", "N": "9"}},
	})
}

// at returns times to wake; a negative one is never.
func at(times ...int) []election.Ticks {
	wake := slices.Repeat([]election.Ticks{election.Forever}, len(times))
	for p, t := range times {
		if t >= 0 {
			wake[p] = election.Units(uint64(t))
		}
	}
	return wake
}

func with(ids []uint64, N uint64, parameters map[string]string) network.Setup {
	i := network.On(ids...)
	i.Parameters = map[string]string{"N": fmt.Sprint(N)}
	for name, value := range parameters {
		i.Parameters[name] = value
	}
	return i
}

// S5 section 2: all start at 0, exactly n messages, and the smallest identifier returns at N(i_min - 1) + n.
func TestNMessagesAndTheSmallestReturnsAfterItsTurn(t *testing.T) {
	for seed := range uint64(3000) {
		source := random.New(seed, random.Network)
		n := 1 + source.Below(8)
		ids := electiontest.Random(t, int(n), seed)
		gap, low := 1+source.Below(3), source.Below(5)
		for p := range ids {
			ids[p] = gap*ids[p] + low
		}
		N := source.Below(2) * (n + source.Below(6))
		i := with(ids, N, nil)
		least := ids[source.Below(n)]
		for p, id := range ids {
			if id != least && source.Below(3) == 0 {
				i.Unwilling = append(i.Unwilling, p)
			} else {
				least = min(least, id)
			}
		}
		r := electiontest.Elect(t, knownsize.Algorithm, simulate.Options{Setup: i})
		exact, err := count.KnownSize(knownsize.Algorithm.Sequence)(t.Context(),
			count.Woken{Arrangement: i.IDs, Wake: make([]election.Ticks, n), Unwilling: i.Unwilling}, r.Prepared.Parameters, nil)
		if err != nil || exact.Leader != least || exact.Time.Quiet.Cmp(r.Time.Quiet.Big()) != 0 {
			t.Fatalf("%v, N=%d, unwilling %v: counted %+v, %v; want leader %d", ids, N, i.Unwilling, exact, err, least)
		}
		if N == 0 {
			N = n
		}
		elected := N * (least - 1)
		if r.Messages.Total != n || r.Time.Elected != election.Units(elected) || r.Time.Quiet != election.Units(elected+n) {
			t.Fatalf("%v, N=%d: %d messages, elected at %s, home at %s", ids, N, r.Messages.Total, r.Time.Elected, r.Time.Quiet)
		}
	}
}

// Every processor takes part, if it is willing, whether it wakes by itself or on a message.
func TestVectorsOfArbitraryWakeUps(t *testing.T) {
	for _, c := range []struct {
		ids          []uint64
		wake         []election.Ticks
		N            uint64
		leader, home uint64
	}{
		{[]uint64{3, 1, 2}, at(0, -1, -1), 3, 1, 5},
		{[]uint64{4, 2, 5, 3}, at(0, -1, 1, -1), 4, 2, 14},
		{[]uint64{5, 2, 7, 1, 8, 3, 6, 4}, at(0, -1, -1, 3, -1, -1, 2, -1), 8, 1, 12},
	} {
		r := electiontest.Elect(t, knownsize.Algorithm, simulate.Options{Setup: with(c.ids, c.N, anyTime), Wake: c.wake})
		n, leader := uint64(len(c.ids)), c.ids[r.Leaders[0]]
		if !slices.Equal(r.Messages.ByKind, []uint64{n, n}) || leader != c.leader || r.Time.Quiet != election.Units(c.home) {
			t.Errorf("%v: %v messages, leader %d, home at %s; want %d each, %d, %d", c.ids, r.Messages.ByKind, leader, r.Time.Quiet, n, c.leader, c.home)
		}
	}
}

// phase0 returns when each processor's phase 0 ends, and the processors that take part, from the rules: "election
// started" leaves a processor when it wakes or reads it, whichever is first, and reading goes first.
func phase0(wake []election.Ticks, unwilling []int) (over []uint64, candidates []bool) {
	n := len(wake)
	sent := make([]uint64, n)
	for p := range sent {
		sent[p] = 1 << 40
	}
	over, candidates = make([]uint64, n), make([]bool, n)
	for step := range 3 * n {
		p, before := step%n, (step+n-1)%n
		asked := sent[before] + 1
		candidates[p] = !slices.Contains(unwilling, p)
		if sent[p] = asked; wake[p] != election.Forever && wake[p].Lo < asked {
			sent[p], candidates[p] = wake[p].Lo, true
		}
		over[p] = asked
	}
	return over, candidates
}

// Exactly 2n messages, and the smallest participating identifier returns at t(i) + 2N(i-1) + 1 + n.
func Test2NMessagesWheneverProcessorsWake(t *testing.T) {
	for seed := range uint64(10_000) {
		source := random.New(seed, random.Network)
		n := 1 + source.Below(8)
		ids := electiontest.Random(t, int(n), seed)
		i := with(ids, n+[]uint64{0, 1, 5}[source.Below(3)], anyTime)
		wake := slices.Repeat([]election.Ticks{election.Forever}, int(n))
		for p := range wake {
			if source.Below(2) == 0 {
				wake[p] = election.Units(source.Below(2 * n))
			}
			if source.Below(3) == 0 && p > 0 {
				i.Unwilling = append(i.Unwilling, p)
			}
		}
		wake[source.Below(n)] = election.Units(source.Below(n))
		r := electiontest.Elect(t, knownsize.Algorithm, simulate.Options{Setup: i, Wake: wake})
		over, candidates := phase0(wake, i.Unwilling)
		leader := -1
		for p, id := range ids {
			if candidates[p] && (leader < 0 || id < ids[leader]) {
				leader = p
			}
		}
		N := r.Prepared.Parameters.Sequence()[0].Lo
		elected := over[leader] + 2*N*(ids[leader]-1) + 1
		if !slices.Equal(r.Messages.ByKind, []uint64{n, n}) || r.Leaders[0] != leader ||
			r.Time.Elected != election.Units(elected) || r.Time.Quiet != election.Units(elected+n) {
			t.Fatalf("%v, N=%d, waking %v, unwilling %v: %v messages, leader at %v elected at %s; want %d, %d",
				ids, N, wake, i.Unwilling, r.Messages.ByKind, r.Leaders, r.Time.Elected, leader, elected)
		}
		exact, err := count.KnownSize(knownsize.Algorithm.Sequence)(t.Context(), count.Woken{Arrangement: i.IDs, Wake: wake, Unwilling: i.Unwilling}, r.Prepared.Parameters, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(exact.Messages, r.Messages) || exact.Position != leader || exact.Time.Elected.Cmp(r.Time.Elected.Big()) != 0 || exact.Time.Quiet.Cmp(r.Time.Quiet.Big()) != 0 {
			t.Fatalf("%v, N=%d, waking %v, unwilling %v: counted %+v at %+v, ran %+v at %+v", ids, N, wake, i.Unwilling, exact.Messages, exact.Time, r.Messages, r.Time)
		}
	}
}

func TestSilenceMayLastLong(t *testing.T) {
	i := with([]uint64{1<<32 - 1, 1<<32 - 2}, 1<<62, anyTime)
	r := electiontest.Elect(t, knownsize.Algorithm, simulate.Options{Setup: i})
	want := election.Power(63).Times(1<<32 - 3).Add(election.Units(2))
	if r.Leaders[0] != 1 || r.Time.Elected != want {
		t.Errorf("elected at %s, want %s", r.Time.Elected, want)
	}
}

func TestWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		i    network.Setup
		says string
	}{
		{with([]uint64{1, 2, 3}, 2, nil), "cannot run known-size: parameter N is the number of processors or more, so at least 3, not 2; else two could be elected"},
		{with([]uint64{1, 0}, 2, nil), "cannot run known-size: it uses identifier values, where 0 means no process; identifiers start at 1"},
		{network.Setup{IDs: election.List{1}, Parameters: map[string]string{"N": "-1"}}, "cannot run known-size: parameter N is at least 0, not -1"},
		{network.Setup{IDs: election.List{1}, Parameters: map[string]string{"N": "3/2"}}, "cannot run known-size: parameter N is a whole number, not 3/2"},
		{network.Setup{IDs: election.List{4, 7}, Unwilling: []int{0, 1}}, "cannot run known-size: no process is willing to lead; at least one must be"},
	} {
		if _, err := simulate.Must(simulate.OfSmall(&knownsize.Algorithm)).Run(simulate.Options{Setup: c.i}); err == nil || err.Error() != c.says {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}

// believing returns the protocol of processors that assume another size of the ring.
func believing(size func(uint64) uint64) election.Algorithm[knownsize.Process, knownsize.Message] {
	a := knownsize.Algorithm
	a.New = func(l election.Local) knownsize.Process {
		p := knownsize.New(l)
		p.N = size(p.N)
		return p
	}
	return a
}

// breaks reports whether the checker finds a violation on a ring of 2 to 4.
func breaks(t *testing.T, a election.Algorithm[knownsize.Process, knownsize.Message], starts verify.Starts, parameters map[string]string) bool {
	t.Helper()
	for n := 2; n <= 4; n++ {
		o := verify.Options{Size: n, Starts: starts}
		o.Setup.Parameters = parameters
		report, err := verify.Run(a, o)
		if err != nil {
			t.Fatal(err)
		}
		if report.Violation != nil {
			return true
		}
	}
	return false
}

func TestABoundBelowTheSizeElectsTwo(t *testing.T) {
	// With n - 1 the message of processor i reaches i + 1 at the latest when it is its turn, and is read first.
	if !breaks(t, believing(func(n uint64) uint64 { return n - 2 }), verify.AllFirst, nil) {
		t.Error("all start together, and nothing breaks")
	}
	if !breaks(t, believing(func(n uint64) uint64 { return (n - 1) / 2 }), verify.AnyTime, anyTime) {
		t.Error("they start at any time, and nothing breaks")
	}
}

// A message that comes when it would be a processor's turn is read first, so processors that start at any time need
// not wait twice as long: t(i') is at most t(i) + n less the distance from i' to i. The declared wait is generous.
func TestHalfTheWaitAfterPhase0IsJustEnough(t *testing.T) {
	after := func(less uint64) election.Algorithm[knownsize.Process, knownsize.Message] {
		a := knownsize.Algorithm
		a.Receive = func(p *knownsize.Process, port election.Port, kind election.Kind, m knownsize.Message, out *election.Out[knownsize.Message]) {
			p.Receive(port, kind, m, out)
			if kind == knownsize.Started && p.Candidate {
				wait := p.N * uint64(p.ID-1)
				out.After(0, election.Units(wait-min(wait, less)))
			}
		}
		return a
	}
	if breaks(t, after(0), verify.AnyTime, anyTime) {
		t.Error("N(i-1) units are not enough")
	}
	if !breaks(t, after(1), verify.AnyTime, anyTime) {
		t.Error("N(i-1) - 1 units are enough")
	}
}

func TestWithoutPhase0AllHaveToStartTogether(t *testing.T) {
	mutant := knownsize.Algorithm
	mutant.New = func(l election.Local) knownsize.Process {
		p := knownsize.New(l)
		p.Phase0 = false
		return p
	}
	if !breaks(t, mutant, verify.AnyTime, anyTime) {
		t.Error("nothing breaks")
	}
}
