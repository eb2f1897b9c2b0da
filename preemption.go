package ringleader

import (
	"fmt"
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
		d = process.Never
	}
	m.group.Mute(d, quorumbully.Offer, quorumbully.Ready)
	return nil
}

// ResumePreemption ends [Member.PausePreemption].
func (m *Member) ResumePreemption() { m.group.Mute(0) }

// retire lets this member take no offer of the lead while it is removed: as long as its vote cannot be taken, it would hand over at once, again and again.
func (m *Member) retire(removed bool) {
	if removed && m.config.Preempt {
		m.group.Mute(process.Never, quorumbully.Offer, quorumbully.Ready)
	} else {
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
