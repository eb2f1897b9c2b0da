package verify_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/itairodehsynchronous"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	synchronous "ringleader.example/ringleader/internal/runners/itairodehsynchronous"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/verify"
)

// hidden hides the types of an algorithm.
func hidden[S, M any](a election.Algorithm[S, M]) program.Program {
	return program.Must(program.Of(&a))
}

func chances(t *testing.T, a program.Program, o verify.Options, parameters ...string) (*verify.Chances, error) {
	t.Helper()
	o.Setup.Parameters = map[string]string{}
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		o.Setup.Parameters[name] = value
	}
	return verify.Probabilities(a, o)
}

func exactly(t *testing.T, what string, r verify.Range, want string) {
	t.Helper()
	for _, got := range []*big.Rat{r.Least, r.Most} {
		if got == nil || got.RatString() != want {
			t.Errorf("%s: %v, want %s", what, got, want)
		}
	}
}

// unique returns the probability that some of k values is chosen by just one of n processes, by enumeration.
func unique(n, k int) *big.Rat {
	chosen, good, all := make([]int, n), int64(0), int64(0)
	for {
		count := make([]int, k)
		for _, c := range chosen {
			count[c]++
		}
		all++
		for _, c := range count {
			if c == 1 {
				good++
				break
			}
		}
		at := 0
		for at < n && chosen[at] == k-1 {
			chosen[at] = 0
			at++
		}
		if at == n {
			return big.NewRat(good, all)
		}
		chosen[at]++
	}
}

// PRISM's case study has 16/5 rounds for 5 processes and 2 values.
func TestRoundsOfTheSynchronousProtocolAreTheInverseOfTheProbabilityOfAUniqueValue(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, c := range []struct{ n, k int }{{2, 2}, {3, 2}, {3, 3}, {3, 4}, {4, 2}, {4, 3}, {5, 2}} {
		got, err := chances(t, synchronous.Program, verify.Options{Size: c.n}, "choices="+big.NewInt(int64(c.k)).String())
		if err != nil {
			t.Fatal(err)
		}
		p := unique(c.n, c.k)
		if p.Sign() == 0 { // no value can be unique: n = 2 of one value
			t.Fatalf("n=%d, K=%d: never unique", c.n, c.k)
		}
		rounds := new(big.Rat).Inv(p)
		exactly(t, "rounds", got.Rounds, rounds.RatString())
		exactly(t, "time", got.Time, new(big.Rat).Mul(rounds, big.NewRat(int64(c.n), 1)).RatString())
		exactly(t, "messages", got.Total, new(big.Rat).Mul(rounds, big.NewRat(int64(c.n*c.n), 1)).RatString())
		exactly(t, "ends", got.Ends, "1")
		if c.n == 5 && rounds.RatString() != "16/5" {
			t.Errorf("%s rounds, want 16/5", rounds.RatString())
		}
	}
}

// With c of a candidates, M(a) = 1 + Σ P(c)·M(c), where c = 0 leaves a as it is.
func TestPhasesOfCandidatesAreThoseOfTheRecurrence(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	want := []string{"", "", "2", "13/6", "65/29"}
	for n := 2; n < len(want); n++ {
		got, err := chances(t, synchronous.Program, verify.Options{Size: n})
		if err != nil {
			t.Fatal(err)
		}
		phases, _ := new(big.Rat).SetString(want[n])
		mean, _ := phases.Float64()
		if exact := itairodehsynchronous.MeanPhases(uint64(n)); exact-mean > 1e-9 || mean-exact > 1e-9 {
			t.Errorf("M(%d) = %s = %.9f, and the recurrence gives %.9f", n, want[n], mean, exact)
		}
		exactly(t, "time", got.Time, phases.Mul(phases, big.NewRat(int64(n), 1)).RatString())
	}
}

