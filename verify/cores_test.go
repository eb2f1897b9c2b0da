package verify

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
)

func TestMoreCoresThanASearchUsesChangeNothing(t *testing.T) {
	p := ringbully.Program.Hidden()
	var want string
	several := []int{1, 256, 257, maxCores}
	if testing.Short() { // for races: the others are alike
		several = []int{1, 16}
	}
	for _, cores := range several {
		r, err := Program(p, Options{Setup: network.On(4, 1, 3, 2), Starts: AnyTime, Cores: cores})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(text)
		}
		if string(text) != want {
			t.Errorf("%d cores: %s; want %s", cores, text, want)
		}
	}
	if _, err := Program(p, Options{Size: 3, Cores: maxCores + 1}); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "4097 cores are too many; at most 4096") {
		t.Error(err)
	}
}

// Workers share one order, or each takes another one, and nothing in the report depends on that.
func TestNothingDependsOnTheNumberOfCores(t *testing.T) {
	wrong := lcr.Algorithm // elects a wrong leader in some orders, after more or fewer steps
	wrong.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if kind == lcr.Election && m.ID < p.ID && m.ID%3 == 2 {
			out.Send(lcr.Right, lcr.Election, m)
			return
		}
		lcr.Algorithm.Receive(p, port, kind, m, out)
	}
	for name, test := range map[string]struct {
		program *process.Program
		o       Options
	}{
		"many orders":    {ringbully.Program.Hidden(), Options{Size: 4}},
		"one order":      {process.Must(process.Of(&lcr.Algorithm)), Options{Setup: network.On(7, 5, 6, 4, 3, 2, 1), Starts: Each}},
		"edges":          {bully.Program.Hidden(), Options{Size: 3, Crashes: 1}},
		"chance":         {itairodeh.Program.Hidden(), Options{Size: 3, MaxStates: 4_000}},
		"no order":       {process.Must(process.Of(&lcr.Algorithm)), Options{Setup: network.On(6, 5, 4, 3, 2, 1), Unordered: true, Starts: AnyTime, MaxStates: 4_000}},
		"wrong":          {process.Must(process.Of(&wrong)), Options{Size: 5}},
		"wrong, at once": {process.Must(process.Of(&wrong)), Options{Setup: network.On(7, 2, 6, 5, 4, 3, 1)}},
		"limit":          {process.Must(process.Of(&lcr.Algorithm)), Options{Size: 6, MaxStates: 300}},
	} {
		var want string
		for cores := 1; cores <= 3; cores++ {
			o := test.o
			o.Cores = cores
			r, err := Program(test.program, o)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			got := string(text)
			if cores == 1 {
				want = got
			} else if got != want {
				t.Errorf("%s: with %d cores %s; with one %s", name, cores, got, want)
			}
		}
		if violated := strings.HasPrefix(name, "wrong"); violated == strings.Contains(want, `"Violation":null`) {
			t.Errorf("%s: %s", name, want)
		}
	}
}
