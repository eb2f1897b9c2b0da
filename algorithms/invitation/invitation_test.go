package invitation_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/invitation"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type (
	process = invitation.Process
	message = invitation.Group
	effects = election.Out[message]
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, invitation.Algorithm, electiontest.Options{
		Verify: 2, Parameters: []map[string]string{nil, {"rule-c": "no"}},
	})
	electiontest.Conform(t, invitation.Algorithm, electiontest.Options{
		Verify: -1, Parameters: []map[string]string{{"delay": "3"}, {"stagger": "5"}, {"check-period": "100", "poll-period": "7"}},
	})
}

// members returns the processes 1 … n.
func members(n int) election.List {
	ids := make(election.List, n)
	for p := range ids {
		ids[p] = uint64(p) + 1
	}
	return ids
}

// run runs until a time; 0 means as long as the declaration gives.
func run(t *testing.T, a election.Algorithm[process, message], n int, until uint64, o simulate.Options, parameters ...string) *simulate.Result {
	t.Helper()
	o.Setup = network.Setup{IDs: members(n), Parameters: map[string]string{}}
	for i := 0; i < len(parameters); i += 2 {
		o.Setup.Parameters[parameters[i]] = parameters[i+1]
	}
	o.Until = election.Units(until)
	r := electiontest.Run(t, a, o)
	if len(r.Faults) > 0 {
		t.Fatal(r.Faults)
	}
	return r
}

// expect compares the groups of the live processes: a group is a coordinator, its counter and its members.
func expect(t *testing.T, r *simulate.Result, groups ...[]int) {
	t.Helper()
	in := map[int]network.Decision{}
	for _, g := range groups {
		for _, member := range g[2:] {
			d := network.Decision{Term: election.Term(g[1]), Leader: election.ID(g[0]), Role: network.Follower}
			if member == g[0] {
				d.Role = network.Leader
			}
			in[member] = d
		}
	}
	for p, d := range r.Decisions {
		if d != in[p+1] {
			t.Errorf("process %d has decided %+v, want %+v", p+1, d, in[p+1])
		}
	}
}

// group returns the group of the processes from … to.
func group(coordinator, counter, from, to int) []int {
	g := []int{coordinator, counter}
	for p := from; p <= to; p++ {
		g = append(g, p)
	}
	return g
}

func crash(id int, at uint64) faults.Crash {
	return faults.Crash{Process: id - 1, At: election.Units(at)}
}

func recovery(id int, at uint64) faults.Recovery {
	return faults.Recovery{Process: id - 1, At: election.Units(at)}
}

// The vectors are the same whether messages or timers go first when both are due.
var timings = []simulate.Options{{Timing: election.Timed}, {Timing: election.Synchronous}}

func TestAllMergeAtOnceIfAllStartTogether(t *testing.T) {
	for _, o := range timings {
		for _, n := range []int{1, 2, 3, 5, 8, 11, 100} {
			checks, merge := uint64(n*(n-1)), uint64(n-1)
			r := run(t, invitation.Algorithm, n, 19, o)
			if want := []uint64{checks, checks, 0, merge, merge, merge, 0, 0, 0}; !slices.Equal(r.Messages.ByKind, want) {
				t.Errorf("%d processes: %v messages, want %v", n, r.Messages.ByKind, want)
			}
			if n == 1 {
				expect(t, r, group(1, 1, 1, 1))
				continue
			}
			expect(t, run(t, invitation.Algorithm, n, 8, o), group(n, 2, 1, n))
			if r := run(t, invitation.Algorithm, n, 7, o); r.Decided == n {
				t.Errorf("%d processes: all have decided at 7", n)
			}
		}
	}
}

func TestCoordinatorDies(t *testing.T) {
	for _, o := range timings {
		o.Faults.Crashes = []faults.Crash{crash(5, 30)}
		expect(t, run(t, invitation.Algorithm, 5, 42, o), group(5, 2, 1, 4))
		expect(t, run(t, invitation.Algorithm, 5, 43, o), group(1, 2, 1, 1), group(2, 2, 2, 2), group(3, 2, 3, 3), group(4, 2, 4, 4))
		expect(t, run(t, invitation.Algorithm, 5, 91, o), group(4, 3, 1, 4))
		if r := run(t, invitation.Algorithm, 5, 90, o); r.Agreed {
			t.Error("all agree at 90")
		}
	}
}

func TestEachPartOfACutNetworkIsAGroupAndBothMergeWhenItHeals(t *testing.T) {
	for _, o := range timings {
		o.Faults.Cuts = []faults.Cut{faults.Partition(election.Units(30), election.Units(150), []int{0, 1, 2}, []int{3, 4})}
		expect(t, run(t, invitation.Algorithm, 5, 150, o), group(3, 3, 1, 3), group(5, 2, 4, 5))
		healed := run(t, invitation.Algorithm, 5, 0, o)
		expect(t, healed, group(5, 3, 1, 5))
		if !healed.Right {
			t.Error("one group is not right")
		}
	}
}

