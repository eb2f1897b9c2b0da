package preference_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/preference"
	"ringleader.example/ringleader/algorithms/preferencering"
	"ringleader.example/ringleader/algorithms/preferencetree"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// form is one of the four ways to count votes.
type form struct {
	name string
	run  func(simulate.Options, *election.Tally) (*simulate.Result, error) // and the tally that the winner was decided by
	cost func(o *simulate.Options) []uint64                                // by kind, if the initiators start before the first delivery
}

var forms = []form{
	{
		"complete, all",
		func(o simulate.Options, counted *election.Tally) (*simulate.Result, error) {
			return onComplete("all", o, counted)
		},
		func(o *simulate.Options) []uint64 {
			n, _ := sizes(o)
			return []uint64{0, n * (n - 1), 0}
		},
	},
	{
		"complete, collector",
		func(o simulate.Options, counted *election.Tally) (*simulate.Result, error) {
			return onComplete("collector", o, counted)
		},
		func(o *simulate.Options) []uint64 {
			n, k := sizes(o)
			return []uint64{k * (n - 1), k * (n - 1), k * (n - 1)}
		},
	},
	{"ring", onRing, ringCost},
	{
		"tree", onTree,
		func(o *simulate.Options) []uint64 {
			n, k := sizes(o)
			if n == 1 {
				return []uint64{0, 0, 0}
			}
			return []uint64{n + k - 2, n, n - 2}
		},
	},
}

// sizes returns the number of processes and of initiators.
func sizes(o *simulate.Options) (n, k uint64) {
	n = uint64(o.Setup.IDs.Len())
	if o.Initiators == nil {
		return n, n
	}
	return n, uint64(len(o.Initiators))
}

// ringCost returns the hops of ballots: each to the next larger initiator, and the largest one's back to its origin.
func ringCost(o *simulate.Options) []uint64 {
	n, ids := o.Setup.IDs.Len(), o.Setup.IDs
	starts := func(p int) bool { return o.Initiators == nil || slices.Contains(o.Initiators, p%n) }
	ballots := uint64(0)
	for p := range n {
		if !starts(p) {
			continue
		}
		ballots++
		for q := p + 1; q < p+n && (!starts(q) || ids.At(q%n) < ids.At(p)); q++ {
			ballots++
		}
	}
	return []uint64{ballots, uint64(n)}
}

// The tallies that processes decide by are caught on their way.

func onComplete(count string, o simulate.Options, counted *election.Tally) (*simulate.Result, error) {
	o.Setup.Edges, o.Setup.Parameters = nil, map[string]string{"count": count}
	a := preference.Algorithm
	a.Receive = func(p *preference.Process, port election.Port, kind election.Kind, m preference.Message, out *election.Out[preference.Message]) {
		if kind == preference.Vote && p.Missing == 1 && len(p.Votes) > 0 && p.Votes[port] == 0 {
			votes := slices.Clone(p.Votes)
			votes[port] = m.Candidate
			*counted = election.TallyOf(votes...)
		}
		p.Receive(port, kind, m, out)
	}
	return simulate.Must(simulate.OfSmall(&a)).Run(o)
}

func onRing(o simulate.Options, counted *election.Tally) (*simulate.Result, error) {
	o.Setup.Edges = nil
	a := preferencering.Algorithm
	a.Receive = func(p *preferencering.Process, port election.Port, kind election.Kind, m preferencering.Message, out *election.Out[preferencering.Message]) {
		if kind == preferencering.Ballot && m.ID == p.ID {
			*counted = m.Tally
		}
		p.Receive(port, kind, m, out)
	}
	return simulate.Must(simulate.OfSmall(&a)).Run(o)
}

