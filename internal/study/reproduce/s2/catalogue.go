package s2

import (
	"fmt"
	"math"
	"slices"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// The statements of section 2.1 about elections are tried on every algorithm of the catalogue that they are about.

// plain are the algorithms that promise a leader wherever identifiers differ, or where there are none.
func plain(b *reproduce.Bench) (all []*catalogue.Entry) {
	for _, e := range b.Algorithms {
		if e.AllowDuplicates == nil {
			all = append(all, e)
		}
	}
	return all
}

// reelecting returns the algorithms that elect again when a process fails or recovers.
func reelecting(b *reproduce.Bench) (all []*catalogue.Entry) {
	for _, e := range plain(b) {
		if e.Survives&(election.Crash|election.Recovery) == election.Crash|election.Recovery {
			all = append(all, e)
		}
	}
	return all
}

// path is the tree on which position p is next to p + 1.
func path(n int) (edges [][2]int) {
	for p := range n - 1 {
		edges = append(edges, [2]int{p, p + 1})
	}
	return edges
}

// starTree is the tree on which position 0 is next to all others.
func starTree(n int) (edges [][2]int) {
	for p := 1; p < n; p++ {
		edges = append(edges, [2]int{0, p})
	}
	return edges
}

// on is a network of these for an algorithm: a path if it needs a tree, and ports among unknown neighbours by chance.
func on(e *catalogue.Entry, ids election.Arrangement, seed uint64) network.Setup {
	i, n := network.Setup{IDs: ids}, ids.Len()
	switch {
	case e.Topology == election.Tree:
		i.Edges = path(n)
	case e.Topology == election.UnknownNeighbours && n > 1:
		for p := range n {
			others := reproduce.Must(order.Random(n-1, seed+uint64(p)))
			ports := make([]int, n-1)
			for port := range ports {
				ports[port] = int(others.At(port)) - 1
			}
			i.Ports = append(i.Ports, ports)
		}
	}
	return i
}

// keeps checks what a run without faults costs in which all start, against all that is declared of that, and against
// the closed form.
func keeps(b *reproduce.Bench, wrong *reproduce.Doubt, e *catalogue.Entry, ids election.Arrangement, r *simulate.Result) {
	n := uint64(ids.Len())
	if e.Count != nil && e.Counts != election.CountsVary {
		exact := b.Count(e.Name, ids).Messages.ByKind
		wrong.Unless(slices.Equal(r.Messages.ByKind, exact), "%s of %d: %d messages by kind, %d by the closed form", e.Name, n, r.Messages.ByKind, exact)
	}
	for _, bound := range r.Prepared.Declaration().Bounds {
		if bound.OneStart || bound.Case == election.Average || bound.Of == "time" && r.Time == nil {
			continue
		}
		var cost uint64
		if bound.Of == "time" {
			cost = r.Time.Quiet.Lo
		} else {
			cost = r.Messages.Of(bound.Of)
		}
		limit := bound.Value(n)
		within := cost <= limit
		if bound.Case == election.Best {
			within = cost >= limit
		}
		wrong.Unless(within, "%s of %d: %s %d; the bound, in the %s case, is %s = %d", e.Name, n, bound.Of, cost, bound.Case, bound.Formula, limit)
	}
}

// onAverage checks the mean of many runs of an algorithm that draws lots.
func onAverage(b *reproduce.Bench, wrong *reproduce.Doubt, e *catalogue.Entry, n int, average election.Bound) {
	const runs = 1000
	var sum, squares float64
	for seed := range uint64(runs) {
		r := b.Simulate(e.Name, simulate.Options{Setup: network.On(reproduce.UpTo(n)...), Seed: seed})
		sent := float64(r.Messages.Of(average.Of))
		sum, squares = sum+sent, squares+sent*sent
	}
	mean, want := sum/runs, average.Mean(uint64(n))
	off := math.Abs(mean-want) / math.Sqrt((squares/runs-mean*mean)/runs)
	wrong.Unless(off < 5, "%s of %d: %.4g messages on average, which is %.1f standard errors from %s = %.4g", e.Name, n, mean, off, average.Formula, want)
}

// ofTwo is the mean number of messages of Itai and Rodeh's two processes: they choose the same every other time, for
// 4 messages,
// and at last they do not, for 3.
var ofTwo = election.Bound{Of: "election", Formula: "4 + 3", Mean: func(uint64) float64 { return 7 }}

// settings are the parameters that an algorithm is tried with: as they are, and with each choice of each.
func settings(e *catalogue.Entry) []map[string]string {
	all := []map[string]string{nil}
	for _, p := range e.Parameters {
		if choice, is := p.(*election.Choice); is {
			for _, word := range choice.Words {
				all = append(all, map[string]string{choice.Name: word})
			}
		}
	}
	return all
}

// tried notes what is wrong in as many states as there are, or at least in so many. It returns how many.
func tried(b *reproduce.Bench, wrong *reproduce.Doubt, e *catalogue.Entry, o verify.Options, most int) int {
	o.MaxStates = most
	r := b.Verify(e.Name, o)
	if v := r.Violation; v != nil {
		wrong.Unless(false, "%s among %d: %s: %s", e.Name, o.Setup.IDs.Len(), v.Property, v.Detail)
	}
	return r.States
}

func electsOne(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	all, states, runs := plain(b), 0, 0
	for _, e := range all {
		if wrong.First != "" {
			break
		}
		free, most := e.Timing == election.Asynchronous, 20_000
		if e.Leased {
			most = 2_000 // a service has no end, and its own tests go further
		}
		for _, set := range settings(e) {
			for n := 1; n <= 3; n++ {
				o := verify.Options{Setup: on(e, election.List(reproduce.UpTo(n)), 0)}
				o.Setup.Parameters = set
				states += tried(b, &wrong, e, o, most)
				o.Unordered = free && !e.FIFO
				if reproduce.Must(network.Prepare(e.Declaration, o.Setup)).Declaration().Starts == election.AnyStart {
					o.Starts = verify.AnyTime
				}
				states += tried(b, &wrong, e, o, most)
			}
		}
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 16, 40} {
			for seed := range uint64(8) {
				ids := reproduce.Must(order.Random(n, seed))
				o := simulate.Options{Setup: on(e, ids, seed), Seed: seed}
				if free && seed%2 == 1 {
					o.Schedule = simulate.Random
				}
				r := b.Simulate(e.Name, o)
				wrong.Unless(reproduce.End(r) == reproduce.Right, "%s with %d processes: %s", e.Name, n, reproduce.End(r))
				keeps(b, &wrong, e, ids, r)
				runs++
			}
		}
		if average := e.Bound(election.Average); average != nil && e.Identifiers == election.Anonymous {
			onAverage(b, &wrong, e, 6, *average)
		}
		if e.Name == "itai-rodeh" {
			onAverage(b, &wrong, e, 2, ofTwo)
		}
	}
	return reproduce.HoldsUnless(wrong.First, "%d algorithms, %d states, %d runs: one leader, and the declared costs", len(all), states, runs)
}

