package all_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// symmetries runs every algorithm for rings in lock-step. random selects those without identifiers.
func symmetries(t *testing.T, random bool, i network.Setup, seed uint64, look func(*catalogue.Entry, *simulate.Symmetry)) {
	t.Helper()
	seen := 0
	for _, e := range all.Algorithms {
		if e.Topology != election.Ring || i.Flipped != nil && !e.Unoriented || random != (e.Identifiers == election.Anonymous) {
			continue
		}
		s, err := e.Symmetry(simulate.Options{Setup: i, Seed: seed, Limit: 1_000_000})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Complete {
			t.Fatalf("%s on %v does not come to an end", e.Name, i.IDs)
		}
		look(e, s)
		seen++
	}
	if seen < 2 {
		t.Errorf("just %d algorithms", seen)
	}
}

// equal expects that processes of one class have always done the same, and that there are that many classes.
func equal(t *testing.T, e *catalogue.Entry, s *simulate.Symmetry, i network.Setup, classes int) {
	t.Helper()
	if s.Apart != nil || s.Chance || len(s.Alike) != classes || s.Rounds == 0 {
		t.Errorf("%s on %v, ports exchanged %v: %+v", e.Name, i.IDs, i.Flipped, s)
	}
	for _, same := range s.Alike {
		for _, p := range same {
			if s.Decisions[p].Role != s.Decisions[same[0]].Role {
				t.Errorf("%s on %v: %d is a %s, and %d a %s", e.Name, i.IDs, p, s.Decisions[p].Role, same[0], s.Decisions[same[0]].Role)
			}
		}
	}
	if len(s.Decisions) > 1 && len(s.Leaders) == 1 {
		t.Errorf("%s on %v elects %d", e.Name, i.IDs, s.Leaders[0])
	}
}

// Angluin 1980: without identifiers, all lead or none.
func TestNoDeterministicAlgorithmElectsAmongEquals(t *testing.T) {
	for n := 1; n <= 9; n++ {
		i := network.Setup{IDs: election.List(slices.Repeat([]uint64{1}, n))}
		symmetries(t, false, i, 0, func(e *catalogue.Entry, s *simulate.Symmetry) {
			equal(t, e, s, i, 1)
			if len(s.Leaders) != 0 && len(s.Leaders) != n {
				t.Errorf("%s: %d of %d lead", e.Name, len(s.Leaders), n)
			}
		})
	}
}

func TestChanceDistinguishesEquals(t *testing.T) {
	for n := 2; n <= 9; n++ {
		symmetries(t, true, network.Setup{IDs: make(election.List, n)}, uint64(n), func(e *catalogue.Entry, s *simulate.Symmetry) {
			if !s.Chance || s.Apart == nil || len(s.Alike) != 1 || !s.Right {
				t.Errorf("%s, n=%d: %+v", e.Name, n, s)
			}
		})
	}
}

// S2's exercise 4(b), where it is impossible: two odd processes that are equal and opposite.
func TestNoDeterministicAlgorithmElectsWhereTheOddPairIsOpposite(t *testing.T) {
	for n := 2; n <= 10; n += 2 {
		ids := election.List(slices.Repeat([]uint64{1}, n))
		ids[0], ids[n/2] = 2, 2
		i := network.Setup{IDs: ids}
		symmetries(t, false, i, 0, func(e *catalogue.Entry, s *simulate.Symmetry) { equal(t, e, s, i, n/2) })
	}
}

// Also impossible without orientation if a reflection exchanges the two and fixes no process: both gaps are odd.
func TestNoDeterministicAlgorithmElectsOnAReflectedRing(t *testing.T) {
	for n := 2; n <= 10; n += 2 {
		for gap := 1; gap <= n/2; gap += 2 {
			ids := election.List(slices.Repeat([]uint64{1}, n))
			ids[0], ids[gap] = 2, 2
			i := network.Setup{IDs: ids, Flipped: make([]bool, n)}
			for p := range n { // p and gap - p are alike; one of them has its ports exchanged
				i.Flipped[p] = p > (gap-p+n)%n
			}
			symmetries(t, false, i, 0, func(e *catalogue.Entry, s *simulate.Symmetry) {
				if 2*gap == n { // there is a rotation, too, and one of its orientations may hide that
					equal(t, e, s, i, len(s.Alike))
					return
				}
				equal(t, e, s, i, n/2)
			})
		}
	}
}
