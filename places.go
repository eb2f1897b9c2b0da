package ringleader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/internal/serve/live"
)

// The address book of the group: package internal/serve/book. What it has of a member counts before the line of Config.Members.

// places is what a member knows of the places of all, as the list of its host and the address book have it.
type places struct {
	config atomic.Pointer[Config]          // with the list of the host
	list   atomic.Pointer[[]MemberAddress] // with the address book
	wishes atomic.Pointer[[]book.Line]     // of the book: those that are to have a vote, or none
	news   chan struct{}                   // has room for one: wishes may have changed
	warden *addressBook
	one    sync.Mutex // orders changes of the list of the host
}

func newPlaces(c *Config, b *addressBook) *places {
	p := &places{news: make(chan struct{}, 1), warden: b}
	p.config.Store(c)
	p.list.Store(&c.Members)
	p.wishes.Store(new([]book.Line))
	return p
}

// merge returns how the engine joins the address book to the list of a configuration.
func (p *places) merge(c *Config) live.Merge {
	return func(b *book.Book, votes func(uint64) bool) live.Listing {
		with := *c
		with.Members = merged(c, b, votes)
		var wishes []book.Line
		for _, line := range b.Lines() {
			if line.Votes || line.Version.Removed() {
				wishes = append(wishes, line)
			}
		}
		_, config := with.live()
		return live.Listing{Members: config.Members, Priorities: config.Priorities, Limits: config.Limits, Taken: func() {
			p.wishes.Store(&wishes)
			p.take(c, with.Members)
		}}
	}
}

