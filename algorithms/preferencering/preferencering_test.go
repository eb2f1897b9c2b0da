package preferencering_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/preferencering"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, preferencering.Algorithm, electiontest.Options{})
}

type (
	process = preferencering.Process
	message = preferencering.Message
	output  = *election.Out[message]
	receive = func(*process, election.Port, election.Kind, message, output)
)

func TestEveryScheduleOfEveryVoteOfThree(t *testing.T) {
	for code := range 27 {
		o := verify.Options{Size: 3, Starts: verify.AnyTime, Unordered: true}
		o.Setup.Votes = []uint64{uint64(code%3) + 1, uint64(code/3%3) + 1, uint64(code/9) + 1}
		if v := electiontest.Verify(t, preferencering.Algorithm, o, nil).Violation; v != nil {
			t.Errorf("votes %v: %s: %s", o.Setup.Votes, v.Property, v.Detail)
		}
	}
}

func TestOneBallotGoesRoundWhenOneStartsAndAsInLCRWhenAllDo(t *testing.T) {
	for n := 1; n <= 50; n++ {
		falling := make(election.List, n)
		for p := range falling {
			falling[p] = uint64(n - p)
		}
		for starters, want := range map[int]int{1: n, n: n * (n + 1) / 2} {
			o := simulate.Options{Setup: network.Setup{IDs: falling}}
			if starters == 1 {
				o.Initiators = []int{n - 1}
			}
			r := electiontest.Run(t, preferencering.Algorithm, o)
			if r.Messages.ByKind[0] != uint64(want) || r.Messages.ByKind[1] != uint64(n) || !r.Right {
				t.Errorf("%d of %d start: %v messages, right %v; want %d ballots", starters, n, r.Messages.ByKind, r.Right, want)
			}
		}
	}
}

// found expects that the checker finds a mutant.
func found(t *testing.T, property string, o verify.Options, how receive) {
	t.Helper()
	a := preferencering.Algorithm
	a.Receive = how
	electiontest.Found(t, "the mutant", a, o, property)
}

// If a process forwards a smaller initiator's ballot as its own, it counts that ballot's voters twice.
func TestBallotsThatAreMergedAreFound(t *testing.T) {
	found(t, verify.WrongLeader, verify.Options{Size: 3, Unordered: true}, func(p *process, port election.Port, kind election.Kind, m message, out output) {
		if kind == preferencering.Ballot && p.Initiator && m.ID < p.ID {
			out.Send(0, preferencering.Ballot, message{ID: p.ID, Tally: m.Tally.Plus(election.TallyOf(p.Cast))})
			return
		}
		p.Receive(port, kind, m, out)
	})
}

func TestBallotsThatNoProcessDropsAreFound(t *testing.T) {
	found(t, verify.BoundBroken, verify.Options{Size: 3}, func(p *process, port election.Port, kind election.Kind, m message, out output) {
		before := *p
		if kind == preferencering.Ballot && m.ID < p.ID {
			p.Initiator = false
		}
		p.Receive(port, kind, m, out)
		p.Initiator = before.Initiator
	})
}

// The initiator's vote is on the ballot from the beginning.
func TestAnInitiatorThatVotesAgainAtTheEndIsFound(t *testing.T) {
	o := verify.Options{Setup: network.On(2, 1)}
	o.Setup.Votes = []uint64{1, 2} // a tie
	found(t, verify.WrongLeader, o, func(p *process, port election.Port, kind election.Kind, m message, out output) {
		if kind == preferencering.Ballot && m.ID == p.ID {
			m.Tally = m.Tally.Plus(election.TallyOf(p.Cast))
		}
		p.Receive(port, kind, m, out)
	})
}

func TestOneThatStartsAfterItHasVotedIsFound(t *testing.T) {
	found(t, verify.BoundBroken, verify.Options{Size: 2, Starts: verify.AnyTime}, func(p *process, port election.Port, kind election.Kind, m message, out output) {
		p.Receive(port, kind, m, out)
		p.Joined = p.Initiator
	})
}

// fickle processes of a ring of three prefer, after a crash, the process after the one that they preferred before.
func fickle(votes ...uint64) (election.Algorithm[process, message], verify.Options) {
	a := preferencering.Algorithm
	a.Recover = func(p *process, out output) {
		p.Preference = p.Preference%3 + 1
		p.Recover(out)
	}
	return a, verify.Options{Setup: network.Setup{IDs: election.List{3, 1, 2}, Votes: votes}, Crashes: 1, Recoveries: 1}
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
	a, o := fickle(3, 3, 1)
	a.Durable = nil
	electiontest.Found(t, "a vote that is forgotten", a, o, verify.TwoLeaders)
}

// A process's own ballot may be lost with it, and a larger initiator's, which would drop it, may be lost at it.
func TestARecountThatLargerInitiatorsDropIsFound(t *testing.T) {
	a, o := fickle()
	a.Recover = (*process).Start
	electiontest.Found(t, "a recount", a, o, verify.Undecided)
}

func TestSeveralCrashesThatAreOverDelayTheResultAndDoNotChangeIt(t *testing.T) {
	electiontest.Setbacks(t, preferencering.Algorithm, nil)
}
