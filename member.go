package ringleader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"ringleader.example/ringleader/internal/live"
	"ringleader.example/ringleader/internal/live/bully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// Role is a member's role, in its own view.
type Role string

// The roles.
const (
	Leader   Role = "leader"
	Follower Role = "follower"
	Electing Role = "electing" // it knows no leader
)

// Leadership is a member's knowledge of the leader.
type Leadership struct {
	Leader uint64 // 0 if not Known
	Known  bool
	Term   uint64 // always 0: bully has none
	Role   Role   // of this member
	Since  time.Time
}

// Status is a member's knowledge of the group.
type Status struct {
	ID      uint64         `json:"id"`
	Role    Role           `json:"role"`
	Leader  *uint64        `json:"leader"` // null while no leader is known
	Term    uint64         `json:"term"`   // always 0: bully has none
	Quorum  bool           `json:"quorum"` // whether a majority supports the leader: never with bully
	Members []MemberStatus `json:"members"`
}

// MemberStatus is a member's knowledge of another member, or of itself.
type MemberStatus struct {
	ID        uint64 `json:"id"`
	Address   string `json:"address"`
	Reachable bool   `json:"reachable"` // it is heard from

	// Problem is the member's known problem: for example why it cannot be reached, or how its timing differs from
	// that of this member. Empty: none.
	Problem string `json:"problem,omitempty"`
}

// Member is a member of a group, in this process. Its methods may be called at any time, by any goroutine.
type Member struct {
	config Config
	live   *live.Member
}

// Join makes this process a member of the group, and returns as soon as it listens. It remains one until
// ctx is done, or Close, or a failure: see Done and Err. All errors of the configuration are reported at once, as
// [ErrConfig].
func Join(ctx context.Context, c Config) (*Member, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	members := make([]transport.Member, len(c.Members))
	for i, m := range c.Members {
		members[i] = transport.Member(m)
	}
	delay := (c.MessageDelay + unit - 1) / unit
	if c.transport == nil {
		c.transport = transport.TCP{Listen: c.Listen, Insecure: true}.Open
	}
	own := members[slices.IndexFunc(members, func(m transport.Member) bool { return m.ID == c.ID })]
	m, err := live.JoinProgram(ctx, bully.Program, live.Config{
		Group:   c.Group,
		ID:      c.ID,
		Members: members,
		Parameters: map[string]string{
			"delay": strconv.FormatInt(int64(delay), 10), "known-dead": "decides", "asked-coordinator": "tells",
		},
		Unit:      unit,
		Heartbeat: c.Heartbeat,
		Suspicion: c.Suspicion,
		Data:      c.Data,
		Logger:    c.Logger,
		Transport: c.transport,
		Elsewhere: c.Listen != "" && transport.Loopback(c.Listen) != transport.Loopback(own.Address),
	})
	if err != nil {
		return nil, err
	}
	return &Member{c, m}, nil
}

func leadershipOf(s live.State) Leadership {
	l := Leadership{Leader: s.Leader, Known: s.Leader != 0, Term: uint64(s.Term), Role: Electing, Since: s.Since}
	switch s.Role {
	case network.Leader:
		l.Role = Leader
	case network.Follower:
		l.Role = Follower
	}
	return l
}

// Leadership returns the member's current knowledge of the leader.
func (m *Member) Leadership() Leadership {
	s, _ := m.live.State()
	return leadershipOf(s)
}

// Observe yields the member's knowledge of the leader: first the current one, and then each change. A slow consumer
// misses intermediate changes, but never the last one, and delays no other code. The sequence ends when ctx is done,
// and when the member has stopped, after saying that it knows no leader.
func (m *Member) Observe(ctx context.Context) iter.Seq[Leadership] {
	return func(yield func(Leadership) bool) {
		var last Leadership
		for {
			s, changed := m.live.State()
			if l := leadershipOf(s); l != last {
				last = l
				if !yield(l) {
					return
				}
			}
			select {
			case <-changed:
			case <-m.live.Done(): // all changes came before that
				if s, _ := m.live.State(); leadershipOf(s) == last {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// Status returns the member's current knowledge of the group.
func (m *Member) Status() Status {
	s, _ := m.live.State()
	l := leadershipOf(s)
	status := Status{ID: m.config.ID, Role: l.Role, Term: l.Term}
	if l.Known {
		status.Leader = &l.Leader
	}
	for i, member := range m.config.Members {
		status.Members = append(status.Members, MemberStatus{member.ID, member.Address, s.Reachable[i], s.Problems[i]})
	}
	return status
}

// Close stops the member, sends a goodbye to the others, and waits until all its goroutines have ended. It stops
// leading before the others hear of that. Further calls do nothing.
func (m *Member) Close() error { return m.live.Close() }

// Health returns nil while the member works. Otherwise the error is the reason: it has stopped, or it has stalled for
// longer than Config.Suspicion, so that the others suspect it.
func (m *Member) Health() error {
	select {
	case <-m.Done():
		return cmp.Or(m.Err(), errClosed)
	default:
	}
	if stall := m.live.Stall(); stall > 0 {
		return fmt.Errorf("it has stood still for %v", stall)
	}
	return nil
}

var errClosed = errors.New("closed")

// Done returns a channel that is closed when the member has stopped, for any reason.
func (m *Member) Done() <-chan struct{} { return m.live.Done() }

// Err returns why the member stopped by itself: [ErrData], for example. It is nil while the member runs, and after
// Close or the end of its context.
func (m *Member) Err() error { return m.live.Err() }
