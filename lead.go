package ringleader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/live"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
)

// The causes of the end of a leadership: what context.Cause returns for the context of work.
var (
	ErrLapsed      = errors.New("the lease has lapsed: no majority has renewed it")
	ErrResigned    = errors.New("the member resigned")
	ErrTransferred = errors.New("the lead was transferred")
	ErrPreempted   = errors.New("a member of higher rank takes over")
	ErrClosed      = errors.New("the member is closed")
)

// ErrNotLeader reports that this member does not lead. The text names the leader that it knows.
var ErrNotLeader = errors.New("this member does not lead")

// Leadership is a tenure of this member: the time from its election to the end of its lead.
type Leadership struct {
	member *Member
	term   election.Term
}

// Term returns the term, a fencing token: it is greater than that of each leader before.
func (l Leadership) Term() uint64 { return uint64(l.term) }

// Valid reports whether the lease runs at this moment. Between a call of Valid and what follows it the process may be
// paused for any time, so a resource that must have one writer has to compare terms: see package fence. The zero Leadership
// is never valid.
func (l Leadership) Valid() bool { return l.left() > 0 }

// left returns how long the lease still runs.
func (l Leadership) left() time.Duration {
	if l.member == nil {
		return 0
	}
	return l.member.group.Left(l.term)
}

// Deadline returns when the lease ends, unless it is renewed. It is the zero time if the lease has ended, and with [Bully],
// which has no leases.
func (l Leadership) Deadline() time.Time {
	now := time.Now() // before the other clock is read: a pause between them makes the deadline early, not late
	switch left := l.left(); left {
	case 0, process.Never:
		return time.Time{}
	default:
		return now.Add(left)
	}
}

// MaxValue is the largest length of a published value, in bytes.
const MaxValue = live.MaxValue

// Publish shows a value of at most [MaxValue] bytes to all members of the group, as View.Value, such as the address of the service that
// only the leader has. It is shown with this term only, so it ends with the lead, and a later value replaces it. Members that are
// reachable know it after one message. The error is [ErrConfig] for a longer value and with [Bully], which has no terms, and
// [ErrNotLeader] if the lease has ended.
func (l Leadership) Publish(value string) error {
	switch {
	case len(value) > MaxValue:
		return fmt.Errorf("%w: a published value has %d bytes, and at most %d are sent", ErrConfig, len(value), MaxValue)
	case l.member != nil && l.member.config.Algorithm == Bully:
		return fmt.Errorf("%w: %s has no terms, so a value could outlive its leader", ErrConfig, Bully)
	case !l.Valid():
		return fmt.Errorf("%w: the lease in term %d has ended", ErrNotLeader, l.term)
	}
	l.member.group.Publish(l.term, value)
	return nil
}

// WaitToLead returns as soon as this member itself leads; [Member.WaitLeader] waits for any leader. It is for a program whose work is
// not one function. [Leadership.Valid] reports whether the lead goes on, and [Member.Observe] yields its end; both tell it when the
// lease has ended, while [Member.Lead] stops the work before. After Lead has returned, the member does not lead until Lead is
// called again.
//
// The error tells why this member will not lead: [ErrConfig] for a witness, the reason for which the member has stopped,
// [ErrClosed] if Close was called, or the cause of ctx.
func (m *Member) WaitToLead(ctx context.Context) (Leadership, error) {
	if m.config.weight() == 0 {
		return Leadership{}, fmt.Errorf("%w: member %d is a witness, which never leads", ErrConfig, m.config.ID)
	}
	for {
		s, changed := m.group.State()
		if s.Role == network.Leader && !s.Stopping {
			return Leadership{m, s.Term}, nil
		}
		select {
		case <-changed:
		case <-m.Done():
			return Leadership{}, cmp.Or(m.Err(), ErrClosed)
		case <-ctx.Done():
			return Leadership{}, context.Cause(ctx)
		}
	}
}

