package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"sync"
	"syscall"
	"time"

	"ringleader.example/ringleader"
)

// Client asks one member. It only reads.
type Client interface {
	Status(ctx context.Context) (ringleader.Status, error)
	// Watch yields the status now and after each change of the leader, until ctx is done, or with an error at its end.
	Watch(ctx context.Context) iter.Seq2[ringleader.Status, error]
}

// Place is a member and where it answers.
type Place struct {
	ID    uint64
	Where string // for people
	Client
}

// MostMembers is the largest number of members that [Members] shows.
const MostMembers = 64

const (
	answerTime = 2 * time.Second        // after which a member counts as silent
	again      = 500 * time.Millisecond // after which a member that did not answer is asked again
	seldom     = time.Second            // between two looks at a member, besides changes of its leader
	often      = 50 * time.Millisecond  // at least between two looks at a lease
	mostText   = 300                    // bytes of a text of a member that are shown
)

// Members asks members, and shows their answers on a board until ctx is done. Members do not wait for each other: each is asked by a
// goroutine of its own, and over two connections. One is for changes of the leader, at once; the other looks at the rest of a lease
// about five times in its length, and at least once a second at all else.
func Members(ctx context.Context, b *Board, places []Place) {
	o := &observer{board: b, heard: make(chan report)}
	for _, p := range places {
		o.members = append(o.members, &seen{id: p.ID, where: p.Where, condition: Asking})
	}
	slices.SortFunc(o.members, func(a, b *seen) int { return cmp.Compare(a.id, b.id) })
	o.show()
	var all sync.WaitGroup
	for _, p := range places {
		all.Go(func() { o.follow(ctx, p) })
	}
	for {
		select {
		case <-ctx.Done():
			all.Wait()
			return
		case r := <-o.heard:
			if o.take(r) {
				o.show()
			}
		}
	}
}

// observer is what is known of all members. One goroutine owns it.
type observer struct {
	board     *Board
	heard     chan report
	members   []*seen // by identifier
	algorithm ringleader.Algorithm
	reigns    []Reign
}

// seen is what is known of a member that is asked.
type seen struct {
	id        uint64
	where     string
	condition Condition
	problem   string
	heard     time.Time         // the last report
	status    ringleader.Status // as it answered last, while it is running
	asked     time.Time         // when that was asked
	until     time.Time         // the end of its lease
}

// leads reports whether a member answers that it leads.
func (s *seen) leads() bool { return s.condition == Running && s.status.Role == ringleader.Leader }

// report is an answer of a member, or that there is none.
type report struct {
	id       uint64
	sent, at time.Time // of the question, and of the answer
	status   ringleader.Status
	err      error
}

// follow asks a member until ctx is done.
func (o *observer) follow(ctx context.Context, p Place) {
	for ctx.Err() == nil {
		life, end := context.WithCancel(ctx)
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for s, err := range p.Watch(life) {
				if err != nil {
					return // the next look finds out why
				}
				now := time.Now()
				o.report(ctx, report{id: p.ID, sent: now, at: now, status: s})
			}
		}()
		o.look(ctx, p, watched)
		end()
		<-watched
		wait(ctx, again)
	}
}

// look looks at a member again and again, until it does not answer or once more after the watch has ended.
func (o *observer) look(ctx context.Context, p Place, watched <-chan struct{}) {
	for last := false; ; {
		sent := time.Now()
		limited, cancel := context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("no answer within %v", answerTime))
		s, err := p.Status(limited)
		cancel()
		if ctx.Err() != nil {
			return
		}
		o.report(ctx, report{id: p.ID, sent: sent, at: time.Now(), status: s, err: err})
		if err != nil || last {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-watched:
			last = true
		case <-time.After(pause(s)):
		}
	}
}

