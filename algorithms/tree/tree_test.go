package tree_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/tree"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) { electiontest.Conform(t, tree.Algorithm, electiontest.Options{}) }

// joined returns a tree in which each position but the first is joined to an earlier one.
func joined(n int, to func(p int) int) [][2]int {
	var edges [][2]int
	for p := 1; p < n; p++ {
		edges = append(edges, [2]int{to(p), p})
	}
	return edges
}

// path, star and binary return those trees; the centre of the star and the root of the binary tree are at 0.
func path(n int) [][2]int   { return joined(n, func(p int) int { return p - 1 }) }
func star(n int) [][2]int   { return joined(n, func(int) int { return 0 }) }
func binary(n int) [][2]int { return joined(n, func(p int) int { return (p - 1) / 2 }) }

// every yields all trees of n in which each position is joined to an earlier one: all trees, up to names.
func every(n int) func(func([][2]int) bool) {
	return func(yield func([][2]int) bool) {
		trees := 1
		for p := 2; p < n; p++ {
			trees *= p
		}
		for code := range trees {
			rest := code
			if !yield(joined(n, func(p int) int {
				to := rest % p
				rest /= p
				return to
			})) {
				return
			}
		}
	}
}

func shuffled(n int, seed uint64) election.List {
	source := random.New(seed, random.Network)
	ids := make(election.List, n)
	for p := range ids {
		q := int(source.Below(uint64(p + 1)))
		ids[p] = ids[q]
		ids[q] = uint64(p) + 1
	}
	return ids
}

// initiators returns the positions whose bits are set.
func initiators(n, set int) (starters []int) {
	for p := range n {
		if set>>p&1 == 1 {
			starters = append(starters, p)
		}
	}
	return starters
}

func run(t *testing.T, o simulate.Options) *simulate.Result {
	t.Helper()
	r := electiontest.Run(t, tree.Algorithm, o)
	return r
}

// costs compares a run with the cost of a tree of n with k initiators.
func costs(t *testing.T, r *simulate.Result, n, k int) {
	t.Helper()
	want := []uint64{0, 0, 0}
	if n > 1 {
		want = []uint64{uint64(n + k - 2), uint64(n), uint64(n - 2)}
	}
	if !slices.Equal(r.Messages.ByKind, want) || !r.Right || !r.Complete || len(r.Faults) > 0 {
		t.Fatalf("n=%d, %d start: W, M, N are %v, want %v; right %v, complete %v, faults %v", n, k, r.Messages.ByKind, want, r.Right, r.Complete, r.Faults)
	}
}

func TestEveryTreeAndEveryInitiatorSetCosts3NPlusKMinus4(t *testing.T) {
	for n := 1; n <= 6; n++ {
		seed := uint64(0)
		for edges := range every(n) {
			for set := 1; set < 1<<n; set++ {
				seed++
				starters := initiators(n, set)
				for _, o := range []simulate.Options{
					{Schedule: simulate.FIFO},
					{Schedule: simulate.LIFO},
					{Schedule: simulate.Random, Faults: faults.Script{Unordered: true}},
				} {
					o.Setup = network.Setup{IDs: shuffled(n, seed), Edges: edges}
					o.Initiators, o.Seed = starters, seed
					costs(t, run(t, o), n, len(starters))
				}
			}
		}
	}
}

func TestLargeTreesCost3NPlusKMinus4(t *testing.T) {
	for seed := range uint64(300) {
		source := random.New(seed, random.Choices)
		n := 2 + int(source.Below(400))
		var starters []int
		for p := range n {
			if p == int(seed)%n || source.Below(1+seed%5) == 1 {
				starters = append(starters, p)
			}
		}
		shapes := [][][2]int{path(n), star(n), binary(n), joined(n, func(p int) int { return int(source.Below(uint64(p))) })}
		o := simulate.Options{Setup: network.Setup{IDs: shuffled(n, seed), Edges: shapes[seed%4]}, Initiators: starters, Seed: seed}
		if seed%3 > 0 {
			o.Schedule, o.Faults.Unordered = simulate.Random, seed%3 == 1
		}
		costs(t, run(t, o), n, len(starters))
	}
}

