package worstcase

import (
	"errors"
	"reflect"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
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
		Entry: entry(t, "stop-and-go-p1"), Size: 8, Parameters: map[string]string{"c": "3"}, Seed: 1, Tries: 60_000, Cores: 2,
	}
	r := search(t, o)
	if r.Cost.Lo < 9 || r.Cost.Lo >= 16 {
		t.Errorf("the largest phase found has %s messages, with %+v", r.Cost, r.Input)
	}
	i := simulate.Options{Instance: network.On(r.IDs...), Wake: r.Wake}
	i.Instance.Unwilling, i.Instance.Parameters = r.Unwilling, o.Parameters
	again, err := o.Entry.Simulate(i)
	if err != nil {
		t.Fatal(err)
	}
	if again.ByPhase[r.Phase] != r.Cost.Lo || !again.Right {
		t.Errorf("what was found has phases %v when it is run again", again.ByPhase)
	}
}

func TestASearchDoesNotDependOnCores(t *testing.T) {
	for _, name := range []string{"stop-and-go-p2", "ring-bully"} {
		o := Options{Entry: entry(t, name), Size: 9, Seed: 7, Tries: 3000, Cores: 1}
		one := search(t, o)
		o.Cores = 3
		if many := search(t, o); !reflect.DeepEqual(one, many) {
			t.Errorf("%s: %+v with one core, %+v with three", name, one, many)
		}
		if one.Tries != 3000 {
			t.Errorf("%s: %d tries", name, one.Tries)
		}
	}
}

func TestASearchCanBeStopped(t *testing.T) {
	o := Options{Entry: entry(t, "lcr"), Size: 64, Measure: Elections, Seed: 1, Tries: 1 << 40, Progress: func(tries int) bool { return tries < 1000 }}
	if r := search(t, o); r.Tries < 1000 || r.IDs == nil {
		t.Errorf("stopped with %+v", r)
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
		for more := true; more; more = next(ids) {
			run, err := e.Simulate(simulate.Options{Instance: network.On(ids...)})
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

func TestNextListsEveryOrderOnce(t *testing.T) {
	ids, seen := []uint64{4, 3, 2, 1}, map[[4]uint64]bool{}
	for more := true; more; more = next(ids) {
		seen[[4]uint64(ids)] = true
	}
	if len(seen) != 24 {
		t.Errorf("%d orders of 4", len(seen))
	}
}
