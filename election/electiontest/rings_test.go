package electiontest

import (
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestRingsAreAllOrdersThatDiffer(t *testing.T) {
	factorial := 1
	for n := 1; n <= 6; n++ {
		factorial *= max(n-1, 1)
		seen := map[string]bool{}
		for ids := range Rings(n) {
			if ids[0] != uint64(n) {
				t.Errorf("%v does not begin with the largest", ids)
			}
			seen[fmt.Sprint(ids)] = true
		}
		if len(seen) != factorial {
			t.Errorf("n=%d: %d rings, want %d", n, len(seen), factorial)
		}
	}
}

// judged is a test that only records whether it fails.
type judged struct {
	testing.TB
	failed bool
}

func (*judged) Helper()                     {}
func (*judged) Logf(string, ...any)         {}
func (j *judged) Errorf(string, ...any)     { j.failed = true }
func (j *judged) Fatalf(_ string, _ ...any) { j.failed = true }

func TestWhatIsAskedOfRingsCanFail(t *testing.T) {
	a, i := hirschbergSinclair, network.On(2, 1)
	right := Elect(t, a, simulate.Options{Setup: i}).Messages
	wrong := append([]uint64{right.ByKind[0] + 1}, right.ByKind[1:]...)
	silent := a
	silent.Receive = func(*candidate, election.Port, election.Kind, from, *election.Out[from]) {}
	ordered := func(uint64) network.Setup { return network.On(1) } // with one process nothing can overtake
	for _, ask := range []struct {
		what   string
		of     func(testing.TB)
		failed bool
	}{
		{"the right counts", func(t testing.TB) { Counts(t, a, 2, i, right.ByKind...) }, false},
		{"wrong counts", func(t testing.TB) { Counts(t, a, 2, i, wrong...) }, true},
		{"the election", func(t testing.TB) { Elect(t, a, simulate.Options{Setup: i}) }, false},
		{"that of the silent", func(t testing.TB) { Elect(t, silent, simulate.Options{Setup: i}) }, true},
		{"an election cut short", func(t testing.TB) { Elect(t, a, simulate.Options{Setup: i, Limit: 1}) }, true},
		{"extremes of the silent", func(t testing.TB) { Extremes(t, silent, 2, nil) }, true},
		{"what overtakes nothing", func(t testing.TB) { Overtaken(t, a, 5, ordered) }, true},
		{"the silent, overtaken", func(t testing.TB) { Overtaken(t, silent, 5, OfSizes(&a.Declaration, 2, 3)) }, false},
		{"a slip that is none", func(t testing.TB) { Found(t, "", a, verify.Options{Size: 2}, verify.Undecided) }, true},
		{"a slip", func(t testing.TB) { Found(t, "", silent, verify.Options{Size: 2}, verify.NoLeader) }, false},
		{"another slip", func(t testing.TB) { Found(t, "", silent, verify.Options{Size: 2}, verify.WrongLeader) }, true},
	} {
		var j judged
		ask.of(&j)
		if j.failed != ask.failed {
			t.Errorf("%s: failed: %t, want %t", ask.what, j.failed, ask.failed)
		}
	}
}

func TestExtremesSeeEveryOrder(t *testing.T) {
	seen := 0
	least, most := Extremes(t, hirschbergSinclair, 4, func([]uint64, *simulate.Result) { seen++ })
	if seen != 6 || least == 0 || least > most {
		t.Errorf("%d orders, from %d to %d messages", seen, least, most)
	}
}

func TestRandomRingsAreOrdersOf1ToN(t *testing.T) {
	for n := 1; n <= 20; n++ {
		ids := Random(t, n, 5)
		slices.Sort(ids)
		for p, id := range ids {
			if id != uint64(p+1) {
				t.Errorf("n=%d: %v", n, ids)
			}
		}
	}
}

func TestSizesComeInTurn(t *testing.T) {
	of := OfSizes(&hirschbergSinclair.Declaration, 2, 4)
	for seed, want := range []int{2, 3, 4, 2} {
		if got := of(uint64(seed)).IDs.Len(); got != want {
			t.Errorf("seed %d: %d processes, want %d", seed, got, want)
		}
	}
}
