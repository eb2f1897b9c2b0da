package worstcase

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/internal/study/worktest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
)

func entry(t *testing.T, name string) *catalogue.Entry {
	t.Helper()
	e, err := all.Algorithms.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func search(t *testing.T, o Options) Result {
	t.Helper()
	r, err := Climb(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheWorstOrdersAreFound(t *testing.T) {
	for n, most := range map[int]uint64{1: 1, 2: 3, 3: 6, 5: 15, 9: 45} { // n(n+1)/2, if identifiers decrease
		r := search(t, Options{Entry: entry(t, "lcr"), Size: n, Measure: Elections, Seed: 1, Tries: 4000})
		tries := map[int]int{1: 1, 2: 1, 3: 2, 5: 24, 9: 4000}[n] // all orders up to rotations of the ring, if there are enough tries
		if r.Cost != election.Units(most) || r.Tries != tries || r.Exact != (tries < 4000) {
			t.Errorf("LCR, n = %d: %s messages in %d tries, with %v; the worst case is %d", n, r.Cost, r.Tries, r.IDs, most)
		}
	}
}

// The vectors of S5's theorem 4.3 have up to 9 messages in a phase of a ring of 8, and the claim is fewer than 16.
func TestAPhaseOfStopAndGoCanHaveMoreThanOneMessageForEach(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	o := Options{
		Entry: entry(t, "stop-and-go-p1"), Size: 8, Parameters: map[string]string{"c": "3"}, Seed: 1, Tries: 15_000,
	}
	r := search(t, o)
	if r.Cost.Lo < 9 || r.Cost.Lo >= 16 {
		t.Errorf("the largest phase found has %s messages, with %+v", r.Cost, r.Input)
	}
	i := simulate.Options{Setup: network.On(r.IDs...), Wake: r.Wake}
	i.Setup.Unwilling, i.Setup.Parameters = r.Unwilling, o.Parameters
	again, err := o.Entry.Simulate(i)
	if err != nil {
		t.Fatal(err)
	}
	if again.ByPhase[r.Phase] != r.Cost.Lo || !again.Right {
		t.Errorf("what was found has phases %v when it is run again", again.ByPhase)
	}
}

// parts computes a search in pieces on that many cores.
func parts(t *testing.T, o Options, cores int) (s *Search, r Result) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	results, err := work.NewResults(s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := (work.Local{Cores: cores}).Run(t.Context(), work.Job{}, s, results, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := results.Joined()
	if err != nil {
		t.Fatal(err)
	}
	if r, err = s.Result(whole); err != nil {
		t.Fatal(err)
	}
	return s, r
}

func TestASearchDoesNotDependOnCores(t *testing.T) {
	for _, o := range []Options{
		{Entry: entry(t, "stop-and-go-p2"), Size: 9, Seed: 7, Tries: 3000},
		{Entry: entry(t, "ring-bully"), Size: 9, Seed: 7, Tries: 3000},
		{Entry: entry(t, "franklin"), Measure: Elections, Size: 7, Seed: 7, Tries: 6000},
	} {
		one := search(t, o)
		one.slope = 0 // results do not keep it
		if _, many := parts(t, o, 3); !reflect.DeepEqual(one, many) {
			t.Errorf("%s: %+v at once, %+v in pieces", o.Entry.Name, one, many)
		}
	}
}

func TestPiecesOfASearchInAnyOrderAreTheSameBytes(t *testing.T) {
	for _, o := range []Options{
		{Entry: entry(t, "stop-and-go-p2"), Size: 9, Seed: 7, Tries: 800},
		{Entry: entry(t, "franklin"), Measure: Elections, Size: 6, Seed: 7, Tries: 6000},
	} {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		worktest.Same(t, s, 1+s.Units()/3, 10)
	}
}

// deadline is a context that is done after some questions whether it is.
type deadline struct {
	context.Context
	left int
}

func (d *deadline) Err() error {
	if d.left--; d.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestASearchThatIsStoppedShowsWhatItHasFound(t *testing.T) {
	s, err := New(Options{Entry: entry(t, "lcr"), Size: 64, Measure: Elections, Seed: 1, Tries: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compute(&deadline{t.Context(), 1000}, work.Piece{From: 0, To: 1}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if r, err := s.Result(); err != nil || r.Tries != 1000 || r.IDs == nil || s.Tried(nil) != 1000 {
		t.Errorf("stopped with %+v, %v", r, err)
	}
}

// Workers have tried what their results have, though this process has run none of it.
func TestWhatOthersHaveTriedCounts(t *testing.T) {
	options := Options{Entry: entry(t, "lcr"), Size: 16, Measure: Elections, Seed: 1, Tries: 160}
	worker, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	result, err := worker.Compute(t.Context(), work.Piece{From: 0, To: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Tried([][]byte{result}); got != 40 {
		t.Errorf("%d inputs, want 40 of two climbs", got)
	}
}

func TestThereIsNothingToSearchFor(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Options)
	}{
		{"bully", func(*Options) {}},
		{"itai-rodeh", func(*Options) {}},
		{"lcr", func(o *Options) { o.Measure = Phase }},
		{"lcr", func(o *Options) { o.Size = 0 }},
		{"lcr", func(o *Options) { o.Size = 1 << 20 }},
		{"lcr", func(o *Options) { o.Tries = 0 }},
	} {
		o := Options{Entry: entry(t, c.name), Size: 4, Measure: Total, Seed: 1, Tries: 10}
		c.change(&o)
		if _, err := Climb(t.Context(), o); !errors.Is(err, ErrSearch) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The maximum on a two-way ring is that of the most expensive order, whether or not messages depend on the schedule.
func TestAnExactWorstCaseIsThatOfAllOrders(t *testing.T) {
	for _, name := range []string{"ring-bully", "franklin", "peterson", "hirschberg-sinclair"} {
		e := entry(t, name)
		r := search(t, Options{Entry: e, Size: 6, Measure: Elections, Seed: 1, Tries: 720})
		most := uint64(0)
		ids := []uint64{6, 5, 4, 3, 2, 1}
		for more := true; more; more = order.Next(ids) {
			run, err := e.Simulate(simulate.Options{Setup: network.On(ids...)})
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, run.Messages.Election)
		}
		if !r.Exact || r.Cost != election.Units(most) {
			t.Errorf("%s: %s, exact %v; all orders cost %d at most", name, r.Cost, r.Exact, most)
		}
	}
}

// Of LCR on random ranks, an order costs what its one draw costs: another draw may cost more.
func TestWhatIsFoundWithRandomChoicesIsNoExactWorstCase(t *testing.T) {
	a := lcr.Algorithm
	a.Name = "lcr-on-random-ranks"
	start := a.Start
	a.Start = func(p *lcr.Process, out *election.Out[lcr.Message]) {
		out.Choose(2)
		start(p, out)
	}
	random := catalogue.Of(simulate.Must(simulate.OfSmall(&a)), nil)
	for name, e := range map[string]*catalogue.Entry{"lcr": entry(t, "lcr"), a.Name: &random} {
		r := search(t, Options{Entry: e, Size: 5, Measure: Elections, Seed: 1, Tries: 24})
		if exact := name == "lcr"; !r.Orders || r.Exact != exact {
			t.Errorf("%s: all orders %v, exact %v; want exact %v", name, r.Orders, r.Exact, exact)
		}
	}
}
