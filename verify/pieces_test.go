package verify

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
)

// wrongLCR elects a wrong leader in some orders, after more or fewer steps.
func wrongLCR() *process.Program {
	wrong := lcr.Algorithm
	wrong.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if kind == lcr.Election && m.ID < p.ID && m.ID%3 == 2 {
			out.Send(lcr.Right, lcr.Election, m)
			return
		}
		lcr.Algorithm.Receive(p, port, kind, m, out)
	}
	return process.Must(process.Of(&wrong))
}

// throughJSON returns a part as another process reads it.
func throughJSON(t *testing.T, p *Part) *Part {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	read := &Part{}
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	return read
}

// Any cuts of the orders, joined in any grouping, give the report of the whole exploration.
func TestOrdersThatAreExploredInPiecesHaveTheSameReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	good, two := process.Must(process.Of(&lcr.Algorithm)), ringbully.Program.Hidden()
	unoriented := franklin.Program.Hidden()
	for name, test := range map[string]struct {
		program *process.Program
		o       Options
	}{
		"all schedules":   {good, Options{Size: 5}},
		"rotations":       {good, Options{Size: 4, Rotations: true}},
		"confluence":      {good, Options{Size: 6, Reduce: AnyReduction}},
		"extremes":        {two, Options{Size: 4, Extremes: true, Reduce: AnyReduction}},
		"all extremes":    {good, Options{Size: 5, Extremes: true}},
		"orientations":    {unoriented, Options{Size: 3, Orientations: true}},
		"mirror images":   {unoriented, Options{Size: 4, Orientations: true, Reduce: Symmetry}},
		"one order":       {bully.Program.Hidden(), Options{Size: 3, Crashes: 1}},
		"given order":     {good, Options{Setup: network.On(3, 1, 2)}},
		"wrong":           {wrongLCR(), Options{Size: 5}},
		"wrong, extremes": {wrongLCR(), Options{Size: 5, Extremes: true}},
		"limit":           {good, Options{Size: 6, MaxStates: 300}},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Cores = 2
			want, err := Program(test.program, test.o)
			if err != nil {
				t.Fatal(err)
			}
			x, err := NewOrders(test.program, test.o)
			if err != nil {
				t.Fatal(err)
			}
			whole := ""
			for seed := range uint64(3) {
				random, sum := rand.New(rand.NewPCG(seed, 1)), &Part{}
				for from := uint64(0); from < x.Len(); {
					to := min(x.Len(), from+1+random.Uint64N(max(1, x.Len()/3)))
					p, err := x.Explore(t.Context(), from, to)
					if err != nil {
						t.Fatal(err)
					}
					sum.Join(throughJSON(t, p))
					sum, from = throughJSON(t, sum), to
				}
				if text, _ := json.Marshal(sum); whole == "" {
					whole = string(text)
				} else if whole != string(text) {
					t.Fatalf("seed %d: %s\nwant %s", seed, text, whole)
				}
				got, err := x.Report(sum)
				if err != nil {
					t.Fatal(err)
				}
				a, _ := json.Marshal(want)
				if b, _ := json.Marshal(got); string(a) != string(b) {
					t.Fatalf("seed %d: %s\nwant %s", seed, b, a)
				}
			}
			if stops := strings.Contains(whole, `"stop"`); stops != (want.Violation != nil || !want.Complete) {
				t.Errorf("%s", whole)
			}
		})
	}
}

func TestAnExplorationInPiecesEndsWithItsContext(t *testing.T) {
	x, err := NewOrders(process.Must(process.Of(&lcr.Algorithm)), Options{Size: 8})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if p, err := x.Explore(ctx, 0, x.Len()); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", p, err)
	}
}
