package observe_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/observe"
)

// fake is a member that answers as a test wants.
type fake struct {
	mu      sync.Mutex
	status  ringleader.Status
	err     error         // instead of an answer
	hangs   bool          // it does not answer at all
	changed chan struct{} // closed by the next change
	asked   int           // for its status
	held    chan struct{} // until it is closed, answers are under way
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fake) Status(ctx context.Context) (ringleader.Status, error) {
	f.mu.Lock()
	f.asked++
	s, err, hangs, held := f.status, f.err, f.hangs, f.held
	f.mu.Unlock()
	if held != nil {
		<-held
	}
	if hangs {
		<-ctx.Done()
		return s, context.Cause(ctx)
	}
	return s, err
}

func (f *fake) Watch(ctx context.Context) iter.Seq2[ringleader.Status, error] {
	return func(yield func(ringleader.Status, error) bool) {
		for {
			f.mu.Lock()
			s, err, hangs, changed := f.status, f.err, f.hangs, f.changed
			f.mu.Unlock()
			if !hangs && !yield(s, err) || err != nil {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// times returns how often the member was asked for its status.
func (f *fake) times() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// leads makes the member lead.
func (f *fake) leads(term uint64, lease time.Duration) {
	f.set(func() {
		f.status.Role, f.status.Leader, f.status.Term = ringleader.Leader, &f.status.ID, term
		left := lease.Seconds()
		f.status.Lease, f.err, f.hangs = &left, nil, false
	})
}

// follows makes the member follow a leader; 0: none.
func (f *fake) follows(leader, term uint64) {
	f.set(func() {
		f.status.Role, f.status.Leader, f.status.Term, f.status.Lease, f.err, f.hangs = ringleader.Follower, &leader, term, nil, nil, false
		if leader == 0 {
			f.status.Role, f.status.Leader = ringleader.Electing, nil
		}
	})
}

// dies makes the member's process end.
func (f *fake) dies() { f.set(func() { f.err = fmt.Errorf("connect: %w", syscall.ECONNREFUSED) }) }

// falls makes the member silent: neither answers nor errors come from it.
func (f *fake) falls() { f.set(func() { f.hangs = true }) }

// watched runs a test of a board with members 1 to n.
func watched(t *testing.T, n int, test func(t *testing.T, b *observe.Board, members []*fake)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := observe.NewBoard("a group")
		var members []*fake
		var places []observe.Place
		for i := range n {
			f := &fake{status: ringleader.Status{ID: uint64(i + 1), Algorithm: ringleader.QuorumBully, Role: ringleader.Electing}, changed: make(chan struct{})}
			members = append(members, f)
			places = append(places, observe.Place{ID: uint64(i + 1), Where: fmt.Sprint("place ", i+1), Client: f})
		}
		var all sync.WaitGroup
		all.Go(func() { observe.Members(ctx, b, places) })
		synctest.Wait()
		test(t, b, members)
		cancel()
		all.Wait()
	})
}

// text returns the conditions of all members, and the reigns.
func text(b *observe.Board) string {
	s, _ := b.Read(0)
	var words []string
	for _, m := range s.Members {
		words = append(words, fmt.Sprint(m.ID, " ", m.Condition))
	}
	for _, r := range s.Reigns {
		reign := fmt.Sprintf("| %d in %d from %v", r.Leader, r.Term, r.From)
		if r.Until != nil {
			reign += fmt.Sprintf(" until %v", *r.Until)
		}
		if r.Goes {
			reign += " goes"
		}
		if r.Before {
			reign += " before"
		}
		words = append(words, reign)
	}
	return strings.Join(words, " ")
}

func expect(t *testing.T, b *observe.Board, want string) {
	t.Helper()
	synctest.Wait()
	if got := text(b); got != want {
		t.Errorf("the board shows\n%s, want\n%s", got, want)
	}
}

func TestAMemberThatDoesNotAnswerDelaysNoOther(t *testing.T) {
	watched(t, 3, func(t *testing.T, b *observe.Board, members []*fake) {
		members[1].falls()
		members[2].leads(1, time.Second)
		expect(t, b, "1 running 2 running 3 running | 3 in 1 from 0 until 1000 goes")
		<-time.After(1100 * time.Millisecond)
		members[2].follows(1, 2)
		members[0].leads(2, time.Second)
		<-time.After(2 * time.Second)
		expect(t, b, "1 running 2 silent 3 running | 3 in 1 from 0 until 1100 | 1 in 2 from 1100 until 4000 goes")
		s, _ := b.Read(0)
		if p := s.Members[1].Problem; p != "no answer within 2s" {
			t.Errorf("the problem is %q", p)
		}
	})
}

func TestMembersThatNeverAnsweredAreShownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := observe.NewBoard("a group")
		var places []observe.Place
		for _, id := range []uint64{1<<64 - 1, 1} {
			places = append(places, observe.Place{ID: id, Client: &fake{hangs: true, changed: make(chan struct{})}})
		}
		go observe.Members(ctx, b, places)
		expect(t, b, "1 asking 18446744073709551615 asking")
		cancel()
		synctest.Wait()
	})
}

