package catalogue_test

import (
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
)

func TestConformance(t *testing.T) {
	var tested []string
	conform(t, &tested, ringbully.Algorithm, electiontest.Options{Verify: 4})
	conform(t, &tested, lcr.Algorithm, electiontest.Options{Verify: 4, Parameters: []map[string]string{
		{"flag": "literal"}, {"flag": "textbook"},
	}})
	conform(t, &tested, bully.Algorithm, electiontest.Options{Parameters: []map[string]string{
		nil, {"victory": "lower"}, // delay 2 is checked by the algorithm's own test
	}})
	if !slices.Equal(tested, catalogue.Names()) {
		t.Errorf("conformance runs over %v; the catalogue has %v", tested, catalogue.Names())
	}
}

func conform[S, M any](t *testing.T, tested *[]string, a election.Algorithm[S, M], o electiontest.Options) {
	*tested = append(*tested, a.Name)
	t.Run(a.Name, func(t *testing.T) {
		electiontest.Conform(t, a, o)
		if size := reflect.TypeFor[S]().Size(); a.Topology == election.Ring && size > 16 {
			t.Errorf("a state takes %d bytes; on a ring at most 16, or large rings do not fit into caches", size)
		}
		if a.Title == "" || a.Source == "" || a.About == "" || a.Year == 0 {
			t.Error("the catalogue wants a title, a year, a source and a description")
		}
	})
}

func TestCountEqualsSimulation(t *testing.T) {
	for _, e := range catalogue.All {
		if e.Count == nil {
			continue
		}
		for n := 1; n <= 64; n++ {
			ring, err := order.Random(n, uint64(n))
			if err != nil {
				t.Fatal(err)
			}
			set, err := e.Set(nil)
			if err != nil {
				t.Fatal(err)
			}
			counted, err := e.Count(t.Context(), ring, set, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Simulate(simulate.Options{Instance: election.Instance{IDs: ring}})
			if err != nil {
				t.Fatal(err)
			}
			leader, _ := r.Leader()
			if !reflect.DeepEqual(counted.Messages, r.Messages) || !slices.Equal(counted.ByPhase, r.ByPhase) || counted.Position != leader ||
				counted.Time != nil && simulate.Times(*counted.Time) != *r.Time {
				t.Errorf("%s, random order of %d: counted %+v, simulated %+v at %+v", e.Name, n, counted, r.Messages, r.Time)
			}
		}
	}
}
