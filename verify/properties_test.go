package verify

import (
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

// judged returns a configuration that a test sets up by hand: three live processes that have started, without further
// events.
func judged(t *testing.T, task election.Task, change func(*election.Algorithm[caller, call])) *walk {
	t.Helper()
	a := calling(election.Timed, silent)
	a.Task = task
	change(&a)
	w := newWalk(t, a, Options{Size: 3})
	for q := range 3 {
		w.set(q, func(p *model.ProcessState) { p.Start = model.NeverStarts })
	}
	w.all(func(g *model.Global) { g.Begun = true })
	return w
}

func unchanged(*election.Algorithm[caller, call]) {}

func (w *walk) set(q int, change func(*model.ProcessState)) *walk {
	p := *w.c.Process(w.here, q)
	change(&p)
	w.c.SetProcess(w.here, &p)
	return w
}

func (w *walk) all(change func(*model.Global)) *walk {
	g := *w.c.Global(w.here)
	g.Led = slices.Clone(g.Led)
	change(&g)
	w.c.SetGlobal(w.here, &g)
	return w
}

func (w *walk) decides(q int, e election.Effect) *model.Breach {
	return w.c.Decided(w.here, q, w.c.Work(w.c.Process(w.here, q), &model.Transition{}), []election.Effect{{Op: election.StopTimer}, e})
}

// expect compares a breach with one that is written as "property: detail", or "".
func (w *walk) expect(b *model.Breach, want string) {
	w.Helper()
	got := ""
	if b != nil {
		got = b.Property + ": " + b.Detail
	}
	if got != want {
		w.Errorf("%q; want %q", got, want)
	}
}

func lead(term election.Term) election.Effect {
	return election.Effect{Op: election.Lead, Term: term}
}

func follow(id election.ID, term election.Term) election.Effect {
	return election.Effect{Op: election.Follow, ID: id, Term: term}
}

func leader(p *model.ProcessState) {
	p.Decision = network.Decision{Leader: election.ID(p.Position + 1), Role: network.Leader}
}

func following(id election.ID) func(*model.ProcessState) {
	return func(p *model.ProcessState) { p.Decision = network.Decision{Leader: id, Role: network.Follower} }
}

func dead(p *model.ProcessState) { *p = model.ProcessState{State: p.State, Position: p.Position} }

func leaseLeft(units uint64) func(*model.ProcessState) {
	return func(p *model.ProcessState) { p.Lease = election.DeadlineIn(election.Units(units), election.Ticks{}) }
}

func TestASecondLeaderIsWrongAtOnceUnlessItIsAService(t *testing.T) {
	w := judged(t, election.Once, unchanged).set(0, leader)
	w.expect(w.decides(2, lead(0)), "two leaders: process 3 leads, and so does process 1")
	w.set(0, following(3))
	w.expect(w.decides(2, lead(0)), "")
	w = judged(t, election.Service, unchanged).set(0, leader)
	w.expect(w.decides(2, lead(0)), "")
}

func TestLeasesMayTouchAndNotOverlap(t *testing.T) {
	leased := func(a *election.Algorithm[caller, call]) { a.Leased, a.Winner = true, election.Unspecified }
	until := func(units uint64) election.Effect {
		return election.Effect{Op: election.Lead, Term: 2, Ticks: election.Units(units), Deadline: true}
	}
	for _, test := range []struct {
		left, taken uint64
		want        string
	}{
		{0, 1, ""},
		{0, 9, ""},
		{1, 0, ""}, // it has expired before it began
		{1, 1, "two running leases: process 2 leads for 1 units, while the lease of process 1 runs for another 1"},
		{1, 9, "two running leases: process 2 leads for 9 units, while the lease of process 1 runs for another 1"},
		{9, 1, "two running leases: process 2 leads for 1 units, while the lease of process 1 runs for another 9"},
	} {
		w := judged(t, election.Service, leased).set(0, leader).set(0, leaseLeft(test.left))
		w.expect(w.decides(1, until(test.taken)), test.want)
	}
	// Its own lease may be running. Without a declaration nothing is judged.
	w := judged(t, election.Service, leased).set(1, leaseLeft(5))
	w.expect(w.decides(1, until(9)), "")
	w = judged(t, election.Service, func(a *election.Algorithm[caller, call]) { a.Winner = election.Unspecified }).set(0, leaseLeft(5))
	w.expect(w.decides(1, until(9)), "")
	// What a dead life has begun counts, that of the process itself, too.
	orphan := func(p *model.ProcessState) { p.Orphan = election.DeadlineIn(election.Units(5), election.Ticks{}) }
	for q := range 2 {
		w = judged(t, election.Service, leased).set(q, orphan)
		w.expect(w.decides(1, until(9)), fmt.Sprintf(
			"two running leases: process 2 leads for 9 units, while the lease of an earlier life of process %d runs for another 5", q+1))
	}
	// Terms of successive leaders rise.
	w = judged(t, election.Service, leased).all(func(g *model.Global) { g.Led = []model.Tenure{{Term: 3, Position: 0}} })
	w.expect(w.decides(1, until(9)), "went back on a term: process 2 leads in term 2, and process 1 has led in term 3")
}

func TestTheWrongLeaderIsWrongAtOnceUnlessThereWasAFault(t *testing.T) {
	for _, task := range []election.Task{election.Once, election.Service} {
		w := judged(t, task, unchanged)
		w.expect(w.decides(2, lead(0)), "")
		w.expect(w.decides(1, lead(0)), "wrong leader: process 2 leads; the right leader is 3")
		w.all(func(g *model.Global) { g.Disturbed = true })
		w.expect(w.decides(1, lead(0)), "")
		w = judged(t, task, func(a *election.Algorithm[caller, call]) { a.Winner = election.Smallest })
		w.expect(w.decides(0, lead(0)), "")
		w = judged(t, task, func(a *election.Algorithm[caller, call]) { a.Winner = election.Unspecified })
		w.expect(w.decides(1, lead(0)), "")
	}
}

// A service may follow a wrong leader for a while; a decision for ever is judged at once.
func TestFollowingTheWrongLeaderIsWrongAtOnceUnlessItIsAService(t *testing.T) {
	w := judged(t, election.Once, unchanged)
	w.expect(w.decides(0, follow(2, 0)), "wrong leader: process 1 follows 2; the right leader is 3")
	w.expect(w.decides(0, follow(3, 0)), "")
	w.expect(w.decides(0, follow(0, 0)), "") // it names no leader
	w.all(func(g *model.Global) { g.Disturbed = true })
	w.expect(w.decides(0, follow(2, 0)), "")
	w = judged(t, election.Service, unchanged)
	w.expect(w.decides(0, follow(2, 0)), "")
	w = judged(t, election.Once, func(a *election.Algorithm[caller, call]) { a.Winner = election.Unspecified })
	w.expect(w.decides(0, follow(2, 0)), "")
}

// Processes that are not candidates now need not lead, even the largest.
func TestTheRightLeaderIsTheBestOfThoseThatStand(t *testing.T) {
	stands := func(a *election.Algorithm[caller, call]) {
		a.Eligible = func(p *caller) bool { return p.Heard == 0 }
		a.Timeout = func(p *caller, _ election.Timer, _ calls) { p.Heard = 1 }
	}
	for _, task := range []election.Task{election.Once, election.Service} {
		w := judged(t, task, stands).set(2, func(p *model.ProcessState) { p.Running = 1 })
		w.expect(w.decides(1, lead(0)), "wrong leader: process 2 leads; the right leader is 3")
		w.then("3 tick")
		w.expect(w.decides(1, lead(0)), "")
		w.expect(w.decides(2, lead(0)), "wrong leader: process 3 leads; the right leader is 2")
		w.set(0, following(2)).set(1, leader).set(2, following(2))
		w.expect(w.c.Settled(w.here), "")
	}
	willing := judged(t, election.Service, func(a *election.Algorithm[caller, call]) { a.Willingness = true })
	willing.expect(willing.set(2, leader).c.Settled(willing.set(0, following(3)).set(1, following(3)).here), "")
}

func TestATermHasOneLeader(t *testing.T) {
	lenient := func(a *election.Algorithm[caller, call]) { a.Winner = election.Unspecified }
	w := judged(t, election.Service, lenient)
	w.expect(w.decides(1, lead(4)), "")
	w.expect(w.decides(1, lead(4)), "") // again
	w.expect(w.decides(2, lead(4)), "two leaders of one term: process 3 leads in term 4, and so did process 2")
	w.expect(w.decides(2, lead(5)), "")
	w.expect(w.decides(1, lead(6)), "")
	w.expect(w.decides(0, lead(6)), "two leaders of one term: process 1 leads in term 6, and so did process 2")
	w.expect(w.decides(0, lead(0)), "") // no term
	w.expect(w.decides(2, lead(0)), "")
	if got, want := fmt.Sprint(w.c.Global(w.here).Led), fmt.Sprint([]model.Tenure{{Term: 4, Position: 1}, {Term: 6, Position: 1}, {Term: 5, Position: 2}}); got != want {
		t.Errorf("leaders: %s; want %s", got, want)
	}
	// The order in which they led makes no difference.
	other := judged(t, election.Service, lenient)
	for _, led := range []model.Tenure{{Term: 6, Position: 1}, {Term: 5, Position: 2}, {Term: 4, Position: 1}} {
		other.expect(other.decides(int(led.Position), lead(led.Term)), "")
	}
	if got, want := fmt.Sprint(other.c.Global(other.here)), fmt.Sprint(w.c.Global(w.here)); got != want {
		t.Errorf("%s in another order; want %s", got, want)
	}
}

func TestInGroupsALeaderCountsItsOwnTerms(t *testing.T) {
	w := judged(t, election.Groups, func(a *election.Algorithm[caller, call]) { a.Winner = election.Unspecified })
	w.expect(w.decides(0, follow(2, 4)), "went back on a term: process 1 follows 2 in term 4, in which that has not led")
	w.expect(w.decides(1, lead(4)), "")
	w.expect(w.decides(2, lead(4)), "")
	w.expect(w.decides(0, follow(2, 4)), "")
	w.expect(w.decides(0, follow(3, 4)), "")
	w.expect(w.decides(0, follow(2, 5)), "went back on a term: process 1 follows 2 in term 5, in which that has not led")
	w.expect(w.decides(0, follow(1, 4)), "went back on a term: process 1 follows 1 in term 4, in which that has not led")
	w.expect(w.decides(1, lead(4)), "went back on a term: process 2 leads in term 4 again")
	w.expect(w.decides(1, lead(5)), "")
	w = judged(t, election.Service, unchanged)
	w.expect(w.decides(0, follow(2, 4)), "")
}

func TestOfSeveralDecisionsInOneStepEachIsJudged(t *testing.T) {
	w := judged(t, election.Service, unchanged)
	w.expect(w.c.Decided(w.here, 1, model.Work{}, []election.Effect{follow(3, 0), lead(0), follow(3, 0)}), "wrong leader: process 2 leads; the right leader is 3")
}

func TestTheEndIsJudged(t *testing.T) {
	leased := func(a *election.Algorithm[caller, call]) { a.Leased = true }
	alone := func(a *election.Algorithm[caller, call]) { a.Decides = election.LeaderOnly }
	disturbed := func(g *model.Global) { g.Disturbed = true }
	w := func(task election.Task, change func(*election.Algorithm[caller, call])) *walk {
		return judged(t, task, change)
	}
	for i, test := range []struct {
		w    *walk
		want string
	}{
		{w(election.Once, unchanged).all(func(g *model.Global) { g.Begun = false }), ""}, // there was no election
		{w(election.Once, unchanged), "undecided at the end: process 1 has not decided"},
		{w(election.Once, unchanged).set(0, dead), "undecided at the end: process 2 has not decided"},
		{w(election.Once, alone), "no leader at the end: no process leads"},
		{w(election.Service, alone), "no leader at the end: no process leads"},
		{w(election.Once, alone).all(disturbed), ""}, // the leader may have died
		{w(election.Service, alone).all(disturbed), "no leader at the end: no process leads"},
		{w(election.Service, alone).set(0, dead).set(1, dead).set(2, dead), ""},
		{w(election.Once, alone).set(2, leader), ""},
		{w(election.Once, unchanged).set(2, leader), "undecided at the end: process 1 has not decided"},
		{w(election.Once, unchanged).set(2, leader).set(0, following(3)).set(1, following(3)), ""},
		{w(election.Once, unchanged).set(2, leader).set(0, following(3)).set(1, dead), ""},
		{w(election.Once, unchanged).set(2, leader).set(0, following(3)).set(1, following(0)), ""},
		{w(election.Once, unchanged).set(2, leader).set(0, following(3)).set(1, following(1)), "disagreement at the end: process 2 follows 1, and the leader is 3"},
		{w(election.Once, unchanged).set(2, leader).set(0, following(2)).set(1, following(3)), "disagreement at the end: process 1 follows 2, and the leader is 3"},
		{w(election.Once, unchanged).set(0, leader).set(1, following(1)).set(2, leader), "two leaders: process 1 leads, and so does process 3"},
		{w(election.Service, unchanged).set(0, leader).set(1, following(1)).set(2, leader), "two leaders: process 1 leads, and so does process 3"},
		// If no leader is left, the followers must follow the same one.
		{w(election.Once, unchanged).all(disturbed).set(0, following(3)).set(1, following(3)).set(2, dead), ""},
		{w(election.Once, unchanged).all(disturbed).set(0, following(2)).set(1, following(3)).set(2, dead), "disagreement at the end: process 2 follows 3, and the leader is 2"},
		{w(election.Once, unchanged).all(disturbed).set(0, following(0)).set(1, following(3)).set(2, following(2)), "disagreement at the end: process 3 follows 2, and the leader is 3"},
		{w(election.Once, unchanged).set(0, following(3)).set(1, following(3)).set(2, dead), "no leader at the end: no process leads, and process 1 follows 3"},
		{w(election.Service, unchanged).all(disturbed).set(0, dead).set(1, following(3)).set(2, following(3)), "no leader at the end: no process leads, and process 2 follows 3"},
		{w(election.Service, unchanged).all(disturbed).set(0, dead).set(1, following(0)).set(2, following(3)), "no leader at the end: no process leads, and process 3 follows 3"},
		// The right leader of a service is the best live process, at the end even after faults.
		{w(election.Service, unchanged).all(disturbed).set(0, following(2)).set(1, leader).set(2, dead), ""},
		{w(election.Service, unchanged).all(disturbed).set(0, following(2)).set(1, leader).set(2, following(2)), "wrong leader: process 2 leads; the right leader among the live processes is 3"},
		{w(election.Service, unchanged).all(disturbed).set(0, leader).set(1, following(1)).set(2, following(1)), "wrong leader: process 1 leads; the right leader among the live processes is 3"},
		{w(election.Service, func(a *election.Algorithm[caller, call]) { a.Winner = election.Unspecified }).set(0, following(2)).set(1, leader).set(2, following(2)), ""},
		{w(election.Once, unchanged).all(disturbed).set(0, following(2)).set(1, leader).set(2, following(2)), ""}, // judged when it was decided
		// A leader by a lease has to have one.
		{w(election.Service, leased).set(0, following(3)).set(1, following(3)).set(2, leader), "no leader at the end: the lease of process 3 has run out"},
		{w(election.Service, leased).set(0, following(3)).set(1, following(3)).set(2, leader).set(2, leaseLeft(1)), ""},
		{w(election.Service, unchanged).set(0, following(3)).set(1, following(3)).set(2, leader), ""},
	} {
		if test.w.expect(test.w.c.Settled(test.w.here), test.want); t.Failed() {
			t.Fatalf("this was case %d", i)
		}
	}
}

func TestALeaderWithoutALeaseBreaksTheContractWhereLeasesAreDeclared(t *testing.T) {
	a := calling(election.Timed, func(_ *caller, out calls) { out.Lead(1) })
	a.Task, a.Leased = election.Service, true
	fails(t, a, Options{Size: 1}, BrokeContract, 1)
	a.Leased = false
	holds(t, a, Options{Size: 1})
}

// No event is left, but the leases expire, even after 2^100 units.
func TestALeaseThatIsNeverRenewedEndsThoughNothingHappens(t *testing.T) {
	for _, lease := range []election.Ticks{election.Units(5), election.Power(100)} {
		a := calling(election.Timed, func(p *caller, out calls) {
			if p.ID == 1 {
				out.LeadUntil(out.Deadline(lease), 1)
			}
			p.Until = out.Deadline(election.Units(2))
		})
		a.Task, a.Leased, a.Decides, a.Winner = election.Service, true, election.LeaderOnly, election.Unspecified
		o := Options{Setup: network.On(2, 1, 3)}
		w := newWalk(t, a, o).then("1 starts", "2 starts", "3 starts")
		w.can("free " + lease.String() + " pass")
		w.then(lease.String() + " pass").can("")
		fails(t, a, o, NoLeader, 3)
		a.Leased = false
		holds(t, a, o)
	}
	// Of several, one after the other ends.
	two := calling(election.Timed, func(p *caller, out calls) { out.LeadUntil(out.Deadline(election.Units(uint64(9-p.ID))), 0) })
	two.Task, two.Winner = election.Service, election.Unspecified
	w := newWalk(t, two, Options{Setup: network.On(1, 3, 2)}).then("1 starts", "2 starts", "3 starts")
	w.can("free 6 pass")
	w.then("6 pass").can("free 1 pass")
	w.then("1 pass").can("free 1 pass")
	w.then("1 pass").can("")
}

// A decision takes the place of a lease, whether or not it is one by itself.
func TestALeaseEndsWithTheNextDecision(t *testing.T) {
	for decide, want := range map[string]uint64{"again": 3, "doubt": 0, "follow": 0, "nothing": 5} {
		w := newWalk(t, func() election.Algorithm[caller, call] {
			a := calling(election.Timed, func(_ *caller, out calls) {
				out.LeadUntil(out.Deadline(election.Units(5)), 1)
				switch decide {
				case "again":
					out.LeadUntil(out.Deadline(election.Units(3)), 1)
				case "doubt":
					out.NoLeader()
				case "follow":
					out.Follow(2, 2)
				}
			})
			a.Task, a.Winner = election.Service, election.Unspecified
			return a
		}(), Options{Size: 2, Initiators: []int{0}}).then("1 starts")
		if got := left(w.c.Process(w.here, 0).Lease); got != election.Units(want) {
			t.Errorf("%s: %s are left; want %d", decide, got, want)
		}
	}
}