func TestExamplesOfAlgorithmsSection5(t *testing.T) {
	for _, example := range []struct {
		name      string
		edges     [][2]int
		one, each uint64 // messages if one initiates, and if all do
	}{
		{"one process", nil, 0, 0},
		{"two", path(2), 3, 4},
		{"path of 4", path(4), 9, 12},
		{"star of 5", star(5), 12, 16},
		{"complete binary tree of 7", binary(7), 18, 24},
	} {
		i := network.Setup{IDs: shuffled(len(example.edges)+1, 1), Edges: example.edges}
		one := run(t, simulate.Options{Setup: i, Initiators: []int{0}}).Messages.Total
		each := run(t, simulate.Options{Setup: i}).Messages.Total
		if one != example.one || each != example.each {
			t.Errorf("%s: %d if one starts and %d if all do, want %d and %d", example.name, one, each, example.one, example.each)
		}
	}
}

// A process has at most 65 536 ports; the centre hears on each.
func TestStarsOfAnyDegree(t *testing.T) {
	for _, n := range []int{64, 65, 66, 1000, 1<<16 + 1} {
		costs(t, run(t, simulate.Options{Setup: network.Setup{IDs: shuffled(n, 1), Edges: star(n)}, Initiators: []int{n - 1}}), n, 1)
	}
}

// distances returns the distances from a position, in edges.
func distances(n int, edges [][2]int, from int) []int {
	far := make([]int, n)
	for p := range far {
		far[p] = n
	}
	far[from] = 0
	for range n {
		for _, e := range edges {
			far[e[0]] = min(far[e[0]], far[e[1]]+1)
			far[e[1]] = min(far[e[1]], far[e[0]]+1)
		}
	}
	return far
}

// wakeUp is the largest distance from a position to the nearest initiator; diameter is that between two positions.
func wakeUp(n int, edges [][2]int, starters []int) (wakeUp, diameter int) {
	for p := range n {
		far := distances(n, edges, p)
		diameter = max(diameter, slices.Max(far))
		near := n
		for _, q := range starters {
			near = min(near, far[q])
		}
		wakeUp = max(wakeUp, near)
	}
	return wakeUp, diameter
}

func TestLastDecisionIsNoLaterThanWakeUpPlusDiameter(t *testing.T) {
	for n := 1; n <= 6; n++ {
		attained := false
		for edges := range every(n) {
			for set := 1; set < 1<<n; set++ {
				starters := initiators(n, set)
				r := run(t, simulate.Options{
					Setup: network.Setup{IDs: shuffled(n, uint64(set)), Edges: edges}, Initiators: starters, Timing: election.Synchronous,
				})
				wakeUp, diameter := wakeUp(n, edges, starters)
				bound := election.Units(uint64(wakeUp + diameter))
				if bound.Less(r.Time.Decided) {
					t.Fatalf("tree %v, %v start: decided at %s, later than %d + %d", edges, starters, r.Time.Decided, wakeUp, diameter)
				}
				attained = attained || len(starters) < n && r.Time.Decided == bound
			}
		}
		if n > 1 && !attained {
			t.Errorf("n=%d: no run takes as long as the bound", n)
		}
	}
}

func TestAPathThatIsWokenAtOneEndTakesTwiceItsLength(t *testing.T) {
	for n := 1; n <= 50; n++ {
		r := run(t, simulate.Options{Setup: network.Setup{IDs: shuffled(n, 1), Edges: path(n)}, Initiators: []int{0}})
		if want := election.Units(uint64(2 * (n - 1))); r.Time.Decided != want {
			t.Errorf("path of %d: decided at %s, want %s", n, r.Time.Decided, want)
		}
	}
}

// Where messages may overtake, they may also come in their order.
func TestEveryScheduleOfEveryTreeOfFour(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for edges := range every(n) {
			for _, starts := range []verify.Starts{verify.AnyTime, verify.EverySet} {
				o := verify.Options{Size: n, Setup: network.Setup{Edges: edges}, Starts: starts, Unordered: true}
				if report := check(t, tree.Algorithm, o); report.Violation != nil {
					t.Errorf("tree %v, %s: %s: %s", edges, starts, report.Violation.Property, report.Violation.Detail)
				}
			}
		}
	}
}