// The death of a leader is its end. The next leader comes later: the history has the gap.
func TestTheHistoryHasTheTimeWithoutALeader(t *testing.T) {
	watched(t, 3, func(t *testing.T, b *observe.Board, members []*fake) {
		members[0].follows(3, 1)
		members[2].leads(1, 500*time.Millisecond)
		synctest.Wait()
		<-time.After(100 * time.Millisecond)
		members[2].dies()
		synctest.Wait()
		<-time.After(470 * time.Millisecond)
		members[0].follows(2, 2)
		members[1].leads(2, 500*time.Millisecond)
		expect(t, b, "1 running 2 running 3 ended | 3 in 1 from 0 until 100 | 2 in 2 from 570 until 1070 goes")
		<-time.After(time.Second)
		members[2].follows(2, 2)
		<-time.After(time.Second)
		expect(t, b, "1 running 2 running 3 running | 3 in 1 from 0 until 100 | 2 in 2 from 570 until 3000 goes")
		s, _ := b.Read(0)
		var lines []string
		for _, l := range s.Lines {
			lines = append(lines, l.Text)
		}
		for _, want := range []string{"3 is leader in term 1", "3 has no process that answers", "2 is leader in term 2", "3 answers again", "3 is follower of 2 in term 2"} {
			if !slices.Contains(lines, want) {
				t.Errorf("the lines are %q, without %q", lines, want)
			}
		}
	})
}

// The observer may be the one that is cut off: the word of followers counts while a leader is silent.
func TestASilentLeaderLeadsAsLongAsOthersFollowIt(t *testing.T) {
	watched(t, 2, func(t *testing.T, b *observe.Board, members []*fake) {
		members[0].follows(2, 4)
		members[1].leads(4, time.Second)
		synctest.Wait()
		members[1].falls()
		<-time.After(4 * time.Second)
		expect(t, b, "1 running 2 silent | 2 in 4 from 0 goes")
		members[1].leads(4, time.Second)
		<-time.After(4 * time.Second)
		expect(t, b, "1 running 2 running | 2 in 4 from 0 until 9000 goes")
		members[1].falls()
		<-time.After(4 * time.Second)
		members[0].follows(0, 4)
		expect(t, b, "1 running 2 silent | 2 in 4 from 0 until 12000")
	})
}

func TestALeaderThatIsNotAskedIsKnownFromItsFollowers(t *testing.T) {
	watched(t, 1, func(t *testing.T, b *observe.Board, members []*fake) {
		members[0].set(func() { members[0].status.Members = []ringleader.MemberStatus{{ID: 1}, {ID: 9, Witness: false}} })
		members[0].follows(9, 3)
		expect(t, b, "1 running 9 unasked | 9 in 3 from 0 goes")
		s, _ := b.Read(0)
		if m := s.Members[0]; len(m.Misses) != 1 || m.Misses[0] != 9 {
			t.Errorf("1 does not hear from %v", m.Misses)
		}
	})
}

