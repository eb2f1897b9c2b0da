package electiontest

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
)

// Setbacks lets several processes crash, some of them during a step that sends, some while others are down, and all
// recover. Then the right process must lead. It is for algorithms that survive recoveries.
func Setbacks[S, M any](t *testing.T, a election.Algorithm[S, M], parameters map[string]string) {
	t.Helper()
	setbacks(t, small(t, a), parameters)
}

func setbacks(t *testing.T, p program.Program, parameters map[string]string) {
	t.Helper()
	d, simulator, hurt := p.Declared(), simulate.New(p), 0
	for seed := range uint64(1000) {
		source := random.New(seed, random.Choices)
		n := 1 + int(source.Below(7))
		o := simulate.Options{Setup: Setup(d, n, seed), Timing: election.Timed, Delay: 5, Seed: seed}
		o.Setup.Parameters = parameters
		for p := range n {
			if source.Below(3) > 0 {
				continue
			}
			down := source.Below(30)
			o.Faults.Crashes = append(o.Faults.Crashes, faults.Crash{
				Process: p, At: election.Units(down), Amid: source.Below(2) == 1, Sends: int(source.Below(uint64(n))),
			})
			o.Faults.Recoveries = append(o.Faults.Recoveries, faults.Recovery{Process: p, At: election.Units(down + 1 + source.Below(30))})
		}
		if len(o.Faults.Crashes) > 1 {
			hurt++
		}
		r, err := simulator.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Right || r.Live != n || !r.Complete {
			t.Fatalf("%s %v, seed %d: %d of %d live, leaders at %v, %d decided, right %v; %v",
				d.Name, parameters, seed, r.Live, n, r.Leaders, r.Decided, r.Right, r.Faults)
		}
	}
	if hurt == 0 {
		t.Error("no run had several crashes")
	}
}
