package ringleader

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
)

// Warmth is how far [Config.Prepare] of a member is: [Warm], [Warming] or [Cold]. It is empty for a member that prepares nothing.
type Warmth string

// The degrees.
const (
	Warm    Warmth = "warm"    // Prepare has returned nil, or the member leads
	Warming Warmth = "warming" // Prepare runs
	Cold    Warmth = "cold"    // Prepare has failed last; it runs again after a pause
)

// warmths are the degrees as members tell them.
var warmths = [...]Warmth{view.Unprepared: "", view.Failed: Cold, view.Warming: Warming, view.Warm: Warm}

// ErrLeads is the cause of the end of the context of Config.Prepare when the member leads.
var ErrLeads = errors.New("the member leads")

// ErrStale is the cause of the end of the context of Config.Prepare when it is to begin again: see [Member.PrepareAgain].
var ErrStale = errors.New("what was prepared is out of date")

// The pauses after a preparation that has failed; each doubles the one before.
const (
	leastPrepareRest = time.Second
	mostPrepareRest  = time.Minute
)

// preparation is what a member knows of its Config.Prepare. A nil preparation prepares nothing.
type preparation struct {
	prepare func(context.Context) error
	stale   chan struct{} // has room for one wish to prepare again
	ended   chan struct{} // closed when none begins any more

	mu     sync.Mutex
	warmth view.Warmth
	cold   string // why it failed last
}

func newPreparation(prepare func(context.Context) error, witness bool) *preparation {
	if prepare == nil || witness {
		return nil
	}
	return &preparation{prepare: prepare, stale: make(chan struct{}, 1), ended: make(chan struct{}), warmth: view.Warming}
}

// wait waits until none begins any more.
func (p *preparation) wait() {
	if p != nil {
		<-p.ended
	}
}

