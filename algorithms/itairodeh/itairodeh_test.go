package itairodeh_test

import (
	"math"
	"testing"

	"ringleader.example/ringleader/algorithms/itairodeh"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type (
	algorithm = election.Algorithm[itairodeh.Process, itairodeh.Message]
	process   = itairodeh.Process
	message   = itairodeh.Message
	out       = election.Out[message]
)

// Rounds are unbounded, so the checker would not end; see the two tests that follow.
func TestConformance(t *testing.T) {
	electiontest.Conform(t, itairodeh.Algorithm, electiontest.Options{
		Verify: -1, Parameters: electiontest.Settings(&itairodeh.Algorithm.Declaration),
	})
}

// before returns the algorithm with a function that sees each token first; false loses the token.
func before(look func(*process, *message) bool) algorithm {
	a := itairodeh.Algorithm
	a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *out) {
		if kind == itairodeh.Leader || look(p, &m) {
			itairodeh.Algorithm.Receive(p, port, kind, m, out)
		}
	}
	return a
}

// again reports whether a process is about to choose again.
func again(p *process, m *message) bool {
	return p.Round > 0 && m.Round == p.Round && m.Hop == p.N && !m.Unique
}

func check(t *testing.T, a algorithm, o verify.Options) *verify.Report {
	t.Helper()
	report, err := verify.Run(a, o)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Complete {
		t.Fatalf("not finished after %d states", report.States)
	}
	return report
}

// A process that would enter a round beyond the last gives up, so that the checker ends: no schedule and no choices
// of the first rounds elect two processes, or one that is not followed.
func TestFirstRoundsAreSafeUnderEveryScheduleAndChoice(t *testing.T) {
	for _, c := range []struct {
		n         int
		rounds    uint32
		unordered bool
	}{{1, 1, true}, {2, 4, false}, {2, 4, true}, {3, 3, false}, {3, 2, true}, {4, 1, false}} {
		a := before(func(p *process, m *message) bool { return !again(p, m) || p.Round < c.rounds })
		report := check(t, a, verify.Options{Size: c.n, Starts: verify.AnyTime, Unordered: c.unordered, SafetyOnly: true})
		if v := report.Violation; v != nil {
			t.Errorf("n=%d, %d rounds, overtaking %v: %s: %s", c.n, c.rounds, c.unordered, v.Property, v.Detail)
		}
		t.Logf("n=%d, %d rounds, overtaking %v: %d states", c.n, c.rounds, c.unordered, report.States)
	}
}

// Fokkink and Pang: with FIFO links round numbers are not needed. Then there are finitely many states, and all are
// checked: an election can always end, with one leader.
func TestRoundNumbersAreNeededIfAndOnlyIfMessagesOvertake(t *testing.T) {
	without := before(func(p *process, m *message) bool {
		if again(p, m) {
			p.Round = 0
		}
		return true
	})
	for n := 1; n <= 3; n++ {
		if v := check(t, without, verify.Options{Size: n, Starts: verify.AnyTime}).Violation; v != nil {
			t.Errorf("n=%d, in order: %s: %s", n, v.Property, v.Detail)
		}
	}
	if check(t, without, verify.Options{Size: 3, Starts: verify.AnyTime, Unordered: true}).Violation == nil {
		t.Error("n=3: nothing breaks without round numbers")
	}
}

func run(t *testing.T, n int, o simulate.Options) *simulate.Result {
	t.Helper()
	o.Setup.IDs = make(election.List, n)
	o.Schedule = simulate.Random
	o.Limit = 100_000
	r := electiontest.Run(t, itairodeh.Algorithm, o)
	if !r.Right || len(r.Faults) > 0 || r.Messages.Announcement != uint64(n) {
		t.Fatalf("n=%d, seed %d: leaders at %v, %d of %d decided, %v", n, o.Seed, r.Leaders, r.Decided, r.Live, r.Faults)
	}
	return r
}

func TestNothingBreaksIn10000RunsWithoutOrder(t *testing.T) {
	for seed := range uint64(10_000) {
		run(t, 2+int(seed%7), simulate.Options{Seed: seed, Faults: faults.Script{Unordered: true}, AnyTime: seed%2 == 0})
	}
}

// mean returns the mean of samples and its standard error.
func mean(samples []float64) (average, deviation float64) {
	for _, x := range samples {
		average += x / float64(len(samples))
	}
	for _, x := range samples {
		deviation += (x - average) * (x - average)
	}
	return average, math.Sqrt(deviation) / float64(len(samples))
}