func onTree(o simulate.Options, counted *election.Tally) (*simulate.Result, error) {
	a := preferencetree.Algorithm
	a.Receive = func(p *preferencetree.Process, port election.Port, kind election.Kind, m preferencetree.Message, out *election.Out[preferencetree.Message]) {
		if kind == preferencetree.Votes && p.Stage == preferencetree.Processing {
			*counted = p.Tally.Plus(m.Tally)
		}
		p.Receive(port, kind, m, out)
	}
	return simulate.Must(simulate.OfSmall(&a)).Run(o)
}

// votes draws votes. Some elections have few candidates, so that ties occur, and some many.
func votes(ids election.List, source *random.Source) []uint64 {
	candidates := 1 + source.Below(uint64(len(ids)))
	drawn := make([]uint64, len(ids))
	for p := range drawn {
		drawn[p] = ids[source.Below(candidates)]
	}
	return drawn
}

// elected returns the winner, counted directly, and its number of votes.
func elected(ids election.List, votes []uint64) (winner uint64, most int) {
	for _, candidate := range ids {
		has := 0
		for _, v := range votes {
			if v == candidate {
				has++
			}
		}
		if has > most || has == most && candidate > winner {
			winner, most = candidate, has
		}
	}
	return winner, most
}

func TestAllFormsElectTheSameWinnerOnTheSameVotes(t *testing.T) {
	unordered := faults.Script{Unordered: true}
	schedules := []simulate.Options{
		{Schedule: simulate.FIFO},
		{Schedule: simulate.LIFO, Faults: unordered},
		{Schedule: simulate.Random},
		{Schedule: simulate.Random, Faults: unordered},
		{Schedule: simulate.RandomDelay, Faults: unordered},
		{Schedule: simulate.MaxTime},
		{Timing: election.Timed, Delay: 5, Faults: unordered},
		{Timing: election.Synchronous},
	}
	ties, minorities := 0, 0
	for seed := range uint64(4000) {
		source := random.New(seed, random.Choices)
		n := 1 + int(source.Below(8))
		o := schedules[seed%uint64(len(schedules))]
		o.Setup, o.Seed = electiontest.Setup(&preferencetree.Algorithm.Declaration, n, seed), seed
		ids := o.Setup.IDs.(election.List)
		o.Setup.Votes = votes(ids, source)
		for p := range n {
			if source.Below(2) == 1 {
				o.Initiators = append(o.Initiators, p)
			}
		}
		o.AnyTime = seed%3 == 0
		winner, most := elected(ids, o.Setup.Votes)
		if 2*most <= n {
			minorities++
		}
		for _, f := range forms {
			var counted election.Tally
			r, err := f.run(o, &counted)
			if err != nil {
				t.Fatal(err)
			}
			leader, _ := r.Leader()
			if !r.Right || r.Prepared.Real(leader) != winner || len(r.Faults) > 0 {
				t.Fatalf("%s, seed %d: %v vote %v: %d leads, right %v, faults %v; %d should win", f.name, seed, ids, o.Setup.Votes, r.Prepared.Real(leader), r.Right, r.Faults, winner)
			}
			if n > 1 && !slices.Equal(counted, r.Prepared.Tally()) {
				t.Fatalf("%s, seed %d: counted %v, and the votes are %v", f.name, seed, counted, r.Prepared.Tally())
			}
			if want := f.cost(&o); !o.AnyTime && !slices.Equal(r.Messages.ByKind, want) {
				t.Fatalf("%s, seed %d: %v start among %v: %v messages, want %v", f.name, seed, o.Initiators, ids, r.Messages.ByKind, want)
			}
			if shares := r.Prepared.Tally(); len(shares) > 1 && slices.ContainsFunc(shares, func(s election.Share) bool {
				return int(s.Votes) == most && r.Prepared.RealOf(s.Candidate) != winner
			}) {
				ties++
			}
		}
	}
	if ties == 0 || minorities == 0 {
		t.Errorf("%d ties and %d winners without a majority were tried", ties, minorities)
	}
}

