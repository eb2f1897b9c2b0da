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
		report, err := verify.Run(dkr.Algorithm, verify.Options{Setup: network.Setup{IDs: ids}})
		if err != nil {
			t.Fatal(err)
		}
		if got := states(w) + n; report.Violation != nil || report.States != got {
			t.Errorf("n=%d: %d states, and the checker has %d", n, got, report.States)
		}
	}
}

// Over all orders Spin has the checker's states, two for init, and those in which it has removed processes that ended. These it
// removes from the last position on, and forgets. So orders that differ only there have such states in common.
func TestStateCountsOfAllOrdersAreThoseOfSpin(t *testing.T) {
	for n, spin := range map[int]int{3: 233, 4: 2594, 5: 37255, 6: 660441} { // Spin 6.5.2, bench/spin
		if testing.Short() && n == 6 {
			continue
		}
		report, err := verify.Run(dkr.Algorithm, verify.Options{Size: n, Starts: verify.Each, Rotations: true})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		permute(n, nil, func(ids []uint64) { removals(ids, seen) })
		if got := report.States + len(seen) + 2; got != spin {
			t.Errorf("n=%d: %d states, %d with removed processes, and 2; Spin has %d", n, report.States, len(seen), spin)
		}
	}
}

// permute visits all orders of 1 … n that begin with some identifiers.
func permute(n int, ids []uint64, visit func([]uint64)) {
	if len(ids) == n {
		visit(ids)
		return
	}
	for id := uint64(1); id <= uint64(n); id++ {
		if !slices.Contains(ids, id) {
			permute(n, append(ids, id), visit)
		}
	}
}

// removals adds the states of an order in which some of the last processes have ended and were removed. The leader forgets its
// identifier when it ends: Spin resets a variable after its last use.
func removals(ids []uint64, seen map[string]bool) {
	n, last := len(ids), 0
	var w world
	for _, id := range ids {
		w.processes = append(w.processes, dkr.New(election.Local{ID: election.ID(id)}))
	}
	w.links = make([][]election.Sent[dkr.Message], n)
	for still := 0; still < n; last = (last + 1) % n { // the announcement is all that is left
		from := w.links[(last+n-1)%n]
		if still++; w.processes[last].Status != dkr.Asleep && (len(from) == 0 || from[0].Kind() == dkr.Winner) {
			continue
		}
		w, _ = w.step(last)
		still = 0
	}
	for len(w.links[last]) == 0 { // it goes from here to the next process, and so on
		last = (last + 1) % n
	}
	ended, least := make([]bool, n), n
	for p := range w.processes {
		w.processes[p].Round = 0 // which Spin's model does not have
	}
	for range n {
		last = (last + 1) % n
		w, _ = w.step(last)
		ended[last] = true
		if w.processes[last].ID == election.ID(n) {
			w.processes[last].ID = 0
		}
		from := last // of the announcement, unless all have ended
		if len(w.links[last]) == 0 {
			from = -1
		}
		for least > 0 && ended[least-1] {
			least--
		}
		for left := least; left < n; left++ {
			seen[fmt.Sprint(w.processes[:left], ended[:left], from)] = true
		}
	}
}