func newLeader(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	crashes, random, states := 0, 0, 0
	all := reelecting(b)
	for _, e := range all {
		if wrong.First != "" {
			break
		}
		for n := 2; n <= 8; n++ {
			t := reproduce.Among(n, e.Name).Run()
			least := 1
			if e.Leased {
				least = n/2 + 1 // without a majority no member may lead
			}
			for left := n - 1; left >= least; left-- {
				t.Faults = append(t.Faults, fmt.Sprintf("crash %d at %d", left+1, 100*(n-left)))
				r := b.Run(t)
				crashes++
				wrong.Unless(reproduce.End(r) == reproduce.Right && r.Leaders[0] == left-1, "%s of %d, %d left: %s", e.Name, n, left, reproduce.End(r))
			}
		}
		slow := on(e, election.List(reproduce.UpTo(3)), 0)
		slow.Parameters = map[string]string{"delay": "2"}
		for starter := range 3 {
			o := verify.Options{Setup: slow, Delay: 2, Crashes: 1, Recoveries: 1}
			if e.Starts == election.AnyStart {
				o.Initiators = []int{starter}
			} else if starter > 0 {
				break // all start, whichever process is asked to
			}
			most := 100_000
			if e.Leased {
				most = 10_000
			}
			states += tried(b, &wrong, e, o, most)
		}
		for seed := range uint64(200) {
			n := 3 + int(seed%4)
			t := reproduce.Among(n, e.Name, "delay="+fmt.Sprint(1+seed%3)).Run("random 2 crashes, 2 recoveries until 60")
			if seed%2 == 1 && e.Name == "logical-ring" {
				t.Set = append(t.Set, "announce=direct")
			}
			t.Seed = seed
			random++
			wrong.Unless(reproduce.End(b.Run(t)) == reproduce.Right, "%s", t.Replay())
		}
		later := reproduce.Among(4, e.Name).Run() // without its rule D, two pairs of invitation would then invite each other for ever
		for p, at := range []int{18, 22, 26, 29} {
			later.Faults = append(later.Faults, fmt.Sprintf("crash %d at 0", p+1), fmt.Sprintf("recover %d at %d", p+1, at))
		}
		random++
		wrong.Unless(reproduce.End(b.Run(later)) == reproduce.Right, "%s", later.Replay())
	}
	return reproduce.HoldsUnless(wrong.First, "%d algorithms, %d crashes of leaders: each time the next lower process becomes leader; one leader at the end of %d random runs; no violation in %d states",
		len(all), crashes, random, states)
}

