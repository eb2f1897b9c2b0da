package preference_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/preference"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

var counts = []map[string]string{{"count": "all"}, {"count": "collector"}}

func TestConformance(t *testing.T) {
	electiontest.Conform(t, preference.Algorithm, electiontest.Options{Parameters: counts})
}

func check(t *testing.T, a election.Algorithm[preference.Process, preference.Message], o verify.Options) *verify.Report {
	t.Helper()
	return electiontest.Verify(t, a, o, o.Setup.Parameters)
}

// every yields all ways in which n members can vote.
func every(n int) func(func([]uint64) bool) {
	return func(yield func([]uint64) bool) {
		ways := 1
		for range n {
			ways *= n
		}
		for way := range ways {
			votes := make([]uint64, n)
			for p := range votes {
				votes[p] = uint64(way%n) + 1
				way /= n
			}
			if !yield(votes) {
				return
			}
		}
	}
}

func TestEveryScheduleOfEveryVoteOfThree(t *testing.T) {
	for n := 1; n <= 3; n++ {
		for votes := range every(n) {
			for _, count := range counts {
				o := verify.Options{Size: n, Starts: verify.AnyTime, Unordered: true}
				o.Setup.Votes, o.Setup.Parameters = votes, count
				if report := check(t, preference.Algorithm, o); report.Violation != nil {
					t.Errorf("%v, votes %v: %s: %s", count, votes, report.Violation.Property, report.Violation.Detail)
				}
			}
		}
	}
}

func TestTimeIsTwoUnitsAfterOneStartAndOneIfAllStart(t *testing.T) {
	for n := 2; n <= 20; n++ {
		for _, c := range []struct {
			count    string
			starters []int
			decided  uint64
		}{{"all", nil, 1}, {"all", []int{n / 2}, 2}, {"collector", nil, 2}, {"collector", []int{n / 2}, 3}} {
			r := electiontest.Run(t, preference.Algorithm, simulate.Options{
				Setup: setup(n, c.count), Initiators: c.starters, Timing: election.Synchronous,
			})
			if r.Time.Decided != election.Units(c.decided) || !r.Right {
				t.Errorf("%d members, %s, %v start: decided at %s, want %d", n, c.count, c.starters, r.Time.Decided, c.decided)
			}
		}
	}
}

// setup returns n members, each of which votes for itself.
func setup(n int, count string) network.Setup {
	ids := make(election.List, n)
	for p := range ids {
		ids[p] = uint64(p) + 1
	}
	return network.Setup{IDs: ids, Parameters: map[string]string{"count": count}}
}

func TestAThousandMembersTellEachOther(t *testing.T) {
	const n = 1000
	r := electiontest.Run(t, preference.Algorithm, simulate.Options{Setup: setup(n, "all"), Initiators: []int{0}})
	if leader, _ := r.Leader(); !r.Right || leader != n-1 || r.Messages.Total != n*(n-1) {
		t.Errorf("leader at %d after %d messages", leader, r.Messages.Total)
	}
}

// fickle members prefer, after a crash, the member after the one that they preferred before.
func fickle() election.Algorithm[preference.Process, preference.Message] {
	a := preference.Algorithm
	a.Recover = func(p *preference.Process, out *election.Out[preference.Message]) {
		p.Preference = p.Preference%p.Members + 1
		p.Recover(out)
	}
	return a
}

func TestACrashChangesPreferencesButNoVote(t *testing.T) {
	for n := 1; n <= 3; n++ {
		turn := 0
		for votes := range every(n) {
			turn++
			o := verify.Options{Size: n, Crashes: 1, Recoveries: 1}
			o.Setup.Votes, o.Setup.Parameters = votes, counts[turn%2]
			if report := check(t, fickle(), o); report.Violation != nil {
				t.Errorf("%v, votes %v: %s: %s", counts[turn%2], votes, report.Violation.Property, report.Violation.Detail)
			}
		}
	}
}

