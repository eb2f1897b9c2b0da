package models_test

import (
	"testing"

	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
)

// A guided search finds counterexamples of as many facts as a search of all states, and none where there is none.
func TestAGuidedSearchMissesNothing(t *testing.T) {
	for _, name := range models.Names() {
		whole, err := models.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if !models.IsRing(whole) {
			continue
		}
		for _, f := range append([]*logic.Formula{nil}, whole.Invariants...) {
			m, left := whole, "nothing"
			if f != nil {
				left = f.Name
				if m, err = whole.Without([]string{left}, nil); err != nil {
					t.Fatal(err)
				}
			}
			ring, err := models.Ring(m, []int{1, 2}, finite.Range{Least: -1, Most: 2})
			if err != nil {
				t.Fatal(err)
			}
			search := finite.Search{Facts: 3, States: 1e7, Integers: finite.Range{Most: 1}}
			facts := map[int]int{}
			for _, search.All = range []int{0, 1e7} {
				found, err := finite.Induction([]*finite.Interpretation{ring}, search)
				if facts[search.All] = -1; found != nil {
					facts[search.All] = len(found.Facts)
				}
				if err != nil {
					t.Errorf("%s without %s: %v", name, left, err)
				}
			}
			if facts[0] != facts[1e7] {
				t.Errorf("%s without %s: %d facts, and in all states %d", name, left, facts[0], facts[1e7])
			}
		}
	}
}