// Lead runs work whenever this member leads, again and again, until ctx is done or work returns by itself. It never runs
// work twice at the same time.
//
// The context of work is cancelled before the lease ends: Timing.Grace and Timing.Margin earlier. Its cause tells why:
// [ErrLapsed], [ErrResigned], [ErrTransferred], [ErrPreempted], [ErrClosed], [ErrUnhealthy], [ErrStorage], [ErrStalled], or the end of ctx. Work has to
// return then. While it does so, the lease is renewed if that is possible; with ErrStorage and ErrStalled the work may hang, so the end of the
// lease stays as it is. After it has returned, the lead is released, and another member
// takes over at once. If work has not returned by Timing.Margin before the end of the lease, Config.Overrun applies: by
// default the process ends.
//
// After the end of ctx the work goes on while no member is warm that could take over, and another one may become so: for at most Timing.Handover, as
// with Resign. Without Config.Prepare at any member it ends at once.
//
// If work returns although its context is not done, the member hands over, and Lead returns the error of work. When Lead
// has returned, the member votes and does not lead, until Lead is called again; then work begins in a later term. Before the first call of Lead a
// member leads without work.
func (m *Member) Lead(ctx context.Context, work func(context.Context, Leadership) error) error {
	m.mu.Lock()
	if m.leading {
		m.mu.Unlock()
		return fmt.Errorf("%w: Lead runs already", ErrConfig)
	}
	m.leading = true
	m.mu.Unlock()
	m.standUp()
	var ended error
	defer func() {
		m.mu.Lock()
		m.leading = false
		m.mu.Unlock()
		m.standDown(resigned(ctx, ended))
	}()
	ended = m.leadAgain(ctx, work)
	return ended
}