func check(t *testing.T, a election.Algorithm[tree.Process, tree.Message], o verify.Options) *verify.Report {
	t.Helper()
	return electiontest.Verify(t, a, o, o.Setup.Parameters)
}

// It is not claimed, but each port is heard once, so repeated messages do no harm.
func TestRepeatedMessagesChangeNothing(t *testing.T) {
	repeated := uint64(0)
	for seed := range uint64(2000) {
		n := 2 + int(seed%9)
		r := run(t, simulate.Options{
			Setup:    electiontest.Setup(&tree.Algorithm.Declaration, n, seed),
			Schedule: simulate.Random, Faults: faults.Script{Unordered: true, Duplicate: faults.Chance{Times: 1, Of: 3}}, Seed: seed,
		})
		costs(t, r, n, n)
		repeated += r.Duplicated
	}
	if repeated == 0 {
		t.Error("no message was repeated")
	}
}

// found expects that the checker finds a mutant, on a path of n, with or without FIFO.
func found(t *testing.T, property string, n int, unordered bool, receive func(*tree.Process, election.Port, election.Kind, tree.Message, *election.Out[tree.Message])) {
	t.Helper()
	mutant := tree.Algorithm
	mutant.Receive = receive
	o := verify.Options{Size: n, Setup: network.Setup{Edges: path(n)}, Starts: verify.EverySet, Unordered: unordered}
	report := check(t, mutant, o)
	if report.Violation == nil && property != "" || report.Violation != nil && report.Violation.Property != property {
		t.Errorf("path of %d, unordered %v: found %+v, want %q", n, unordered, report.Violation, property)
	}
}

func TestAMaximumThatDoesNotWakeIsFoundIfItOvertakes(t *testing.T) {
	deaf := func(p *tree.Process, port election.Port, kind election.Kind, m tree.Message, out *election.Out[tree.Message]) {
		if p.Stage == tree.Available && kind == tree.Maximum {
			return
		}
		p.Receive(port, kind, m, out)
	}
	found(t, "", 2, false, deaf)
	found(t, verify.Undecided, 2, true, deaf)
}

func TestAnswerToACrossingWakeUpIsFound(t *testing.T) {
	found(t, verify.BoundBroken, 2, false, func(p *tree.Process, port election.Port, kind election.Kind, m tree.Message, out *election.Out[tree.Message]) {
		if p.Receive(port, kind, m, out); kind == tree.WakeUp && p.ID == 1 {
			out.Send(port, tree.WakeUp, m)
		}
	})
}

func TestNotificationOfTheParentIsFound(t *testing.T) {
	found(t, verify.BoundBroken, 2, false, func(p *tree.Process, port election.Port, kind election.Kind, m tree.Message, out *election.Out[tree.Message]) {
		before := p.Stage
		if p.Receive(port, kind, m, out); before != tree.Done && p.Stage == tree.Done {
			out.Send(p.Parent, tree.Notification, tree.Message{ID: p.Max})
		}
	})
}

// If M carried its sender instead of the maximum, the larger of the saturated pair would lead.
func TestALeaderOutOfTheSaturatedPairIsFound(t *testing.T) {
	found(t, verify.WrongLeader, 3, false, func(p *tree.Process, port election.Port, kind election.Kind, m tree.Message, out *election.Out[tree.Message]) {
		if kind == tree.Maximum && p.Stage == tree.Active {
			m.ID = 0
		}
		p.Receive(port, kind, m, out)
	})
}

// A process has not heard a maximum from the neighbour that woke it.
func TestACentreThatDoesNotWaitForItsWakerIsFound(t *testing.T) {
	found(t, verify.WrongLeader, 3, false, func(p *tree.Process, port election.Port, kind election.Kind, m tree.Message, out *election.Out[tree.Message]) {
		if p.Stage == tree.Available && p.Degree == 2 { // as if its waker had reported
			p.Receive(port, tree.Maximum, tree.Message{}, out)
			return
		}
		p.Receive(port, kind, m, out)
	})
}