func TestMeansAreAsMeasuredAndTheFirstRoundDecidesAsOftenAsItMust(t *testing.T) {
	const runs, theirs, sigmas = 8000, 2000, 3.5
	both := math.Sqrt(1 + runs/theirs) // the error of a difference, in units of ours
	for _, c := range []struct {
		n                int
		messages, rounds float64 // the means of 2000 independent runs, without the announcement
	}{{2, 7.1, 2.03}, {3, 10.0, 1.67}, {4, 13.9, 1.58}, {5, 18.6, 1.59}, {8, 32.6, 1.51}, {16, 75.4, 1.48}, {32, 170.6, 1.44}} {
		var messages, rounds [runs]float64
		first := 0.0
		for seed := range uint64(runs) {
			r := run(t, c.n, simulate.Options{Seed: seed})
			messages[seed], rounds[seed] = float64(r.Messages.Election), float64(len(r.ByPhase)-1)
			if rounds[seed] == 1 {
				first++
			}
		}
		// They are given to one digit and to two.
		got, e := mean(messages[:])
		if math.Abs(got-c.messages) > sigmas*both*e+0.05 {
			t.Errorf("n=%d: %.2f ± %.2f messages, want %.1f", c.n, got, e, c.messages)
		}
		gotRounds, eRounds := mean(rounds[:])
		if math.Abs(gotRounds-c.rounds) > sigmas*both*eRounds+0.005 {
			t.Errorf("n=%d: %.3f ± %.3f rounds, want %.2f", c.n, gotRounds, eRounds, c.rounds)
		}
		// The exact values for n = 2: a round fails with probability 1/2, for 4 messages, and decides for 3.
		if c.n == 2 && (math.Abs(got-7) > sigmas*e || math.Abs(gotRounds-2) > sigmas*eRounds) {
			t.Errorf("n=2: %.2f ± %.2f messages in %.3f ± %.3f rounds, want 7 in 2", got, e, gotRounds, eRounds)
		}
		unique := 0.0 // the probability that the greatest of n choices is unique: (1/n)·n·Σ ((k-1)/n)^(n-1)
		for k := range c.n {
			unique += math.Pow(float64(k)/float64(c.n), float64(c.n-1))
		}
		if e := math.Sqrt(unique * (1 - unique) / runs); math.Abs(first/runs-unique) > sigmas*e {
			t.Errorf("n=%d: the first round decides in %.4f ± %.4f of all runs, want %.4f", c.n, first/runs, e, unique)
		}
		t.Logf("n=%d: %.2f ± %.2f messages, %.3f rounds, the first decides %.4f of %.4f", c.n, got, e, gotRounds, first/runs, unique)
	}
}

func TestTheTokenOfOneProcessReturnsAtOnce(t *testing.T) {
	if r := run(t, 1, simulate.Options{}); r.Messages.Election != 1 {
		t.Errorf("%d messages, want 1", r.Messages.Election)
	}
}

// size returns the algorithm with a wrong n.
func size(change int) algorithm {
	a := itairodeh.Algorithm
	a.New = func(l election.Local) process {
		l.N += change
		return itairodeh.New(l)
	}
	return a
}

// A bound on n is not enough: the process of the greatest choice meets its own token, and takes it for another's.
func TestATooLargeNNeverElects(t *testing.T) {
	for n := 2; n <= 6; n++ {
		for seed := range uint64(20) {
			r := electiontest.Run(t, size(1), simulate.Options{Setup: network.Setup{IDs: make(election.List, n)}, Schedule: simulate.Random, Seed: seed, Limit: 2000})
			if r.Right {
				t.Errorf("n=%d, seed %d: it elects, though n is taken for one more", n, seed)
			}
		}
	}
}

func TestBrokenRulesAreFound(t *testing.T) {
	relaying := itairodeh.Algorithm
	relaying.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *out) {
		if kind == itairodeh.Token && p.Round == 0 {
			m.Hop++
			out.Send(itairodeh.Right, kind, m)
			return
		}
		itairodeh.Algorithm.Receive(p, port, kind, m, out)
	}
	for name, mutant := range map[string]struct {
		property string
		a        algorithm
	}{
		"n is taken for one less": {verify.TwoLeaders, size(-1)},
		"sleepers relay":          {verify.Irrevocable, relaying},
		"equals go unnoticed": {verify.TwoLeaders, before(func(_ *process, m *message) bool {
			m.Unique = true
			return true
		})},
	} {
		report, err := verify.Run(mutant.a, verify.Options{Size: 2, Starts: verify.AnyTime, MaxStates: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		if v := report.Violation; v == nil {
			t.Errorf("%s: not found in %d states", name, report.States)
		} else if v.Property != mutant.property {
			t.Errorf("%s: found %s: %s; want %s", name, v.Property, v.Detail, mutant.property)
		}
	}
}