// Asynchronous, two processes: a round fails with probability 1/2, for 4 messages, and decides for 3; the
// announcement takes 2.
func TestAsynchronousRoundsOfTwo(t *testing.T) {
	got, err := chances(t, itairodeh.Program, verify.Options{Size: 2}, "rounds=unnumbered")
	if err != nil {
		t.Fatal(err)
	}
	exactly(t, "rounds", got.Rounds, "2")
	exactly(t, "election messages", got.Election, "7")
	exactly(t, "announcement", got.Announced, "2")
}

// On a one-directional ring the schedule does not matter: one schedule, and the least and the greatest of all, agree.
func TestOneScheduleHasTheMeansOfAll(t *testing.T) {
	for _, k := range []string{"2", "3"} {
		one, err := chances(t, itairodeh.Program, verify.Options{Size: 3}, "rounds=unnumbered", "choices="+k)
		if err != nil {
			t.Fatal(err)
		}
		all, err := verify.EverySchedule(itairodeh.Program.Hidden(), verify.Options{
			Size: 3, Setup: network.Setup{Parameters: map[string]string{"rounds": "unnumbered", "choices": k}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !one.OneSchedule || all.OneSchedule || one.States >= all.States {
			t.Errorf("%d and %d states", one.States, all.States)
		}
		exactly(t, "all schedules", all.Election, one.Election.Least.RatString())
		exactly(t, "one schedule", one.Election, one.Election.Most.RatString())
	}
}

// Without random choices the least and the greatest are the extremes over all orders and schedules.
func TestRangesWithoutChoicesAreTheExtremes(t *testing.T) {
	for n := 1; n <= 3; n++ {
		report, err := verify.Program(ringbully.Program, verify.Options{Size: n})
		if err != nil {
			t.Fatal(err)
		}
		got, err := chances(t, ringbully.Program, verify.Options{Size: n})
		if err != nil {
			t.Fatal(err)
		}
		least, most := new(big.Rat).SetUint64(report.MinMessages.Total), new(big.Rat).SetUint64(report.MaxMessages.Total)
		if got.Total.Least.Cmp(least) != 0 || got.Total.Most.Cmp(most) != 0 {
			t.Errorf("n=%d: %v, want %s to %s", n, got.Total, least, most)
		}
	}
}

// A single value is never unique.
func TestAnElectionThatCannotEndHasProbability0(t *testing.T) {
	got, err := chances(t, synchronous.Program, verify.Options{Size: 3}, "choices=1")
	if err != nil {
		t.Fatal(err)
	}
	exactly(t, "ends", got.Ends, "0")
	if got.Total.Least != nil || got.Rounds.Most != nil {
		t.Errorf("means of an endless election: %+v", got)
	}
}

func TestProbabilitiesAreOfCorrectRunsWithoutFaults(t *testing.T) {
	if _, err := chances(t, hidden(lcr.Algorithm), verify.Options{Size: 3, Crashes: 1}); !errors.Is(err, verify.ErrOptions) {
		t.Errorf("with a crash: %v", err)
	}
	if _, err := chances(t, hidden(lcr.Algorithm), verify.Options{Setup: network.Setup{IDs: election.List{2, 2}, Duplicates: true}}); !errors.Is(err, verify.ErrOptions) {
		t.Errorf("of a wrong algorithm: %v", err)
	}
	if _, err := chances(t, itairodeh.Program, verify.Options{Size: 3, MaxStates: 1000}); !errors.Is(err, verify.ErrLimit) {
		t.Errorf("with rounds without end: %v", err)
	}
	unlikely := lcr.Algorithm
	unlikely.Start = func(p *lcr.Process, out *election.Out[lcr.Message]) {
		for range 41 { // 3^41 is more than 2^64
			if out.Choose(3) < 2 {
				break
			}
		}
		p.Start(out)
	}
	if _, err := chances(t, hidden(unlikely), verify.Options{Size: 1}); !errors.Is(err, verify.ErrOptions) || !strings.Contains(err.Error(), "more than 2^64 vectors") {
		t.Errorf("with a step of very many vectors: %v", err)
	}
}