// leadAgain runs work in each tenure.
func (m *Member) leadAgain(ctx context.Context, work func(context.Context, Leadership) error) error {
	for {
		s, changed := m.group.State()
		if s.Role == network.Leader && !s.Stopping && (s.Term == 0 || s.Term > m.began) && ctx.Err() == nil && m.group.Begin(s.Term) {
			m.began = s.Term
			ended, err := m.lead(ctx, Leadership{m, s.Term}, work)
			if ended {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.Done():
			return cmp.Or(m.Err(), ErrClosed)
		case <-changed:
		}
	}
}

// lead runs work in one tenure. Ended reports that it returned by itself.
func (m *Member) lead(ctx context.Context, l Leadership, work func(context.Context, Leadership) error) (ended bool, err error) {
	within, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	returned := make(chan error, 1)
	end := sync.OnceFunc(m.group.End)
	begun := m.config.Clock.Boottime()
	m.work.begin(l.term, begun)
	defer func() { m.ended(m.config.Clock.Boottime() - begun) }()
	go func() {
		err := work(within, l)
		end()
		returned <- err
	}()
	alarm := m.config.Clock.NewTimer()
	defer alarm.Stop()
	looked, progress := begun, m.config.Timing.Progress
	fuse := m.newFuse(l.term)
	defer fuse.remove()
	yields := m.yields(ctx, within)
	var until time.Duration // the end of the lease, as last known, on Boottime
	for {
		s, changed := m.group.State()
		ends, leads := m.group.Ends(l.term)
		if leads {
			until = ends
		}
		stopAt, now := before(until, m.config.Timing.early()), m.config.Clock.Boottime()
		if gap := now - looked; progress != 0 && gap > progress/2 {
			m.work.excuse(gap) // the work had no processor either
		}
		looked = now
		if cause := m.mustStop(ctx, yields, l, &s, !leads || now >= stopAt); cause != nil {
			cancel(cause)
			return false, m.stop(l, cause, until, fuse, end, returned)
		}
		next := stopAt
		if progress != 0 {
			next = min(next, now+progress/4)
		}
		arm(m.config.Clock, alarm, next)
		select {
		case err := <-returned:
			return true, err
		case <-alarm.C():
		case <-changed:
		case <-yields:
		}
	}
}

// resigned returns why a member gives up its lead whose context has ended, or whose work has returned: with the reason, if that is text of this
// program. Other members and the record get it, so it has no text of others.
func resigned(ctx context.Context, returned error) error {
	why, reason := "its work has returned", record.Reason("")
	if ctx.Err() != nil {
		why, returned = "the context of its work has ended", context.Cause(ctx)
	}
	if errors.As(returned, &reason) {
		why = string(reason)
	}
	return fmt.Errorf("%w: %s", ErrResigned, why)
}

// before returns a moment that long before another one.
func before(moment, early time.Duration) time.Duration {
	if moment == process.Never {
		return process.Never
	}
	return moment - early
}

// arm sets an alarm for a moment on Boottime. If the process was paused after the clock was read, the alarm would be late by as
// much, so it is set again.
func arm(c clock.Clock, alarm clock.Timer, at time.Duration) {
	for {
		now := c.Boottime()
		alarm.Reset(max(0, at-now))
		if at <= now || c.Boottime()-now < time.Millisecond {
			return
		}
	}
}

// mustStop returns the reason for which work has to stop, or nil; late: its lease is about to end, or has ended. The member then tries
// to hand over in good order. After the end of ctx it does so when yields is closed.
func (m *Member) mustStop(ctx context.Context, yields <-chan struct{}, l Leadership, s *view.State, late bool) (cause error) {
	select {
	case <-m.Done():
		return cmp.Or(m.Err(), ErrClosed)
	default:
	}
	switch {
	case s.Stopping && s.Term == l.term:
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.within == 0 || m.within == l.term {
			cause = m.cause
		}
		m.cause, m.within = nil, 0
		return cmp.Or(cause, ErrPreempted)
	case late:
		m.group.CommandBecause(election.Command{Order: election.Resign}, because(ErrLapsed)) // what stops now does not begin again in this term
		return ErrLapsed
	case m.config.Clock.Boottime() >= m.work.due(m.config.Timing.Progress):
		return m.stalls()
	}
	select {
	case <-yields:
		m.standDown(resigned(ctx, nil)) // the lease is renewed while the work stops
		return context.Cause(ctx)
	default:
		return nil
	}
}

// exitOverrun is the status with which a process ends whose work has not: EX_SOFTWARE.
const exitOverrun = 70

// stop waits until work has returned. By Timing.Margin before the end of the lease it must have. If the work may hang, the lease counts as one
// that nothing renews any more.
func (m *Member) stop(l Leadership, cause error, until time.Duration, fuse *fuse, end func(), returned <-chan error) error {
	alarm := m.config.Clock.NewTimer()
	defer alarm.Stop()
	if runsOut(cause) {
		fuse.burns()
	}
	for {
		_, changed := m.group.State()
		if ends, leads := m.group.Ends(l.term); leads && !runsOut(cause) {
			until = ends
		}
		now, last := m.config.Clock.Boottime(), before(until, m.config.Timing.Margin)
		if now >= last {
			if err, ended := m.overrun(l, returned); ended {
				return err
			}
			if runsOut(cause) {
				return m.abandon(l.term, until, end, returned)
			}
			return <-returned
		}
		arm(m.config.Clock, alarm, last)
		select {
		case err := <-returned:
			return err
		case <-alarm.C():
		case <-changed:
		}
	}
}

// overrun applies Config.Overrun. A process that ends says why: on standard error, if no log takes errors. Ended reports that the work has
// returned after all.
func (m *Member) overrun(l Leadership, returned <-chan error) (err error, ended bool) {
	select {
	case err := <-returned:
		return err, true
	default:
	}
	const text = "work has not returned, and its lease is about to end"
	m.say(func() {
		m.config.Logger.Error(text, "member", m.config.ID, "term", l.Term(), "margin", m.config.Timing.Margin)
		if m.config.Overrun == Exit && !m.config.Logger.Enabled(context.Background(), slog.LevelError) {
			fmt.Fprintf(os.Stderr, "ringleader: member %d, term %d: %s; the process ends, so that no two leaders work at the same time\n", m.config.ID, l.term, text)
		}
	})
	switch m.config.Overrun {
	case Exit:
		os.Exit(exitOverrun)
	case Panic:
		panic(fmt.Sprintf("ringleader: member %d, term %d: %s", m.config.ID, l.Term(), text))
	}
	return nil, false
}

// say waits for the text for a part of Timing.Margin only. The log may block, as standard error does when no process reads it. The work may
// hang for the same reason, and the lease ends all the same.
func (m *Member) say(text func()) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		text()
	}()
	alarm := m.config.Clock.NewTimer()
	defer alarm.Stop()
	alarm.Reset(m.config.Timing.Margin / 4)
	select {
	case <-said:
	case <-alarm.C():
	}
}