// pause returns the time until the next look at a member.
func pause(s ringleader.Status) time.Duration {
	if s.Lease == nil {
		return seldom
	}
	return min(seldom, max(often, time.Duration(*s.Lease*float64(time.Second))/5))
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (o *observer) report(ctx context.Context, r report) {
	select {
	case o.heard <- r:
	case <-ctx.Done():
	}
}

// take notes a report, and reports whether it was new.
func (o *observer) take(r report) bool {
	m := o.find(r.id)
	if r.sent.Before(m.heard) {
		return false // a change was heard of while the question was under way
	}
	if r.err == nil && r.status.ID != r.id {
		r.err = fmt.Errorf("member %d answers at %s", r.status.ID, m.where)
	}
	was := *m
	m.heard, m.condition, m.problem, m.until = r.at, Running, "", time.Time{}
	switch {
	case r.err == nil:
		m.status, m.asked, o.algorithm = r.status, r.sent, ringleader.Algorithm(clip(string(r.status.Algorithm)))
		if l := r.status.Lease; l != nil {
			m.until = r.sent.Add(time.Duration(*l * float64(time.Second)))
		}
	case errors.Is(r.err, syscall.ECONNREFUSED) || errors.Is(r.err, fs.ErrNotExist):
		m.condition, m.problem, m.status = Ended, clip(r.err.Error()), ringleader.Status{}
	default:
		m.condition, m.problem, m.status = Silent, clip(r.err.Error()), ringleader.Status{}
	}
	o.tell(&was, m)
	o.reign(&was, r.at)
	return true
}

func (o *observer) find(id uint64) *seen {
	i := slices.IndexFunc(o.members, func(m *seen) bool { return m.id == id })
	if i < 0 {
		return nil
	}
	return o.members[i]
}

// tell puts into words what has changed.
func (o *observer) tell(was, is *seen) {
	say := func(kind Kind, text string) { o.board.Say(is.heard, kind, fmt.Sprintf("%d %s", is.id, text)) }
	if was.condition != is.condition {
		switch {
		case is.condition == Ended:
			say(Fault, "has no process that answers")
		case is.condition == Silent:
			say(Fault, "does not answer")
		case was.condition != Asking:
			say(Remark, "answers again")
		}
	}
	view := func(s *seen) (id, term uint64) {
		if s.status.Leader == nil {
			return 0, 0
		}
		return *s.status.Leader, s.status.Term
	}
	oldLeader, oldTerm := view(was)
	leader, term := view(is)
	if is.condition != Running || was.condition == Running && oldLeader == leader && oldTerm == term {
		return
	}
	in := ""
	if term > 0 {
		in = fmt.Sprintf(" in term %d", term)
	}
	switch {
	case leader == is.id:
		say(Leads, "is leader"+in)
	case leader != 0:
		say(Change, fmt.Sprintf("is follower of %d%s", leader, in))
	case was.leads():
		say(Change, "leads no more")
	default:
		say(Change, "knows no leader")
	}
}

// lead is a leader and its term.
type lead struct{ id, term uint64 }

// leads returns the leads that go on, with the ends of their leases. The word of a leader counts. Of a leader that is silent, or is
// not asked, that of the members counts that follow it; a process that has ended does not lead.
func (o *observer) leads() map[lead]time.Time {
	found := map[lead]time.Time{}
	for _, m := range o.members {
		if m.leads() {
			found[lead{m.id, m.status.Term}] = m.until
		} else if l := m.status.Leader; l != nil {
			of := o.find(*l)
			if of == nil || of.condition == Silent || of.condition == Asking {
				found[lead{*l, m.status.Term}] = time.Time{}
			}
		}
	}
	return found
}

// reign brings the history of leaders up to a time.
func (o *observer) reign(was *seen, at time.Time) {
	leads := o.leads()
	for i := range o.reigns {
		r := &o.reigns[i]
		key := lead{uint64(r.Leader), uint64(r.Term)}
		until, goes := leads[key]
		switch {
		case goes && (r.Goes || key.term > 0): // a leader that was silent may answer again, in the same term
			r.End, r.Goes = until, true
			delete(leads, key)
		case r.Goes:
			if r.End.IsZero() || at.Before(r.End) {
				r.End = at
			}
			r.Goes = false
		}
	}
	for key, until := range leads {
		o.reigns = append(o.reigns, Reign{Leader: ID(key.id), Term: ID(key.term), Begin: at, Before: was.condition == Asking, End: until, Goes: true})
	}
	if extra := len(o.reigns) - MostReigns; extra > 0 {
		o.reigns = slices.Delete(o.reigns, 0, extra)
	}
}

// show shows all that is known.
func (o *observer) show() {
	s := State{Algorithm: o.algorithm, Reigns: slices.Clone(o.reigns)}
	for _, m := range o.members {
		s.Members = append(s.Members, m.member())
	}
	for _, m := range o.members {
		for _, other := range m.status.Members {
			known := slices.ContainsFunc(s.Members, func(m Member) bool { return uint64(m.ID) == other.ID })
			if !known && len(s.Members) < MostMembers {
				s.Members = append(s.Members, Member{ID: ID(other.ID), Condition: Unasked, Witness: other.Witness, Standby: other.Standby})
			}
		}
	}
	slices.SortFunc(s.Members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	o.board.Show(s)
}

// member returns what is known of a member.
func (s *seen) member() Member {
	m := Member{ID: ID(s.id), Place: s.where, Condition: s.condition, Problem: s.problem}
	if s.condition != Running {
		return m
	}
	m.Role, m.Until = ringleader.Role(clip(string(s.status.Role))), s.until
	if l := s.status.Leader; l != nil {
		m.Leader, m.Term = ID(*l), ID(s.status.Term)
	}
	for _, why := range s.status.Why[:min(len(s.status.Why), MostMembers)] {
		m.Why = append(m.Why, clip(why))
	}
	for _, other := range s.status.Members[:min(len(s.status.Members), MostMembers)] {
		if g := other.Grant; g != nil {
			m.Grants = append(m.Grants, Grant{By: ID(other.ID), Until: s.asked.Add(time.Duration(*g * float64(time.Second)))})
		}
		switch {
		case other.ID == s.id:
			m.Witness, m.Standby, m.Unable = other.Witness, other.Standby, clip(other.Unable)
		case !other.Reachable:
			m.Misses = append(m.Misses, ID(other.ID))
		}
	}
	return m
}

// clip shortens a text of another process.
func clip(text string) string {
	if len(text) <= mostText {
		return text
	}
	return text[:mostText] + "…"
}
