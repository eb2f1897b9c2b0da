package ringleader

import (
	"context"
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/live"
)

// The members that vote, and their changes: rule 9 of package algorithms/quorumbully, which has the argument for its safety.

// ErrUnknown reports that a change of the voters has begun, and that its outcome is not known: the leader has changed
// meanwhile, or the time of the call was over. Voters in [Status] tell it later.
var ErrUnknown = errors.New("it is not known whether the change has happened")

// AddMember gives a vote to a member of Config.Members that has none, while the group runs. It returns nil when a majority
// of the voters keeps that durably, so that it has happened for good. Only the leader can do that, one change at a time. It waits
// until the new voter has answered a renewal, and until no lease becomes shorter by the change. A member that votes already is no error.
//
// The error is [ErrConfig] if no member has that ID, [ErrNotLeader] if this member does not lead, and [ErrUnknown].
func (m *Member) AddMember(ctx context.Context, id uint64) error {
	return m.changeVoters(ctx, election.Enlist, id)
}

// RemoveMember takes the vote of a member while the group runs. All else is as with AddMember. The leader cannot remove
// itself: see [Member.Transfer]. A member without a vote follows, and never leads; AddMember gives it its vote again.
func (m *Member) RemoveMember(ctx context.Context, id uint64) error {
	return m.changeVoters(ctx, election.Dismiss, id)
}

func (m *Member) changeVoters(ctx context.Context, order election.Order, id uint64) error {
	rank, known := m.live.Rank(id)
	v := m.View()
	switch {
	case m.config.Algorithm == Bully:
		return fmt.Errorf("%w: %s has no votes", ErrConfig, Bully)
	case !known:
		return fmt.Errorf("%w: there is no member %d", ErrConfig, id)
	case v.Role != Leader && v.Known:
		return fmt.Errorf("%w: member %d leads, and changes the voters", ErrNotLeader, v.Leader)
	case v.Role != Leader:
		return fmt.Errorf("%w: it knows no leader", ErrNotLeader)
	case id == m.config.ID && order == election.Dismiss:
		return fmt.Errorf("%w: member %d leads, and does not remove itself; it hands over first", ErrConfig, id)
	}
	select { // one change at a time: a command takes the place of the one before
	case m.changing <- struct{}{}:
		defer func() { <-m.changing }()
	case <-ctx.Done():
		return fmt.Errorf("another change has not ended, and this one has not begun: %w", context.Cause(ctx))
	}
	m.group.Command(election.Command{Order: order, Member: rank})
	for {
		s, changed := m.group.State()
		switch now := viewOf(s); {
		case now.Role != Leader || now.Term != v.Term:
			return fmt.Errorf("%w: this member leads no more", ErrUnknown)
		case m.has(&s.Voters, id) == (order == election.Enlist) && s.Voters.Keeps():
			return nil
		}
		select {
		case <-changed:
		case <-m.Done():
			return fmt.Errorf("%w: this member has stopped", ErrUnknown)
		case <-ctx.Done():
			m.group.Command(election.Command{Order: election.Enlist}) // a change that has not begun will not
			return fmt.Errorf("%w: %w", ErrUnknown, context.Cause(ctx))
		}
	}
}

// has reports whether a member votes.
func (m *Member) has(v *live.Voters, id uint64) bool {
	for i, member := range m.config.Members {
		if member.ID == id {
			return v.Vote[i]
		}
	}
	return false
}

// voters returns the voters to show, or nil if all members vote, always.
func (m *Member) voters(v *live.Voters) *Voters {
	if v.Version == 0 && m.config.standby() == 0 {
		return nil
	}
	voters := &Voters{Version: v.Version, Term: uint64(v.Term), Kept: v.Kept}
	for i, member := range m.config.Members {
		if v.Vote[i] {
			voters.Members = append(voters.Members, member.ID)
		}
	}
	return voters
}
