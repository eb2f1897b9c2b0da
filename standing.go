package ringleader

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ringleader.example/ringleader/internal/serve/live"
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
func (m *Member) changeDisk(failures live.Failures) {
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
