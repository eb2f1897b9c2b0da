package ringleader

import (
	"fmt"
	"sync"
	"time"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/internal/core/process"
)

// PreemptionStatus is what Config.Preempt does at present.
type PreemptionStatus struct {
	Paused bool `json:"paused"` // by [Member.PausePreemption], or since the member was removed

	// Left is for how long it is paused still, in seconds; null: until ResumePreemption.
	Left *float64 `json:"left"`
}

// PausePreemption lets this member neither offer its lead to a member of higher rank nor take such an offer, for some time, or
// with 0 until [Member.ResumePreemption]. The pause ends with this life of the member, and concerns no other one: call it at
// all. After a pause the next offer of a leader may take eight times Timing.Preempt. The error is [ErrConfig] without
// Config.Preempt.
func (m *Member) PausePreemption(d time.Duration) error {
	switch {
	case !m.config.Preempt:
		return fmt.Errorf("%w: member %d does not preempt", ErrConfig, m.config.ID)
	case d < 0:
		return fmt.Errorf("%w: a pause of %v", ErrConfig, d)
	case d == 0:
		m.pauses.change(m, func(p *pauses) { p.until = process.Never })
	default:
		m.pauses.change(m, func(p *pauses) { p.until = m.config.Clock.Monotonic() + d })
	}
	return nil
}

// ResumePreemption ends [Member.PausePreemption].
func (m *Member) ResumePreemption() { m.pauses.change(m, func(p *pauses) { p.until = 0 }) }

// retire lets this member take no offer of the lead while it is removed: as long as its vote cannot be taken, it would hand over at once, again and
// again. A pause that was asked for goes on when it is added again.
func (m *Member) retire(removed bool) { m.pauses.change(m, func(p *pauses) { p.removed = removed }) }

// pauses are the reasons for which a member does not preempt.
type pauses struct {
	mu      sync.Mutex
	until   time.Duration // the end of that by [Member.PausePreemption], on the clock of timers; process.Never: none
	removed bool          // the member is
}

// change changes the reasons, and lets the member keep to them.
func (p *pauses) change(m *Member, change func(*pauses)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
	left := p.until
	if left != process.Never {
		left -= m.config.Clock.Monotonic()
	}
	switch {
	case p.removed && m.config.Preempt:
		m.group.Mute(process.Never, quorumbully.Offer, quorumbully.Ready)
	case left > 0:
		m.group.Mute(left, quorumbully.Offer, quorumbully.Ready)
	default:
		m.group.Mute(0)
	}
}

// preemption returns the state of preemption; nil: there is none.
func (m *Member) preemption() *PreemptionStatus {
	if !m.config.Preempt {
		return nil
	}
	switch left := m.group.Muted(); left {
	case 0:
		return &PreemptionStatus{}
	case process.Never:
		return &PreemptionStatus{Paused: true}
	default:
		seconds := left.Seconds()
		return &PreemptionStatus{Paused: true, Left: &seconds}
	}
}
