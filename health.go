package ringleader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ringleader.example/ringleader/clock"
)

// HealthCheck finds out, again and again, whether this process may lead. While it may not, it votes and takes no lead. A
// leader that may lead no more stops its work and hands over to an able member, whatever Config.Preempt is. Without an able
// member the group has no leader. Until Rise checks have passed for the first time, the process may not lead.
type HealthCheck struct {
	// Check returns nil if the process may lead, and otherwise the reason against that. It runs in a goroutine of its own. It
	// has to return when its context is done, which is after Timeout. One that has not returned by then has failed; until it
	// returns, it fails again at each Interval, and no other is begun.
	Check func(context.Context) error

	Interval time.Duration // between the beginnings of two checks; the default is a second
	Timeout  time.Duration // how long a check may take; the default is Interval
	Rise     int           // how many checks in a row have to pass before the process may lead; the default is 2
	Fall     int           // how many in a row have to fail before it may lead no more; the default is 3
}

// withDefaults returns the check with its defaults.
func (h HealthCheck) withDefaults() HealthCheck {
	h.Interval = cmp.Or(h.Interval, time.Second)
	h.Timeout = cmp.Or(h.Timeout, h.Interval)
	h.Rise, h.Fall = cmp.Or(h.Rise, 2), cmp.Or(h.Fall, 3)
	return h
}

// check reports what is wrong.
func (h *HealthCheck) check(must func(ok bool, format string, args ...any)) {
	must(h.Interval >= 0 && h.Timeout >= 0, "Health.Interval (%v) and Health.Timeout (%v) are times above 0", h.Interval, h.Timeout)
	must(h.Rise >= 0 && h.Fall >= 0, "Health.Rise (%d) and Health.Fall (%d) are numbers above 0", h.Rise, h.Fall)
}

// ErrUnhealthy is the cause of the end of a leadership whose member may lead no more. The text has the result of the check.
var ErrUnhealthy = errors.New("the health check fails")

// ErrUnable reports that another member may not lead at present. The text has the reason that it has told.
var ErrUnable = errors.New("it may not lead at present")

// HealthStatus is the result of the checks of a member.
type HealthStatus struct {
	Able   bool   `json:"able"`             // the member may lead
	Reason string `json:"reason,omitempty"` // of the last failure; empty: there was none, or it is over
	Row    int    `json:"row"`              // how many results in a row were like the last one
	Passed uint64 `json:"passed"`           // how many checks have passed
	Failed uint64 `json:"failed"`           // how many have failed
}

// monitor is the health of a process, for its members in all groups.
type monitor struct {
	config HealthCheck
	ended  chan struct{} // closed when no check begins any more

	mu     sync.Mutex
	status HealthStatus
	last   bool // the last result
}

func newMonitor(c HealthCheck) *monitor {
	m := &monitor{config: c.withDefaults(), ended: make(chan struct{})}
	m.status.Reason = "no check has passed yet"
	return m
}

// unable returns why the process may not lead, or nil. A monitor that is nil has no reason.
func (m *monitor) unable() error {
	if m == nil {
		return nil
	}
	if s := m.state(); !s.Able {
		return fmt.Errorf("%w: %s", ErrUnhealthy, s.Reason)
	}
	return nil
}

func (m *monitor) state() HealthStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

// result takes the result of a check. It reports whether the process has become able or unable, or is unable for another
// reason.
func (m *monitor) result(err error) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, before := &m.status, m.status
	if passed := err == nil; passed != m.last {
		m.last, s.Row = passed, 0
	}
	s.Row++
	enough := m.config.Fall
	if err == nil {
		s.Passed++
		enough = m.config.Rise
	} else {
		s.Failed++
		s.Reason = err.Error()
	}
	if s.Row >= enough {
		s.Able = m.last
	}
	if s.Able && m.last {
		s.Reason = ""
	}
	return s.Able != before.Able || !s.Able && s.Reason != before.Reason
}

// watch checks until done is closed, and tells each change.
func (m *monitor) watch(done <-chan struct{}, c clock.Clock, changed func()) {
	defer close(m.ended)
	next := c.NewTimer()
	defer next.Stop()
	var running <-chan error // of a check that has not returned; nil: there is none
	for {
		next.Reset(m.config.Interval)
		err := m.slow()
		if running != nil {
			select {
			case <-running:
				running = nil
			default:
			}
		}
		if running == nil {
			running, err = m.once(done, c)
		}
		if m.result(err) {
			changed()
		}
		select {
		case <-next.C():
		case <-done:
			return
		}
	}
}

// once makes a check. If it has not returned in time, running gets its result.
func (m *monitor) once(done <-chan struct{}, c clock.Clock) (running <-chan error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	returned := make(chan error, 1)
	go func() { returned <- m.config.Check(ctx) }()
	alarm := c.NewTimer()
	defer alarm.Stop()
	alarm.Reset(m.config.Timeout)
	select {
	case err := <-returned:
		return nil, err
	case <-alarm.C():
	case <-done:
	}
	return returned, m.slow()
}

// slow returns the result of a check that has not returned in time.
func (m *monitor) slow() error { return fmt.Errorf("it has not ended within %v", m.config.Timeout) }
