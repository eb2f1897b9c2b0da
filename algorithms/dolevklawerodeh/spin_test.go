package dolevklawerodeh_test

import (
	"fmt"
	"slices"
	"testing"

	dkr "ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify"
)

// world is a ring: every process, and the messages in transit behind each.
type world struct {
	processes []dkr.Process
	links     [][]election.Sent[dkr.Message]
}

// step lets the process at p take one step, its start or a receipt, as Spin's program does: no process receives
// before it has started. It reports false if there is no step to take.
func (w world) step(p int) (world, bool) {
	n := len(w.processes)
	next := world{slices.Clone(w.processes), slices.Clone(w.links)}
	before := (p + n - 1) % n
	var c election.Collector[dkr.Message]
	c.At(uint32(2 * p))
	switch {
	case w.processes[p].Status == dkr.Asleep:
		next.processes[p].Start(c.Out())
	case len(w.links[before]) == 0:
		return world{}, false
	default:
		m := w.links[before][0]
		next.links[before] = w.links[before][1:]
		next.processes[p].Receive(1, m.Kind(), m.M, c.Out())
	}
	link := next.links[p]
	next.links[p] = append(link[:len(link):len(link)], c.Sent()...)
	return next, true
}

// falling returns the decreasing ring n … 1, with all processes asleep.
func falling(n int) (w world, ids election.List) {
	for id := n; id > 0; id-- {
		w.processes = append(w.processes, dkr.New(election.Local{ID: election.ID(id)}))
		ids = append(ids, uint64(id))
	}
	w.links = make([][]election.Sent[dkr.Message], n)
	return w, ids
}

func states(from world) int {
	seen := map[string]bool{fmt.Sprint(from): true}
	for ways := []world{from}; len(ways) > 0; {
		w := ways[len(ways)-1]
		ways = ways[:len(ways)-1]
		for p := range w.processes {
			next, ok := w.step(p)
			if name := fmt.Sprint(next); ok && !seen[name] {
				seen[name] = true
				ways = append(ways, next)
			}
		}
	}
	return len(seen)
}

// Spin's counts are for atomic steps, decreasing identifiers and full search. 3n-2 of them belong to its init
// process, which creates the others, and to processes that end; starts are interleaved with everything. Our checker
// starts all processes first, one by one.
func TestStateCountsAreThoseOfSpinAndOfTheChecker(t *testing.T) {
	for n, spin := range map[int]int{3: 42, 4: 105, 5: 285, 6: 816, 7: 2400, 8: 7143} { // Spin 6.5.2
		w, ids := falling(n)
		if got := states(w) + 3*n - 2; got != spin {
			t.Errorf("n=%d: %d states, and Spin has %d", n, got, spin)
		}
		for p := range n {
			w, _ = w.step(p)
		}
		report, err := verify.Run(dkr.Algorithm, verify.Options{Instance: network.Setup{IDs: ids}})
		if err != nil {
			t.Fatal(err)
		}
		if got := states(w) + n; report.Violation != nil || report.States != got {
			t.Errorf("n=%d: %d states, and the checker has %d", n, got, report.States)
		}
	}
}
