package preferencetree_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/preferencetree"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, preferencetree.Algorithm, electiontest.Options{})
}

// joined returns a tree in which each position but the first is joined to an earlier one.
func joined(n int, to func(p int) int) (edges [][2]int) {
	for p := 1; p < n; p++ {
		edges = append(edges, [2]int{to(p), p})
	}
	return edges
}

func path(n int) [][2]int { return joined(n, func(p int) int { return p - 1 }) }

type (
	process = preferencetree.Process
	message = preferencetree.Message
	output  = *election.Out[message]
	receive = func(*process, election.Port, election.Kind, message, output)
)

func TestEveryScheduleOfEveryVoteOfThree(t *testing.T) {
	for code := range 27 {
		o := verify.Options{Size: 3, Starts: verify.AnyTime, Unordered: true}
		o.Setup.Edges = path(3)
		o.Setup.Votes = []uint64{uint64(code%3) + 1, uint64(code/3%3) + 1, uint64(code/9) + 1}
		if v := electiontest.Verify(t, preferencetree.Algorithm, o, nil).Violation; v != nil {
			t.Errorf("votes %v: %s: %s", o.Setup.Votes, v.Property, v.Detail)
		}
	}
}

func TestLargeTreesCost3NPlusKMinus4(t *testing.T) {
	for _, n := range []int{2, 3, 64, 65, 66, 1000} {
		ids := make(election.List, n)
		for p := range ids {
			ids[p] = uint64(p) + 1
		}
		for _, edges := range [][][2]int{path(n), joined(n, func(int) int { return 0 }), joined(n, func(p int) int { return (p - 1) / 2 })} {
			for k := 1; k <= n; k += max(1, (n-1)/2) {
				starters := make([]int, k)
				for s := range starters {
					starters[s] = n - 1 - s
				}
				r := electiontest.Run(t, preferencetree.Algorithm, simulate.Options{
					Setup: network.Setup{IDs: ids, Edges: edges}, Initiators: starters,
				})
				if r.Messages.Total != uint64(3*n+k-4) || !r.Right {
					t.Errorf("%d of %d start: %d messages, right %v; want %d", k, n, r.Messages.Total, r.Right, 3*n+k-4)
				}
			}
		}
	}
}

// found expects that the checker finds a mutant on a path with the given votes.
func found(t *testing.T, property string, votes []uint64, unordered bool, how receive) {
	t.Helper()
	o := verify.Options{Size: len(votes), Unordered: unordered}
	o.Setup.Edges, o.Setup.Votes = path(len(votes)), votes
	a := preferencetree.Algorithm
	a.Receive = how
	electiontest.Found(t, "the mutant", a, o, property)
}

// Each process of the saturated pair knows one half.
func TestOneHalfOfTheVotesIsFound(t *testing.T) {
	found(t, verify.WrongLeader, []uint64{1, 2}, false, func(p *process, port election.Port, kind election.Kind, m message, out output) {
		if kind == preferencetree.Votes && p.Stage == preferencetree.Processing {
			m.Tally = nil
		}
		p.Receive(port, kind, m, out)
	})
}

// A maximum may be taken twice, a vote may not.
func TestAVoteThatIsAddedAgainWithEachReportIsFound(t *testing.T) {
	found(t, verify.WrongLeader, []uint64{3, 1, 3}, false, func(p *process, port election.Port, kind election.Kind, m message, out output) {
		if kind == preferencetree.Votes && p.Degree == 2 {
			m.Tally = m.Tally.Plus(election.TallyOf(1, 1))
		}
		p.Receive(port, kind, m, out)
	})
}

func TestVotesThatDoNotWakeAreFoundIfTheyOvertake(t *testing.T) {
	a := preferencetree.Algorithm
	a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out output) {
		if p.Stage != preferencetree.Available || kind == preferencetree.WakeUp {
			p.Receive(port, kind, m, out)
		}
	}
	o := verify.Options{Size: 2, Starts: verify.EverySet, Unordered: true}
	o.Setup.Edges = path(2)
	electiontest.Found(t, "the mutant", a, o, verify.Undecided)
	o.Unordered = false
	if v := electiontest.Verify(t, a, o, nil).Violation; v != nil {
		t.Errorf("in order: %s: %s", v.Property, v.Detail)
	}
}

// fickle processes of a path of three prefer, after a crash, the process after the one that they preferred before.
func fickle(votes ...uint64) (election.Algorithm[process, message], verify.Options) {
	a := preferencetree.Algorithm
	a.Recover = func(p *process, out output) {
		p.Preference = p.Preference%3 + 1
		p.Recover(out)
	}
	return a, verify.Options{Setup: network.Setup{IDs: election.List{3, 1, 2}, Votes: votes, Edges: path(3)}, Crashes: 1, Recoveries: 1}
}

func TestACrashChangesPreferencesButNoVote(t *testing.T) {
	for code := range 27 {
		a, o := fickle(uint64(code%3)+1, uint64(code/3%3)+1, uint64(code/9)+1)
		if v := electiontest.Verify(t, a, o, nil).Violation; v != nil {
			t.Errorf("votes %v: %+v", o.Setup.Votes, v)
		}
	}
}

func TestAVoteThatACrashForgetsElectsTwo(t *testing.T) {
	a, o := fickle(2, 3, 2) // the process at the end votes for 3 after a crash
	a.Durable = nil
	electiontest.Found(t, "a vote that is forgotten", a, o, verify.TwoLeaders)
}

func TestNeighboursThatDoNotRepeatWhatACrashForgotAreFound(t *testing.T) {
	a, o := fickle()
	a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out output) {
		m.Again = false
		p.Receive(port, kind, m, out)
	}
	electiontest.Found(t, "nothing is repeated", a, o, verify.Undecided)
}

func TestSeveralCrashesThatAreOverDelayTheResultAndDoNotChangeIt(t *testing.T) {
	electiontest.Setbacks(t, preferencetree.Algorithm, nil)
}