// If the sides have been one group before, its coordinator still counts all as members. It invites those on the other
// side, too, which their own coordinator invites as well.
func TestMergingTwoGroupsCostsOneInvitationAcceptanceAndReadyForEachButOne(t *testing.T) {
	for n := 2; n <= 7; n++ {
		for half := 1; half < 1<<(n-1); half++ { // process n is on the other side
			sides := make([][]int, 2)
			for p := range n {
				sides[half>>p&1] = append(sides[half>>p&1], p)
			}
			others := uint64(n - 1)
			for cut, twice := range map[uint64]uint64{0: 0, 30: uint64(len(sides[1]) - 1)} {
				var o simulate.Options
				o.Faults.Cuts = []faults.Cut{faults.Partition(election.Units(cut), election.Units(150), sides...)}
				parts, all := run(t, invitation.Algorithm, n, 150, o), run(t, invitation.Algorithm, n, 0, o)
				if len(parts.Leaders) != 2 || !all.Right {
					t.Fatalf("%v: %d groups, then right: %v", sides, len(parts.Leaders), all.Right)
				}
				sent := func(kind election.Kind) uint64 { return all.Messages.ByKind[kind] - parts.Messages.ByKind[kind] }
				if i, a, r := sent(invitation.Invite), sent(invitation.Accept), sent(invitation.Ready); i != others+twice || a != others || r != others {
					t.Errorf("%v, cut at %d: %d, %d and %d messages, want %d and twice %d", sides, cut, i, a, r, others+twice, others)
				}
			}
		}
	}
}

// A complete group sends 2(N-1) messages at each check of its coordinator, and 2 for each member's poll.
func TestWhatAGroupAtRestCosts(t *testing.T) {
	for n := 2; n <= 8; n++ {
		before, after := run(t, invitation.Algorithm, n, 99, simulate.Options{}), run(t, invitation.Algorithm, n, 139, simulate.Options{})
		sent := make([]uint64, len(after.Messages.ByKind))
		for k := range sent {
			sent[k] = after.Messages.ByKind[k] - before.Messages.ByKind[k]
		}
		others := uint64(n - 1)
		if want := []uint64{others, 0, others, 0, 0, 0, 2 * others, 2 * others, 0}; !slices.Equal(sent, want) {
			t.Errorf("%d processes: %v in a period, want %v", n, sent, want)
		}
	}
}

func TestWithoutRuleCTwoInviteEachOtherForEver(t *testing.T) {
	for _, o := range timings {
		r := run(t, invitation.Algorithm, 2, 400, o, "rule-c", "no", "stagger", "3")
		if r.Messages.ByKind[invitation.Invite] != 20 || r.Messages.ByKind[invitation.Accept] != 0 || r.Agreed {
			t.Errorf("%v messages, agreed %v", r.Messages.ByKind, r.Agreed)
		}
		expect(t, run(t, invitation.Algorithm, 2, 11, o, "stagger", "3"), group(2, 2, 1, 2))
		if r := run(t, invitation.Algorithm, 2, 10, o, "stagger", "3"); r.Agreed {
			t.Error("with rule C, both agree at 10")
		}
	}
}

// ruleCAlone returns the protocol with rule C and without rule D: the messages that rule D adds are ignored.
func ruleCAlone() election.Algorithm[process, message] {
	mutant := invitation.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		if kind == invitation.Invite && p.Stage == invitation.Reorganize || kind == invitation.Accept && p.Stage != invitation.Election {
			return
		}
		p.Receive(port, kind, m, out)
	}
	return mutant
}

func TestWithRuleCAloneTwoPairsInviteEachOtherForEver(t *testing.T) {
	var o simulate.Options
	for i, at := range []uint64{18, 22, 26, 29} {
		o.Faults.Crashes = append(o.Faults.Crashes, crash(i+1, 0))
		o.Faults.Recoveries = append(o.Faults.Recoveries, recovery(i+1, at))
	}
	if r := run(t, ruleCAlone(), 4, 10_000, o); r.Agreed {
		t.Error("without rule D, all agree")
	}
	if r := run(t, invitation.Algorithm, 4, 0, o); !r.Right {
		t.Errorf("with rule D, coordinators are at %v", r.Leaders)
	}
}