// take notes the list that holds now. The loop calls it.
func (p *places) take(c *Config, list []MemberAddress) {
	p.config.Store(c)
	p.list.Store(&list)
	go p.warden.relist(func() []MemberAddress { return *p.list.Load() })
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// merged returns the list of members of a configuration and an address book. A member that was removed is in it as long as it votes, and this one always.
func merged(c *Config, b *book.Book, votes func(uint64) bool) (list []MemberAddress) {
	for _, m := range c.Members {
		line, known := b.Line(m.ID)
		switch {
		case m.ID == c.ID && known:
			m.Address = cmp.Or(m.Address, line.Address)
		case line.Version.Removed() && !votes(m.ID):
			continue
		case line.Version != 0 || known && m.Address == "":
			m.Address, m.Priority, m.Witness = line.Address, line.Weight, line.Weight == 0
		}
		list = append(list, m)
	}
	for _, line := range b.Lines() {
		_, listed := find(c.Members, line.ID)
		if !listed && (!line.Version.Removed() || votes(line.ID)) {
			list = append(list, MemberAddress{ID: line.ID, Address: line.Address, Priority: line.Weight, Witness: line.Weight == 0, Standby: true})
		}
	}
	return list
}

// AddAddress adds a member to the address book of the group, or gives it another address there. Any member can do that: the book travels to all
// others, each keeps it, and no list of a host has to change. Unless it is on standby, the leader gives the member a vote as soon as it runs. AddAddress returns
// when this member keeps the line. Without a Priority, a member of the list keeps that which it has.
//
// The member itself is started with Config.Join. The error is [ErrConfig] if the address cannot be one, or another member has it, and for a member on
// standby that has a vote already.
func (m *Member) AddAddress(a MemberAddress) error {
	if m.first != nil {
		return m.first.AddAddress(a)
	}
	return m.amend(func(b *book.Book) (bool, error) {
		c := m.places.config.Load()
		if before, listed := find(m.list(), a.ID); listed && a.Priority == 0 && !a.Witness {
			a.Priority, a.Witness = before.Priority, before.Witness
		}
		if err := c.checkPlace(a.Address); err != nil {
			return false, fmt.Errorf("the address of member %d: %w", a.ID, err)
		}
		if err := book.Elsewhere(a.Address); err != nil {
			return false, err
		}
		if a.ID == c.ID {
			return false, fmt.Errorf("the line of this member, %d, changes only with a restart", c.ID)
		}
		if s, _ := m.group.State(); a.Standby && slices.Contains(s.Voters.Members, a.ID) {
			return false, fmt.Errorf("member %d has a vote, and standby takes none: remove the member first, or its vote", a.ID)
		}
		for _, other := range m.list() {
			if other.Address == a.Address && other.ID != a.ID {
				return false, fmt.Errorf("members %d and %d have the same address %s", other.ID, a.ID, a.Address)
			}
		}
		return b.Add(book.Line{ID: a.ID, Address: a.Address, Weight: a.weight(), Votes: !a.Standby})
	})
}

// RemoveAddress removes a member from the group: the leader takes its vote, and then its line goes from the list of each member. Any member can do
// that, also while the removed one does not run. A leader that is removed hands over first, and goes on while no other
// member can lead. RemoveAddress returns when this member keeps that.
//
// The error is [ErrConfig] if there is no such member, or no other one votes.
func (m *Member) RemoveAddress(id uint64) error {
	if m.first != nil {
		return m.first.RemoveAddress(id)
	}
	return m.amend(func(b *book.Book) (bool, error) {
		line, known := b.Line(id)
		listed, lists := find(m.list(), id)
		s, _ := m.group.State()
		switch {
		case known && line.Version.Removed():
			return false, nil
		case !lists:
			return false, fmt.Errorf("there is no member %d in the list of member %d", id, m.config.ID)
		case slices.Equal(s.Voters.Members, []uint64{id}):
			return false, fmt.Errorf("member %d is the only one that votes", id)
		}
		return b.Remove(id, listed.Address)
	})
}

// keepWithoutVote lets the address book no longer want a vote for a member.
func (m *Member) keepWithoutVote(id uint64) error {
	if m.first != nil {
		return m.first.keepWithoutVote(id)
	}
	if !slices.ContainsFunc(*m.places.wishes.Load(), func(l book.Line) bool { return l.ID == id && l.Votes }) {
		return nil
	}
	return m.amend(func(b *book.Book) (bool, error) { return b.Wish(id, false) })
}

// removed reports whether the address book has that a member was removed.
func (m *Member) removed(id uint64) bool {
	if m.first != nil {
		return m.first.removed(id)
	}
	return slices.ContainsFunc(*m.places.wishes.Load(), func(line book.Line) bool { return line.ID == id && line.Version.Removed() })
}

// amend changes the address book.
func (m *Member) amend(change func(*book.Book) (bool, error)) error {
	if m.config.Algorithm == Bully {
		return fmt.Errorf("%w: the members of %s are always the same", ErrConfig, Bully)
	}
	var wrong error
	err := m.live.Amend(func(b *book.Book) (changed bool, err error) {
		if line, _ := b.Line(m.config.ID); line.Version.Removed() {
			wrong = fmt.Errorf("member %d was removed from the group, so no other one would hear of that; give the command to another member", m.config.ID)
			return false, wrong
		}
		changed, wrong = change(b)
		return changed, wrong
	})
	switch {
	case wrong != nil || errors.Is(err, live.ErrList):
		return fmt.Errorf("%w: %w", ErrConfig, err)
	case errors.Is(err, live.ErrStopped):
		return cmp.Or(m.Err(), ErrClosed)
	}
	return err
}

// votesEvery is how often a member looks whether the votes are as the address book wants them, and how long a change may take.
const votesEvery, voteTakes = time.Second, 5 * time.Second

// agree lets the votes become as the address book wants them, in the groups that this process leads, until the member stops.
func (m *Member) agree() {
	timer := m.config.Clock.NewTimer()
	defer timer.Stop()
	unmet, retired := map[unmetWish]string{}, map[*Member]bool{}
	for {
		if len(*m.places.wishes.Load()) > 0 {
			timer.Reset(votesEvery)
		}
		select {
		case <-m.places.news:
		case <-timer.C():
		case <-m.Done():
			return
		}
		m.mu.Lock()
		all := []*Member{m}
		for other := range m.others {
			all = append(all, other)
		}
		m.mu.Unlock()
		for _, member := range all {
			if removed := m.removed(m.config.ID); removed != retired[member] {
				retired[member] = removed
				member.retire(removed)
			}
			for _, line := range *m.places.wishes.Load() {
				member.grant(&line, unmet)
			}
		}
	}
}

// errIrreplaceable is why a leader that was removed goes on: it would lead again at once, and its work would begin anew each time.
var errIrreplaceable = errors.New("this member leads, and no other one can at present")

// replaceable reports whether another member could lead in place of this one, and is to remain.
func (m *Member) replaceable() bool {
	s := m.group.Known()
	for i, id := range s.Members {
		if standing := s.Standings[i]; id != m.config.ID && s.Reachable[i] && standing.Weight > 0 && standing.Unable == "" && slices.Contains(s.Voters.Members, id) && !m.removed(id) {
			return true
		}
	}
	return false
}

// unmetWish is a vote in a group that is not as the address book wants it.
type unmetWish struct {
	group *Member
	id    uint64
	votes bool
}

// grant changes a vote if this member leads and the address book wants it. What fails is tried again, and is a line of the log when that begins, when
// others are missing, and when it ends.
func (m *Member) grant(line *book.Line, unmet map[unmetWish]string) {
	s, _ := m.group.State()
	at := slices.Index(s.Members, line.ID)
	votes := slices.Contains(s.Voters.Members, line.ID)
	wish := unmetWish{m, line.ID, line.Votes}
	if viewOf(s).Role != Leader || votes == line.Votes || line.Votes && (at < 0 || !s.Reachable[at]) {
		delete(unmet, wish)
		return
	}
	takes := voteTakes
	if line.ID == m.config.ID { // it may wait for a warm member
		takes += m.config.Timing.Handover
	}
	ctx, cancel := context.WithTimeout(context.Background(), takes)
	defer cancel()
	defer context.AfterFunc(m.live.Context(), cancel)()
	var err error
	switch {
	case line.Votes:
		err = m.changeVoters(ctx, election.Enlist, line.ID)
	case line.ID == m.config.ID && !m.replaceable():
		err = errIrreplaceable
	case line.ID == m.config.ID:
		if unmet[wish] == "" {
			m.config.Logger.Info("this member was removed, and hands over first", "member", line.ID)
		}
		err = m.Resign(ctx)
	default:
		err = m.changeVoters(ctx, election.Dismiss, line.ID)
	}
	if err == nil {
		if unmet[wish] != "" {
			m.config.Logger.Info("the vote of a member is as the address book wants it now", "of", line.ID, "votes", line.Votes)
		}
		delete(unmet, wish)
		return
	}
	silent := []uint64{}
	for i, id := range s.Members {
		if id != line.ID && id != m.config.ID && !s.Reachable[i] && slices.Contains(s.Voters.Members, id) {
			silent = append(silent, id)
		}
	}
	if state := fmt.Sprint("not reachable: ", silent); unmet[wish] != state {
		unmet[wish] = state
		m.config.Logger.Warn("the vote of a member is not yet as the address book wants it: a majority of the voters after the change must answer; this leader goes on trying",
			"of", line.ID, "votes", line.Votes, "not_reachable", silent, "error", err)
	}
}