func extremaFinding(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	algorithms, runs := 0, 0
	for _, e := range plain(b) {
		if e.Winner != election.Largest && e.Winner != election.Smallest {
			continue
		}
		algorithms++
		for order := range reproduce.Rings(5) {
			ids := make(election.List, 5)
			for p, rank := range order {
				ids[p] = []uint64{2, 3, 5, 7, 11}[rank-1]
			}
			runs++
			r := b.Simulate(e.Name, simulate.Options{Setup: on(e, ids, 1), Seed: 1})
			wrong.Unless(reproduce.End(r) == reproduce.Right, "%s on %v: %s", e.Name, ids, reproduce.End(r))
		}
	}
	return reproduce.HoldsUnless(wrong.First, "%d algorithms, %d runs: the largest is elected, or the smallest where that is declared", algorithms, runs)
}

// poll is a way to count votes.
type poll struct {
	algorithm, count string
	edges            [][2]int
}

// polls are the votes of 4 processes.
var polls = []poll{
	{"preference", "all", nil},
	{"preference", "collector", nil},
	{"preference-ring", "", nil},
	{"preference-tree", "", path(4)},
	{"preference-tree", "", starTree(4)},
}

// of is an election with these votes.
func (p *poll) of(votes []uint64) network.Setup {
	i := network.On(1, 2, 3, 4)
	i.Votes, i.Edges = votes, p.edges
	if p.count != "" {
		i.Parameters = map[string]string{"count": p.count}
	}
	return i
}

func preferenceBased(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs, returned := 0, 0
	for number := range 4 * 4 * 4 * 4 {
		votes := make([]uint64, 4)
		for p := range votes {
			votes[p] = 1 + uint64(number>>(2*p)&3)
		}
		winner := mostVotes(votes)
		for _, way := range polls {
			o := simulate.Options{Setup: way.of(votes)}
			if number%2 == 0 {
				o.Initiators = []int{1} // all others must hear of the election, and of its result
			}
			r := b.Simulate(way.algorithm, o)
			runs++
			wrong.Unless(reproduce.End(r) == reproduce.Right && r.Prepared.Real(r.Leaders[0]) == winner, "%v, votes %v: %s", way, votes, reproduce.End(r))
		}
	}
	votes := []uint64{2, 3, 3, 2}
	for _, way := range polls {
		for p := range uint64(4) {
			for at := range uint64(9) {
				o := simulate.Options{Setup: way.of(votes), Initiators: []int{1}}
				lines := faults.NewReader(o.Setup.IDs)
				reproduce.Must(0, lines.Line(fmt.Sprintf("crash %d at %d", p+1, at)))
				reproduce.Must(0, lines.Line(fmt.Sprintf("recover %d at %d", p+1, at+1+at%4)))
				o.Faults = lines.Script
				r := b.Simulate(way.algorithm, o)
				returned++
				wrong.Unless(reproduce.End(r) == reproduce.Right && r.Prepared.Real(r.Leaders[0]) == 3, "%v, %d crashes at %d: %s", way, p+1, at, reproduce.End(r))
			}
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "%d runs: the most votes win everywhere; of equally many the largest; and in %d in which a voter crashes and returns", runs, returned)
	f.Replay = "ringleader run preference-ring --n 4 --votes 2,3,3,2"
	return f
}

// mostVotes returns the process with the most votes; of several the largest.
func mostVotes(votes []uint64) (winner uint64) {
	got := make([]int, len(votes)+1)
	for _, v := range votes {
		got[v]++
	}
	for id := range got {
		if id > 0 && got[id] >= got[winner] {
			winner = uint64(id)
		}
	}
	return winner
}
