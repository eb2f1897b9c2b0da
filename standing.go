package ringleader

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"ringleader.example/ringleader/internal/serve/disk"
	"ringleader.example/ringleader/internal/serve/view"
)

// unable returns why this process may not lead, or nil.
func (m *Member) unable() error {
	failures := m.all().failures.Load()
	switch {
	case failures == nil && len(m.config.ProgressPaths) > 0:
		return errUnanswered
	case failures != nil && failures.Storage != "":
		return fmt.Errorf("%w: %s", ErrStorage, failures.Storage)
	case failures != nil && failures.Path != "":
		return fmt.Errorf("%w: %s", ErrStalled, failures.Path)
	}
	return cmp.Or(m.work.unable(), m.health.unable())
}

// all returns the member that the function Join returned: what it knows of the process holds for the others, too.
func (m *Member) all() *Member { return cmp.Or(m.first, m) }

// changeDisk takes whether the storage and the paths work.
func (m *Member) changeDisk(failures disk.Failures) {
	m.failures.Store(&failures)
	m.changeStanding()
}

// changeStanding lets the members of this process in all groups stand for election, or not, as the process is able to lead.
func (m *Member) changeStanding() {
	m.mu.Lock()
	all := append(slices.Collect(maps.Keys(m.others)), m)
	m.mu.Unlock()
	for _, member := range all {
		member.stand(nil, func() { member.note(member.unable()) })
	}
}

// standDown lets the member lead no more, with a successor if it leads.
func (m *Member) standDown(cause error) {
	if id, _ := m.successor(0); id != 0 && m.config.Algorithm != Bully {
		m.handOver(cause) // the algorithm may not know yet that it is warm
	}
	m.stand(cause, func() {
		m.down = true
		m.note(cause)
	})
}

// standUp lets the member stand for election.
func (m *Member) standUp() {
	m.stand(nil, func() {
		m.down = false
		m.note(m.unable())
	})
}

// errDown is why a member may not lead that stands for election no more.
var errDown = errors.New("it has no work at present")

// stand changes how the member stands for election. The cause is why its lead ends, unless it may not lead for another one.
func (m *Member) stand(cause error, change func()) {
	if m.config.Algorithm == Bully {
		return // it knows no weights
	}
	m.standing.Lock()
	defer m.standing.Unlock()
	change()
	s := view.Standing{Weight: m.weight}
	s.Warmth, s.Cold = m.preparation.state()
	if err := m.unable(); err != nil {
		s.Unable, cause = err.Error(), err
	} else if m.down {
		s.Unable = errDown.Error()
	}
	m.group.Stand(s, because(cause))
}

// note notes the cause of the next end of a tenure; nil: it has none.
func (m *Member) note(cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cause, m.within = cause, 0
}

// SetPriority changes the priority of this member in this group, in place of that in Config.Members. 0 stands for 1. It
// causes no election: the priority counts when a leader is elected, when one resigns, and with Config.Preempt. The error is
// [ErrConfig] for a witness, above 16383 with Config.Prepare, and with [Bully], which knows no priorities.
func (m *Member) SetPriority(priority uint16) error {
	if m.preparation != nil && priority > view.MaxPreparedWeight {
		return fmt.Errorf("%w: a member with Prepare has a priority up to %d, not %d", ErrConfig, view.MaxPreparedWeight, priority)
	}
	if m.config.Algorithm == Bully || m.config.weight() == 0 {
		return fmt.Errorf("%w: member %d has no priority: it is a witness, or the algorithm is %s", ErrConfig, m.config.ID, Bully)
	}
	m.stand(nil, func() { m.weight = max(1, priority) })
	return nil
}
