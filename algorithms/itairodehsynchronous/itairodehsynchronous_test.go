package itairodehsynchronous_test

import (
	"math"
	"testing"

	"ringleader.example/ringleader/algorithms/itairodehsynchronous"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type (
	algorithm = election.Algorithm[itairodehsynchronous.Process, itairodehsynchronous.Message]
	process   = itairodehsynchronous.Process
	message   = itairodehsynchronous.Message
	out       = election.Out[message]
)

// Phases have no number, so there are finitely many states, and the checker takes every choice: one process is
// elected, or can be.
func TestConformance(t *testing.T) {
	electiontest.Conform(t, itairodehsynchronous.Algorithm, electiontest.Options{Verify: 5})
}

func run(t *testing.T, n int, seed uint64) *simulate.Result {
	t.Helper()
	o := simulate.Options{Setup: network.Setup{IDs: make(election.List, n)}, Seed: seed, Limit: 1_000_000}
	return electiontest.Elect(t, itairodehsynchronous.Algorithm, o)
}

// means are the exact values of M(n), computed from its recurrence.
var means = map[uint64]float64{
	1: 0, 2: 2, 3: 2.166667, 4: 2.241379, 5: 2.284045, 8: 2.345416, 16: 2.394425, 32: 2.418274, 64: 2.430044, 100: 2.434257, 300: 2.439234,
}

func TestMeanPhases(t *testing.T) {
	for n, want := range means {
		if got := itairodehsynchronous.MeanPhases(n); math.Abs(got-want) > 5e-7 {
			t.Errorf("M(%d) = %.7f, want %.6f", n, got, want)
		}
	}
	if got := itairodehsynchronous.MeanPhases(1 << 40); math.Abs(got-2.441716) > 1e-6 { // Lavault and Louchard
		t.Errorf("M(2^40) = %.7f", got)
	}
}

// In the runs of these seeds, the mean numbers of phases and messages are within 4 standard errors of M(n) and
// n·M(n).
func TestPhasesAndMessagesAreAsManyAsExpected(t *testing.T) {
	const runs = 4000
	for n := range means {
		if n > 64 {
			continue
		}
		var phases, messages sample
		for seed := range uint64(runs) {
			r := run(t, int(n), seed)
			phases.add(float64(r.Time.Decided.Lo) / float64(n))
			messages.add(float64(r.Messages.Election) / float64(n))
			if r.Messages.Announcement != 0 || r.Time.Elected != r.Time.Decided || r.Time.Elected.Lo%n != 0 {
				t.Fatalf("n=%d, seed %d: %+v, %+v", n, seed, r.Messages, r.Time)
			}
		}
		want := itairodehsynchronous.MeanPhases(n)
		for name, s := range map[string]*sample{"phases": &phases, "messages/n": &messages} {
			if mean, deviation := s.mean(); math.Abs(mean-want) > 4*deviation {
				t.Errorf("n=%d: %.4f ± %.4f %s on average, expected %.4f", n, mean, deviation, name, want)
			}
		}
	}
}

// sample sums values and their squares.
type sample struct{ count, sum, squares float64 }

func (s *sample) add(x float64) { s.count, s.sum, s.squares = s.count+1, s.sum+x, s.squares+x*x }

// mean returns the mean and its standard error.
func (s *sample) mean() (mean, deviation float64) {
	mean = s.sum / s.count
	return mean, math.Sqrt((s.squares/s.count - mean*mean) / s.count)
}

// A process that does not count in full may take one of several candidates for the only one.
func TestMutantsAreFound(t *testing.T) {
	short := itairodehsynchronous.Algorithm
	short.New = func(l election.Local) process {
		p := itairodehsynchronous.New(l)
		p.N--
		return p
	}
	for name, mutant := range map[string]algorithm{
		"phases of n - 1 units": short,
		"messages that end a link too early": counting(func(p *process, m message, out *out) {
			if m.Hop == p.N-1 {
				m.Hop = p.N
			}
			p.Receive(1, itairodehsynchronous.Candidate, m, out)
		}),
		"a phase without candidates that ends the election": with(func(p *process, timer election.Timer, out *out) {
			if p.Count == 0 {
				out.Follow(0, 0)
				return
			}
			p.Timeout(timer, out)
		}),
	} {
		broken := false
		for n := 2; n <= 3 && !broken; n++ {
			report, err := verify.Run(mutant, verify.Options{Size: n})
			if err != nil {
				t.Fatal(err)
			}
			broken = report.Violation != nil
		}
		if !broken {
			t.Errorf("%s: nothing breaks", name)
		}
	}
}

func counting(receive func(*process, message, *out)) algorithm {
	a := itairodehsynchronous.Algorithm
	a.Receive = func(p *process, _ election.Port, _ election.Kind, m message, out *out) { receive(p, m, out) }
	return a
}

func with(timeout func(*process, election.Timer, *out)) algorithm {
	a := itairodehsynchronous.Algorithm
	a.Timeout = timeout
	return a
}