// With its usual period, a process of low priority has the time to merge even if most others have died.
func TestTheLowestOfManyMerge(t *testing.T) {
	const n = 60
	var o simulate.Options
	for p := 2; p < n; p++ {
		o.Faults.Dead = append(o.Faults.Dead, p)
	}
	if r := run(t, invitation.Algorithm, n, 0, o); !r.Right {
		t.Errorf("coordinators at %v", r.Leaders)
	}
}

// Times of any length fit into a process's clock.
func TestLongestTimes(t *testing.T) {
	const delay, period = "72057594037927936", "4611686018427387904"
	r := run(t, invitation.Algorithm, 3, 0, simulate.Options{Delay: 1}, "delay", delay, "stagger", delay)
	if !r.Right {
		t.Errorf("coordinators at %v", r.Leaders)
	}
	run(t, invitation.Algorithm, 3, 10, simulate.Options{}, "check-period", period, "poll-period", period)
}

func TestEverySchedule(t *testing.T) {
	for _, test := range []struct {
		verify.Options
		parameters map[string]string
	}{
		{verify.Options{Size: 4, Starts: verify.AllFirst}, nil},
		{verify.Options{Size: 3, Starts: verify.AllFirst, Crashes: 1, Recoveries: 1}, nil},
		{verify.Options{Size: 2, Starts: verify.AllFirst, Crashes: 1, Recoveries: 1, Unordered: true}, map[string]string{"delay": "2"}},
		{verify.Options{Size: 2, Starts: verify.AnyTime, Unordered: true}, map[string]string{"delay": "2"}},
		{verify.Options{Size: 2, Starts: verify.AnyTime}, map[string]string{"stagger": "3"}},
	} {
		report := electiontest.Verify(t, invitation.Algorithm, test.Options, test.parameters)
		if v := report.Violation; v != nil {
			t.Errorf("%d processes, %d crash, %v: %s: %s", test.Size, test.Crashes, test.parameters, v.Property, v.Detail)
		}
		t.Logf("%d processes: %d states", test.Size, report.States)
	}
}

// finite returns the algorithm with counters that restart after 3, and decisions without terms. It has as many groups
// as processes can distinguish, and so few states.
func finite() election.Algorithm[process, message] {
	abstract := invitation.Algorithm
	abstract.Task = election.Service
	step := func(p *process, out *effects, do func(*effects)) {
		var c election.Collector[message]
		do(c.Out())
		p.Counter %= 3
		for _, s := range c.Sent() {
			out.Send(election.Port(s.On()), s.Kind(), s.M)
		}
		for _, e := range c.Effects() {
			switch e.Op {
			case election.SetTimer:
				out.After(e.Timer, e.Ticks)
			case election.StopTimer:
				out.Stop(e.Timer)
			case election.Lead:
				out.Lead(0)
			case election.Follow:
				out.Follow(e.ID, 0)
			case election.NoLeader:
				out.NoLeader()
			}
		}
	}
	abstract.Start = func(p *process, out *effects) { step(p, out, p.Start) }
	abstract.Recover = abstract.Start
	abstract.Timeout = func(p *process, timer election.Timer, out *effects) {
		step(p, out, func(out *effects) { p.Timeout(timer, out) })
	}
	abstract.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		step(p, out, func(out *effects) { p.Receive(port, kind, m, out) })
	}
	return abstract
}

func TestTheCheckerFindsTheCycleWithoutRuleC(t *testing.T) {
	o := verify.Options{Size: 2, Starts: verify.AllFirst}
	for rule, want := range map[string]string{"yes": "", "no": verify.NeverEnds} {
		found := ""
		if v := electiontest.Verify(t, finite(), o, map[string]string{"rule-c": rule, "stagger": "3"}).Violation; v != nil {
			found = v.Property
		}
		if found != want {
			t.Errorf("rule C %s: found %q, want %q", rule, found, want)
		}
	}
}

func TestForgottenCounterIsFound(t *testing.T) {
	mutant := invitation.Algorithm
	mutant.Durable = nil
	for n := 1; n <= 3; n++ {
		v := electiontest.Verify(t, mutant, verify.Options{Size: n, Starts: verify.AllFirst, Crashes: 1, Recoveries: 1}, nil).Violation
		if v == nil || v.Property != verify.WrongTerm {
			t.Errorf("%d processes: found %+v", n, v)
		}
	}
}

func TestFollowingBeforeAGroupIsReadyIsFound(t *testing.T) {
	mutant := invitation.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		if p.Receive(port, kind, m, out); kind == invitation.Invite && p.Stage == invitation.Reorganize {
			out.Follow(m.Coordinator, m.Counter)
		}
	}
	v := electiontest.Verify(t, mutant, verify.Options{Size: 2, Starts: verify.AllFirst}, nil).Violation
	if v == nil || v.Property != verify.WrongTerm {
		t.Errorf("found %+v", v)
	}
}