func TestVectorsOfAlgorithmsSection13(t *testing.T) {
	path := func(n int) (edges [][2]int) {
		for p := 1; p < n; p++ {
			edges = append(edges, [2]int{p - 1, p})
		}
		return edges
	}
	for _, v := range []struct {
		name     string
		ids      election.List
		votes    []uint64 // nil: each for itself
		winner   uint64
		one, all [][]uint64 // of each form, by kind, if position 0 initiates and if all do
	}{
		{
			"1",
			election.List{9},
			nil, 9,
			[][]uint64{{0, 0, 0}, {0, 0, 0}, {1, 1}, {0, 0, 0}},
			[][]uint64{{0, 0, 0}, {0, 0, 0}, {1, 1}, {0, 0, 0}},
		},
		{
			"2, each itself",
			election.List{1, 2},
			nil, 2,
			[][]uint64{{0, 2, 0}, {1, 1, 1}, {2, 2}, {1, 2, 0}},
			[][]uint64{{0, 2, 0}, {2, 2, 2}, {3, 2}, {2, 2, 0}},
		},
		{
			"3, each itself",
			election.List{1, 2, 3},
			nil, 3,
			[][]uint64{{0, 6, 0}, {2, 2, 2}, {3, 3}, {2, 3, 1}},
			[][]uint64{{0, 6, 0}, {6, 6, 6}, {5, 3}, {4, 3, 1}},
		},
		{
			"5, of which 2 for the winner",
			election.List{1, 2, 3, 4, 5},
			[]uint64{3, 3, 5, 5, 1},
			5,
			[][]uint64{{0, 20, 0}, {4, 4, 4}, {5, 5}, {4, 5, 3}},
			[][]uint64{{0, 20, 0}, {20, 20, 20}, {9, 5}, {8, 5, 3}},
		},
		{
			"the winner does not vote for itself",
			election.List{4, 7, 2},
			[]uint64{2, 2, 7},
			2,
			[][]uint64{{0, 6, 0}, {2, 2, 2}, {3, 3}, {2, 3, 1}},
			[][]uint64{{0, 6, 0}, {6, 6, 6}, {5, 3}, {4, 3, 1}},
		},
	} {
		for at, f := range forms {
			for starters, want := range map[string][]uint64{"one": v.one[at], "all": v.all[at]} {
				o := simulate.Options{Setup: network.Setup{IDs: v.ids, Votes: v.votes, Edges: path(len(v.ids))}}
				if starters == "one" {
					o.Initiators = []int{0}
				}
				r, err := f.run(o, new(election.Tally))
				if err != nil {
					t.Fatal(err)
				}
				if leader, _ := r.Leader(); !r.Right || r.Prepared.Real(leader) != v.winner || !slices.Equal(r.Messages.ByKind, want) {
					t.Errorf("%s, %s, %s starts: %d leads after %v, want %d after %v", v.name, f.name, starters, r.Prepared.Real(leader), r.Messages.ByKind, v.winner, want)
				}
			}
		}
	}
}

// A second request for votes or a repeated message changes nothing: votes are counted by voter, by port, or on one
// ballot.
func TestRepeatedMessagesChangeNoResult(t *testing.T) {
	repeated := uint64(0)
	for seed := range uint64(1000) {
		o := simulate.Options{Schedule: simulate.Random, Seed: seed, AnyTime: seed%2 == 0}
		o.Faults = faults.Script{Unordered: true, Duplicate: faults.Chance{Times: 1, Of: 3}}
		o.Setup = electiontest.Setup(&preferencetree.Algorithm.Declaration, 2+int(seed%7), seed)
		for _, f := range forms {
			r, err := f.run(o, new(election.Tally))
			if err != nil {
				t.Fatal(err)
			}
			if !r.Right || len(r.Faults) > 0 {
				t.Fatalf("%s, seed %d: right %v, faults %v", f.name, seed, r.Right, r.Faults)
			}
			repeated += r.Duplicated
		}
	}
	if repeated == 0 {
		t.Error("no message was repeated")
	}
}