func TestSeveralCrashesThatAreOverDelayTheResultAndDoNotChangeIt(t *testing.T) {
	for _, count := range counts {
		electiontest.Setbacks(t, preference.Algorithm, count)
	}
}

// A mutant: votes are not kept, and a crash makes one process vote twice.
func TestAVoteThatACrashForgetsElectsTwo(t *testing.T) {
	for _, count := range counts {
		mutant := fickle()
		mutant.Durable = nil
		o := verify.Options{Size: 3, Crashes: 1, Recoveries: 1}
		o.Setup.Votes, o.Setup.Parameters = []uint64{3, 1, 3}, count // the first votes for itself after a crash
		if v := check(t, mutant, o).Violation; v == nil || v.Property != verify.TwoLeaders {
			t.Errorf("%v: found %+v", count, v)
		}
	}
}

func TestACrashedMemberBlocksTheElectionUntilItIsBack(t *testing.T) {
	for _, count := range counts {
		o := verify.Options{Size: 3, Crashes: 1}
		o.Setup.Parameters = count
		if v := check(t, preference.Algorithm, o).Violation; v == nil || v.Property != verify.Undecided {
			t.Errorf("%v: found %+v", count, v)
		}
		o.Recoveries = 1
		if v := check(t, preference.Algorithm, o).Violation; v != nil {
			t.Errorf("%v: %s: %s", count, v.Property, v.Detail)
		}
	}
}

// found expects that the checker finds a mutant in an election with the given votes.
func found(t *testing.T, property string, votes []uint64, o verify.Options, mutate func(*election.Algorithm[preference.Process, preference.Message])) {
	t.Helper()
	for _, count := range counts {
		mutant := preference.Algorithm
		mutate(&mutant)
		o.Size, o.Setup.Votes, o.Setup.Parameters = len(votes), votes, count
		if v := check(t, mutant, o).Violation; v == nil || v.Property != property {
			t.Errorf("%v: found %+v, want %q", count, v, property)
		}
	}
}

type (
	process = preference.Process
	message = preference.Message
	output  = *election.Out[message]
)

// One vote of three is for 1. Some process knows the two others first.
func TestDecidingByAMajorityOfEarlyVotesIsFound(t *testing.T) {
	found(t, verify.WrongLeader, []uint64{1, 2, 1}, verify.Options{}, func(a *election.Algorithm[process, message]) {
		a.New = func(l election.Local) process {
			p := preference.New(l)
			p.Missing = p.Missing/2 + 1
			return p
		}
	})
}

func TestATieThatTheSmallerWinsIsFound(t *testing.T) {
	found(t, verify.WrongLeader, []uint64{1, 2}, verify.Options{}, func(a *election.Algorithm[process, message]) {
		a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out output) {
			if kind == preference.Vote {
				m.Candidate = 1 // as if the larger process had voted for the smaller
			}
			p.Receive(port, kind, m, out)
		}
	})
}

// A mutant that does not remember which votes it has counted takes a repeated vote for another process's.
func TestCountingMessagesInsteadOfVotersIsFound(t *testing.T) {
	mutant := preference.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out output) {
		if kind == preference.Vote && p.Votes != nil && p.Votes[port] != 0 {
			port = election.Port((int(port) + 1) % int(p.Members)) // the next place that is free
		}
		p.Receive(port, kind, m, out)
	}
	o := verify.Options{Size: 3, Crashes: 1, Recoveries: 1}
	o.Setup.Votes = []uint64{1, 2, 1}
	if v := check(t, mutant, o).Violation; v == nil || v.Property != verify.Disagreement {
		t.Errorf("found %+v", v)
	}
}

// A recovered process has to ask: the others have told it already.
func TestARecoveredMemberThatDoesNotAskIsFound(t *testing.T) {
	found(t, verify.Undecided, []uint64{1, 2}, verify.Options{Crashes: 1, Recoveries: 1}, func(a *election.Algorithm[process, message]) {
		a.Recover = (*process).Start
		a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out output) {
			if kind != preference.Request || !p.Decided {
				p.Receive(port, kind, m, out)
			}
		}
	})
}