func TestAnAnswerThatIsOlderThanAChangeIsDropped(t *testing.T) {
	watched(t, 1, func(t *testing.T, b *observe.Board, members []*fake) {
		held := make(chan struct{})
		members[0].set(func() { members[0].held = held })
		<-time.After(1100 * time.Millisecond) // a question is under way, and its answer knows no leader
		members[0].leads(1, time.Minute)
		expect(t, b, "1 running | 1 in 1 from 1100 until 61100 goes")
		close(held)
		expect(t, b, "1 running | 1 in 1 from 1100 until 61100 goes")
	})
}

// Bully has no terms: a member that leads again begins anew.
func TestWithoutTermsEachLeadIsItsOwn(t *testing.T) {
	watched(t, 1, func(t *testing.T, b *observe.Board, members []*fake) {
		for range 2 {
			members[0].leads(0, time.Second)
			members[0].set(func() { members[0].status.Lease = nil })
			synctest.Wait()
			<-time.After(100 * time.Millisecond)
			members[0].follows(0, 0)
			synctest.Wait()
			<-time.After(100 * time.Millisecond)
		}
		expect(t, b, "1 running | 1 in 0 from 0 until 100 | 1 in 0 from 200 until 300")
	})
}

func TestAnotherMemberAtAPlaceIsAProblemOfThatPlace(t *testing.T) {
	watched(t, 2, func(t *testing.T, b *observe.Board, members []*fake) {
		members[1].set(func() { members[1].status.ID = 7 })
		members[1].leads(1, time.Second)
		expect(t, b, "1 running 2 silent")
		if s, _ := b.Read(0); s.Members[1].Problem != "member 7 answers at place 2" {
			t.Errorf("the problem is %q", s.Members[1].Problem)
		}
	})
}

func TestAHostileMemberTakesNoMoreRoomThanOthers(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	watched(t, 1, func(t *testing.T, b *observe.Board, members []*fake) {
		members[0].set(func() {
			s := &members[0].status
			s.Role, s.Algorithm = ringleader.Role(long), ringleader.Algorithm(long)
			for i := range 10000 {
				s.Why = append(s.Why, long)
				s.Members = append(s.Members, ringleader.MemberStatus{ID: uint64(i), Unable: long})
			}
		})
		for range 2 {
			<-time.After(time.Second)
			s, _ := b.Read(0)
			if size := len(fmt.Sprintf("%+v", s)); size > 100_000 || len(s.Members) > observe.MostMembers {
				t.Errorf("%d members in %d bytes", len(s.Members), size)
			}
			members[0].set(func() { members[0].err = errors.New(long) })
		}
	})
}

func TestTheVotesOfALeaderAreThoseThatItReports(t *testing.T) {
	watched(t, 2, func(t *testing.T, b *observe.Board, members []*fake) {
		members[0].leads(1, time.Second)
		own, other, none := 2.0, 1.5, 0.0
		members[0].set(func() {
			members[0].status.Members = []ringleader.MemberStatus{{ID: 1, Reachable: true, Grant: &own}, {ID: 2, Reachable: true, Grant: &other}, {ID: 3, Grant: &none}, {ID: 4}}
		})
		<-time.After(1100 * time.Millisecond)
		s, _ := b.Read(0)
		if g := s.Members[0].Grants; len(g) != 2 || g[0].By != 1 || g[1].By != 2 || g[0].Left-g[1].Left != 500 || g[0].Left > 2000 || g[1].Left < 1000 {
			t.Errorf("the grants are %+v", g)
		}
		if g := s.Members[1].Grants; len(g) != 0 {
			t.Errorf("a follower has the grants %+v", g)
		}
	})
}

// The rest of a lease is known although no change of the leader brings it.
func TestALeaseIsLookedAtSeveralTimesInItsLength(t *testing.T) {
	for lease, want := range map[time.Duration][2]int{500 * time.Millisecond: {95, 101}, time.Millisecond: {195, 201}, time.Minute: {9, 11}} {
		watched(t, 1, func(t *testing.T, _ *observe.Board, members []*fake) {
			members[0].leads(1, lease)
			<-time.After(time.Second)
			before := members[0].times()
			<-time.After(10 * time.Second)
			if n := members[0].times() - before; n < want[0] || n > want[1] {
				t.Errorf("with a lease of %v the member is asked %d times in 10 s", lease, n)
			}
		})
	}
}