// state returns how far it is.
func (p *preparation) state() (warmth view.Warmth, cold string) {
	if p == nil {
		return view.Unprepared, ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.warmth, p.cold
}

// becomes tells all members how warm this one is.
func (m *Member) becomes(warmth view.Warmth, cold string) {
	p := m.preparation
	p.mu.Lock()
	changed := p.warmth != warmth || p.cold != cold
	p.warmth, p.cold = warmth, cold
	p.mu.Unlock()
	if changed {
		m.stand(nil, func() {})
	}
}

// PrepareAgain lets Config.Prepare run again, for example when what it has prepared is out of date. The member is not warm until it has returned. A
// run that goes on ends first: the cause of its context is [ErrStale]. Nothing happens while the member leads, and without Config.Prepare.
func (m *Member) PrepareAgain() {
	if m.preparation == nil {
		return
	}
	select {
	case m.preparation.stale <- struct{}{}:
	default:
	}
}

// prepares prepares this member for the lead, again after each tenure, until the member has stopped.
func (m *Member) prepares() {
	defer close(m.preparation.ended)
	select {
	case <-m.group.Resumed(): // after a restart it waits from now on
	case <-m.Done():
		return
	}
	rest := m.config.Clock.NewTimer()
	defer rest.Stop()
	pause := leastPrepareRest
	for {
		err := m.prepareOnce()
		var again <-chan time.Time
		led := errors.Is(err, ErrLeads) // its tenure may have ended since
		switch {
		case errors.Is(err, ErrStale):
			continue
		case err == nil || led:
			pause = leastPrepareRest
		case m.stopped():
			return
		default:
			m.becomes(view.Failed, err.Error())
			m.config.Logger.Warn("this member cannot become warm: another one is to lead", "member", m.config.ID, "error", err, "again_in", pause)
			rest.Reset(pause)
			again, pause = rest.C(), min(2*pause, mostPrepareRest)
		}
		if !m.awaitNextPreparation(led, again) {
			return
		}
	}
}

// awaitNextPreparation waits until the member has to prepare: its tenure has ended, again is ready, or it was asked to. It reports false if
// the member has stopped. Without again the member is prepared, and warm as soon as it could lead: after a restart it takes no part while the promises
// of its life before run, and the lead is not to go there before. If it hears of no leader for half of that time, the group has restarted as a whole,
// and all its members are alike.
func (m *Member) awaitNextPreparation(led bool, again <-chan time.Time) bool {
	told := again != nil
	restarted, half := m.config.Clock.NewTimer(), m.config.Timing.Lease/2
	defer restarted.Stop()
	for {
		s, changed := m.group.State()
		leads := s.Role == network.Leader
		var passed <-chan time.Time
		switch left := m.group.Timer("wait"); {
		case leads:
			led, again = true, nil
			m.becomes(view.Warm, "")
		case led:
			return true
		case again != nil:
		case s.Leader != 0 && left > 0:
			m.becomes(view.Warming, "")
			restarted.Reset(left)
			passed = restarted.C()
		case left > half:
			m.becomes(view.Warming, "")
			restarted.Reset(left - half)
			passed = restarted.C()
		default:
			m.becomes(view.Warm, "")
		}
		if !told && passed == nil {
			told = true
			m.config.Logger.Info("this member is warm", "member", m.config.ID, "leads", leads)
		}
		select {
		case <-changed:
		case <-passed:
		case <-again:
			return true
		case <-m.preparation.stale:
			if !leads {
				return true
			}
		case <-m.Done():
			return false
		}
	}
}

// prepareOnce runs Config.Prepare once. The error is [ErrLeads] or [ErrStale] if that was not to go on. One that does not obey its context keeps
// the member from preparing again, and from nothing else.
func (m *Member) prepareOnce() error {
	if m.IsLeader() {
		return ErrLeads
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(ErrClosed)
	returned := make(chan error, 1)
	if _, cold := m.preparation.state(); cold == "" { // one that has failed stays cold until it succeeds
		m.becomes(view.Warming, "")
	}
	go func() { returned <- m.preparation.prepare(ctx) }()
	for {
		s, changed := m.group.State()
		switch leads := s.Role == network.Leader; {
		case leads && ctx.Err() == nil:
			cancel(ErrLeads)
			m.becomes(view.Warm, "")
		case !leads && errors.Is(context.Cause(ctx), ErrLeads): // its tenure was shorter
			m.becomes(view.Warming, "")
		}
		select {
		case err := <-returned:
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		case <-changed:
		case <-m.preparation.stale:
			cancel(ErrStale)
		case <-m.Done():
			return ErrClosed
		}
	}
}

// stopped reports whether the member has stopped.
func (m *Member) stopped() bool {
	select {
	case <-m.Done():
		return true
	default:
		return false
	}
}

// successor returns the member to which this one may hand over now, the warm one of highest rank. It is 0 if there is none. Waits reports whether
// another one may become warm: it is reachable, and may lead. Only others count, if that is not 0.
func (m *Member) successor(only uint64) (id uint64, waits bool) {
	s := m.group.Known()
	var best view.Standing
	for i, other := range s.Members {
		standing := s.Standings[i]
		switch {
		case other == m.config.ID, only != 0 && other != only, !s.Reachable[i], standing.Weight == 0, standing.Unable != "", !slices.Contains(s.Voters.Members, other):
		case standing.Warmth == view.Warm:
			if id == 0 || standing.Weight >= best.Weight { // they are in the order of identifiers
				id, best = other, standing
			}
		case standing.Warmth != view.Unprepared || m.preparation != nil: // one that has just connected may not have told
			waits = true
		}
	}
	return id, waits && id == 0
}

// awaitSuccessor waits for a member that is warm, while this one leads and another one may become warm, at most for Timing.Handover. It returns
// the warm member, or 0. The error is the cause of ctx.
func (m *Member) awaitSuccessor(ctx context.Context, only uint64) (id uint64, err error) {
	if id, waits := m.successor(only); !waits {
		return id, nil
	}
	var alarm clock.Timer
	for {
		s, changed := m.group.State()
		id, waits := m.successor(only)
		if !waits || s.Role != network.Leader {
			return id, nil
		}
		if alarm == nil {
			alarm = m.config.Clock.NewTimer()
			defer alarm.Stop()
			alarm.Reset(m.config.Timing.Handover)
			m.config.Logger.Info("the lead is to be handed over, and waits for a member that is warm", "member", m.config.ID, "at_most", m.config.Timing.Handover)
		}
		select {
		case <-changed:
		case <-alarm.C():
			m.config.Logger.Warn("no member has become warm in time, and the lead is handed over", "member", m.config.ID, "waited", m.config.Timing.Handover)
			return 0, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// yields returns a channel that is closed when ctx is done, and the lead may be handed over: to a warm member, or to any. It watches until within
// is done.
func (m *Member) yields(ctx, within context.Context) <-chan struct{} {
	may := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			if _, err := m.awaitSuccessor(within, 0); err == nil {
				close(may)
			}
		case <-within.Done():
		}
	}()
	return may
}

// handOver lets the leader hand over to the warm member of highest rank, or to any that is able.
func (m *Member) handOver(cause error) {
	c := election.Command{Order: election.Resign}
	if id, _ := m.successor(0); id != 0 {
		if rank, known := m.live.Rank(id); known {
			c = election.Command{Order: election.Transfer, Member: rank}
		}
	}
	m.end(cause, c)
}
