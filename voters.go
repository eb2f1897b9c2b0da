package ringleader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/live"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/storage"
)

// The members that vote, and their changes: rule 9 of package algorithms/quorumbully, which has the argument for its safety.

// ErrListWaits reports a list of members that waits for the removal of a vote: see [Member.SetMembers].
var ErrListWaits = errors.New("the list of members waits")

// ErrUnknown reports that a change of the voters has begun, and that its outcome is not known: the leader has changed
// meanwhile, or the time of the call was over. Voters in [Status] tell it later.
var ErrUnknown = errors.New("it is not known whether the change has happened")

// AddMember gives a vote to a member of the list that has none, while the group runs. It returns nil when a majority
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
	if m.View().Role == Leader {
		if err := m.keepWithoutVote(id); err != nil {
			return err
		}
	}
	return m.changeVoters(ctx, election.Dismiss, id)
}

func (m *Member) changeVoters(ctx context.Context, order election.Order, id uint64) error {
	rank, known := m.live.Rank(id)
	v := m.View()
	switch {
	case m.config.Algorithm == Bully:
		return fmt.Errorf("%w: %s has no votes", ErrConfig, Bully)
	case !known || order == election.Enlist && !m.lists(id):
		return fmt.Errorf("%w: there is no member %d in the list of member %d", ErrConfig, id, m.config.ID)
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
		case slices.Contains(s.Voters.Members, id) == (order == election.Enlist) && s.Voters.Settled():
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

// voters returns the voters to show, or nil if all members vote, always.
func (m *Member) voters(s *view.State) *Voters {
	v := &s.Voters
	if v.Version == 0 && len(v.Members) == len(s.Members) {
		return nil
	}
	return &Voters{Version: v.Version, Term: uint64(v.Term), Members: append([]uint64{}, v.Members...), Kept: v.Kept} // none is a list, too
}

// SetMembers replaces Config.Members while the member runs, in all groups of the process: with a member at a new address, with another
// address of a member, or without one that has no vote any more. It causes no election and gives no vote. A new
// member is on standby in its own list, and each other member needs it in the list before they communicate. Then [Member.AddMember]
// gives it a vote. The list is not kept: the next Join needs it, too.
//
// The error is [ErrConfig] if the list is not valid, or changes the address of this member, which needs a restart. Then all is as before. It is
// [ErrListWaits] if the list lacks a member that votes in a group, as far as this member knows: the leader may have removed that vote a moment
// ago. All is as before until this member learns that the vote is gone, and then the list holds. Until then ListLacks of [Status] names that
// member. The next call takes the place of a list that waits.
func (m *Member) SetMembers(members []MemberAddress) error {
	if m.first != nil {
		return m.first.SetMembers(members)
	}
	m.places.one.Lock()
	defer m.places.one.Unlock()
	c := m.config
	c.Members = slices.Clone(members)
	if _, err := c.complete(); err != nil {
		return err
	}
	before, _ := find(m.places.config.Load().Members, c.ID)
	if now, _ := find(members, c.ID); now.Address != before.Address || now.Witness != before.Witness {
		return fmt.Errorf("%w: the line of this member, %d, changes only with a restart", ErrConfig, c.ID)
	}
	_, config := c.live()
	list := live.Listing{Members: config.Members, Taken: func() { m.places.take(&c, c.Members) }}
	if c.Algorithm == QuorumBully {
		list.Merge = m.places.merge(&c)
	}
	err := m.live.List(list)
	var lacking *live.Lacking
	switch {
	case errors.As(err, &lacking):
		return fmt.Errorf("%w: %w, as far as this member knows", ErrListWaits, lacking)
	case errors.Is(err, live.ErrList):
		return fmt.Errorf("%w: %w", ErrConfig, err)
	case err != nil:
		return cmp.Or(m.Err(), ErrClosed)
	}
	return nil
}

// KeptVoters returns the voters that the state of a member has, if the members have agreed on any: they count in place of the marks in
// Members. It is nil if they have not, and with [Bully]. The error is that of [Join] for a state that cannot be used, also with these
// Members. No member may run with the directory meanwhile.
func (c Config) KeptVoters() (*Voters, error) {
	c, err := c.complete()
	if err != nil || c.Algorithm == Bully {
		return nil, err
	}
	if c.Data != "" {
		if c.Storage, err = storage.Open(c.Data, storage.Owner{Group: c.Group, Member: c.ID}); err != nil {
			return nil, err
		}
	}
	program, config := c.live()
	config.Merge = newPlaces(&c, nil).merge(&c)
	v, err := live.KeptVoters(program, config)
	if err = errors.Join(err, c.Storage.Close()); err != nil || v.Term == 0 {
		return nil, err
	}
	return &Voters{Version: v.Version, Term: uint64(v.Term), Members: v.Members}, nil
}

// list returns the list of members at present.
func (m *Member) list() []MemberAddress {
	if m.first != nil {
		return m.first.list()
	}
	return *m.places.list.Load()
}

// lists reports whether a member is in the list.
func (m *Member) lists(id uint64) bool {
	_, listed := find(m.list(), id)
	return listed
}

// find returns a member of a list.
func find(list []MemberAddress, id uint64) (m MemberAddress, found bool) {
	i := slices.IndexFunc(list, func(m MemberAddress) bool { return m.ID == id })
	if i < 0 {
		return m, false
	}
	return list[i], true
}
