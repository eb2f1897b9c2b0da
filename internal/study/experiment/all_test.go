package experiment_test

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/study/experiment"
	"ringleader.example/ringleader/internal/study/worktest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
)

// allOrders is a study of all orders.
func allOrders(t *testing.T, sizes []int, labels ...string) (*experiment.Study, error) {
	t.Helper()
	s := experiment.Study{Sizes: sizes, Orders: []string{experiment.AllOrders}, Until: big.NewRat(1, 100), Seed: 1 << 40}
	for _, label := range labels {
		subject, err := experiment.ParseSubject(all.Algorithms, label)
		if err != nil {
			t.Fatal(err)
		}
		s.Subjects = append(s.Subjects, subject)
	}
	return experiment.New(s)
}

// Rotations of the ring are left out, and change neither mean nor extremes.
func TestAllOrdersHaveTheMeanAndTheExtremesOfEverySimulation(t *testing.T) {
	s, err := allOrders(t, []int{1, 2, 5}, "lcr", "hirschberg-sinclair", "franklin", "higham-przytycka", "stop-and-go-p2", "preference-ring")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range measure(t, s, 2) {
		e := s.Subjects[i%len(s.Subjects)].Entry
		ids := make([]uint64, p.N)
		for q := range ids {
			ids[q] = uint64(p.N - q)
		}
		runs, total, least, most := uint64(0), uint64(0), uint64(1<<63), uint64(0)
		for more := true; more; more = order.Next(ids) {
			r, err := e.Simulate(simulate.Options{Setup: network.On(ids...)})
			if err != nil {
				t.Fatal(err)
			}
			runs, total, least, most = runs+1, total+r.Messages.Election, min(least, r.Messages.Election), max(most, r.Messages.Election)
		}
		if p.Runs()*uint64(p.N) != runs || p.Election.Mean().Cmp(big.NewRat(int64(total), int64(runs))) != 0 ||
			p.Election.Least.Uint64() != least || p.Election.Most.Uint64() != most || p.Sampled() {
			t.Errorf("%s, n = %d: %+v; of %d orders the messages are %d, from %d to %d", p.Algorithm, p.N, p.Election, runs, total, least, most)
		}
		if (p.Elected == nil) != slices.Contains([]string{"franklin", "higham-przytycka"}, p.Algorithm) {
			t.Errorf("%s: the time is %v: it is that of all orders, or unknown", p.Algorithm, p.Elected)
		}
		if !strings.Contains(p.Describe(), "orders up to rotation") {
			t.Errorf("found as the %s", p.Describe())
		}
	}
	if s.Measuring().Adaptive() {
		t.Error("the number of all orders depends on results")
	}
}

func TestPiecesOfAllOrdersInAnyOrderGiveTheSamePoints(t *testing.T) {
	s, err := allOrders(t, []int{3, 6}, "peterson", "lcr")
	if err != nil {
		t.Fatal(err)
	}
	worktest.Same(t, s.Measuring(), 50, 20)
}

func TestOrdersThatCannotAllBeTriedAreRefused(t *testing.T) {
	for label, n := range map[string]int{"lcr": 15, "tree": 4, "hirschberg-sinclair:withdraw=early": 4} {
		if _, err := allOrders(t, []int{n}, label); !errors.Is(err, experiment.ErrStudy) {
			t.Errorf("%s: %v", label, err)
		}
	}
}
