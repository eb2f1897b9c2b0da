package verify

import (
	"runtime"
	"runtime/debug"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/network"
)

// decreasing returns the ring with the most messages.
func decreasing(n int) (setup network.Setup) {
	ids := (&Options{Size: n}).rising()
	for p := range ids {
		ids[p] = uint64(n - p)
	}
	setup.IDs = ids
	return setup
}

func TestFingerprintsBecomeShorterWhereThereAreManyStates(t *testing.T) {
	for _, test := range []struct {
		wide  int
		exact bool
		bits  int
	}{{0, false, 128}, {1429 + 1, false, 64}, {1429 + 1, true, 128}, {1444 - 1, false, 64}, {1444, false, 128}} {
		o := Options{Setup: decreasing(7), Exact: test.exact, wide: test.wide}
		r, err := Run(lcr.Algorithm, o)
		if err != nil || r.Bits != test.bits || !r.Complete || r.States != 1444 {
			t.Errorf("%+v: %d bits, %d states, %v", test, r.Bits, r.States, err)
		}
		if least := float64(r.States) * float64(r.States) / 1e20; (r.Miss > least) != (test.bits == 64) {
			t.Errorf("%+v: the probability of a miss is at most %g", test, r.Miss)
		}
	}
}

func TestAReportNamesTheLimitThatWasReached(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want Limit
	}{
		{Options{Setup: decreasing(7)}, NoLimit},
		{Options{Setup: decreasing(7), MaxStates: 100}, StateLimit},
		{Options{Setup: decreasing(7), MaxStates: 1443}, StateLimit},
		{Options{Setup: decreasing(7), MaxStates: 1444}, NoLimit},
		{Options{Setup: decreasing(3), Starts: EverySet, MaxStates: 3}, StateLimit},
	} {
		r, err := Run(lcr.Algorithm, test.o)
		if err != nil || r.Limit != test.want || r.Complete != (test.want == NoLimit) || test.o.MaxStates > 0 && r.States > test.o.MaxStates {
			t.Errorf("%+v: %d after %d states, %v", test.o, r.Limit, r.States, err)
		}
	}
}

// To spare garbage takes time in a program that has much else in memory.
func TestGarbageIsSparedWhereMemoryIsShort(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	others := make([]byte, 160<<20)
	for i := 0; i < len(others); i += 1 << 12 {
		others[i] = 1 // the system gives memory to what is written
	}
	for limit, spares := range map[uint64]bool{512 << 20: true, DefaultMemory: false} {
		usual, inside := percent(), 0
		o := Options{Setup: decreasing(9), Starts: AnyTime, Memory: limit, MaxStates: 20_000, Progress: func(Progress) bool {
			inside = percent()
			return true
		}}
		if _, err := Run(lcr.Algorithm, o); err != nil {
			t.Fatal(err)
		}
		if inside == 0 || (inside != usual) != spares || percent() != usual {
			t.Errorf("with a limit of %d bytes the collector leaves %d %% of garbage, then %d %%, and %d %% before", limit, inside, percent(), usual)
		}
	}
	runtime.KeepAlive(others)
}

// percent returns the garbage that the collector leaves.
func percent() int {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}