// Resign gives up the lead. It lets the work stop, hands over to an able member, even one of lower rank, and returns nil when
// this member leads no more in its term. If no other member can take over, this one may lead again later, in a greater term.
//
// Members with Config.Prepare take over when they are warm. While none is, and one may become so, the lead goes on for up to Timing.Handover; then
// any able member takes over.
//
// The error is [ErrNotLeader] if this member does not lead; then nothing happens. It is [ErrConfig] with [Bully], which does not hand
// over, and the cause of ctx if that is done first; then the work may still stop, and the lead ends later. Work that calls Resign
// needs the context that Lead has given to it, which ends here with the cause [ErrResigned]: the lead ends when the work has returned.
func (m *Member) Resign(ctx context.Context) error {
	if m.config.Algorithm == Bully {
		return fmt.Errorf("%w: %s does not hand over", ErrConfig, Bully)
	}
	v := m.View()
	if v.Role != Leader {
		return notLeader(v)
	}
	if _, err := m.awaitSuccessor(ctx, 0); err != nil {
		return err
	}
	if s, _ := m.group.State(); uint64(s.Term) != v.Term { // it leads again, for another reason
		return nil
	}
	m.handOver(ErrResigned)
	return m.waitForEnd(ctx, election.Term(v.Term))
}

// waitForEnd waits until this member does not lead in a term. The error is the cause of ctx.
func (m *Member) waitForEnd(ctx context.Context, term election.Term) error {
	lapse := m.config.Clock.NewTimer() // the loop may be blocked
	defer lapse.Stop()
	for {
		s, changed := m.group.State()
		if s.Role != network.Leader || s.Term != term {
			return nil
		}
		lapse.Reset(m.group.Left(term))
		select {
		case <-changed:
		case <-lapse.C():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// notLeader returns the error of a call that only a leader may make.
func notLeader(v View) error {
	if !v.Known {
		return fmt.Errorf("%w: it knows no leader", ErrNotLeader)
	}
	return fmt.Errorf("%w: member %d leads in term %d", ErrNotLeader, v.Leader, v.Term)
}

// Transfer asks the leader, if this member is it, to stop its work and to hand over to a member. It does not wait for that. The leader does so
// when that member is warm, or is not for Timing.Handover: see Config.Prepare. The error is [ErrConfig] if there is no such other member, and [ErrUnable] if that is known to be unable.
func (m *Member) Transfer(id uint64) error {
	member, known := m.live.Rank(id)
	switch {
	case m.config.Algorithm == Bully:
		return fmt.Errorf("%w: %s does not hand over", ErrConfig, Bully)
	case id == m.config.ID:
		return fmt.Errorf("%w: member %d is this one; a transfer names another member of the group", ErrConfig, id)
	case !known:
		return fmt.Errorf("%w: member %d is not another member of the group", ErrConfig, id)
	}
	s := m.group.Known()
	if !slices.Contains(s.Voters.Members, id) {
		return fmt.Errorf("%w: member %d has no vote, so it cannot lead", ErrConfig, id)
	}
	for i, other := range s.Members {
		if why := s.Standings[i].Unable; other == id && why != "" {
			return fmt.Errorf("%w: member %d: %s", ErrUnable, id, why)
		}
	}
	end := func() { m.end(ErrTransferred, election.Command{Order: election.Transfer, Member: member}) }
	if _, waits := m.successor(id); !waits {
		end()
		return nil
	}
	go func() {
		term := s.Term
		_, _ = m.awaitSuccessor(context.Background(), id) // no error without an end of the context
		if now, _ := m.group.State(); now.Term == term {
			end()
		}
	}()
	return nil
}

// end gives a command that ends a tenure, and notes the cause.
func (m *Member) end(cause error, c election.Command) {
	if s := m.group.Known(); s.Role == network.Leader { // else it ends none, and the next one ends for another reason
		m.mu.Lock()
		m.cause, m.within = cause, s.Term
		m.mu.Unlock()
	}
	m.group.CommandBecause(c, because(cause))
}

// because returns the cause of the end of a leadership as the other members are told it.
func because(err error) view.Because {
	for _, known := range []struct {
		err   error
		cause view.Cause
	}{
		{ErrStorage, view.Disk}, {ErrStalled, view.Stalled}, {ErrUnhealthy, view.Unhealthy}, {ErrTransferred, view.Transferred}, {ErrResigned, view.Resigned}, {ErrClosed, view.Closed}, {ErrLapsed, view.Lapsed},
	} {
		if errors.Is(err, known.err) {
			return view.Because{Cause: known.cause, Detail: err.Error()}
		}
	}
	return view.Because{}
}
