package live

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// What of the lists of members must be equal, and what may differ.
//
// The list of members is that of the host, with what the address book (package book) has in place of it. It gives a member its place: which
// processes it dials, and which it takes. It may differ between members, and change while they run. A majority is never counted from it, but from one of these:
//
//   - The voters that the group has agreed on. They are in the algorithm's state, with a term and a version, and rule 9 of
//     quorum-bully is their argument. Messages and records name them by their identifiers, so they do not depend on a list.
//   - As long as there are none, the founders: the members that are not on standby in the list of a member's first life. Its store
//     keeps them, so a later list changes no majority. A founder presents them in its Hello, and two with
//     different ones refuse each other. A member that is not among its own founders presents none.
//
// So two members count different majorities of founders only if they do not communicate, as two groups. A member without
// founders counts none: it has no vote as far as it knows, so by rule 9 it never claims, and a leader or candidate counts its grants only if
// it is among that one's voters. From the first message of a member that knows agreed voters it knows them, too. The argument of rule 9
// asks nothing else of a member that gets a vote. A returning founder that missed all changes claims by the founders. That
// is the case of older voters in rule 9: any member that keeps newer ones refuses its claim, and tells it of them.
//
// Timing may differ, as before: a lease has the length that its request asks for.
//
// What follows from that:
//
//   - A new line lets a member dial another one, and take it. That gives no vote: a leader gives it, by a majority. Before all have the line, some
//     refuse the new member, and it hears the others.
//   - The list of each life must have all voters that the store knows, or the member would not know where a part of its majority is; but a
//     member with an address book learns that. A line may be deleted when its member has no vote any more. The name is known until the end of this life.
//   - An identifier belongs to one store for ever, also when its line was deleted and comes back: the stores of peers are pinned.
//     A member with a lost disk needs a new identifier, since its promises are lost.
//   - A Hello has neither the term nor the version of agreed voters, and no rule needs them there. Members with different ones have to
//     communicate: whichever has the older ones learns the newer ones from a Claim, a Renew or a Nack. A refusal would prevent that, at each
//     change. Besides, two members have one connection for all their groups, each with voters of its own, and it outlives changes.
//   - A list that lacks a voter waits: see Lacking. The vote may be gone already, which this member learns with the next Renew.
//   - A process that is in no list is refused. With TLS, a process in the list has a certificate for its identifier. In clear text any process
//     on the machine can present itself as a member in the list, with or without a vote; that was so before.

// ErrList reports a list of members that cannot be taken.
var ErrList = errors.New("list of members")

// Lacking is the error of a list of members that waits, since it lacks a member that votes, as far as this one knows.
type Lacking struct{ Member uint64 }

func (e *Lacking) Error() string {
	return fmt.Sprintf("it lacks member %d, which votes", e.Member)
}

// mostNames is the number of members that one knows of at most, with those that have left. More in a message are malformed.
const mostNames = 512

// Listing is a list of members, with this one in it.
type Listing struct {
	Members    []transport.Member
	Priorities map[uint64]uint16 // in the first group
	Limits     string            // likewise
	Taken      func()            // is called when the list holds, by the loop
	Merge      Merge             // if it is given, it makes all else
}

// listing is the event that the host changes the list of members.
type listing struct {
	Listing
	answer chan<- error
}

// List replaces the list of members. It changes no vote, and causes no election. A list with the error [Lacking] holds as soon as this member
// knows that the vote is gone, unless another list comes first; one with [ErrList] never does. After both the list is as before.
func (m *Member) List(list Listing) error {
	answer := make(chan error, 1)
	m.post(listing{list, answer})
	select {
	case err := <-answer:
		return err
	case <-m.done:
		return ErrStopped
	}
}

// Rank returns the identifier of a member as the algorithm knows it.
func (m *Member) Rank(id uint64) (rank election.ID, known bool) {
	rank, known = (*m.ranks.Load())[id]
	return rank, known
}

// know makes room for all members by position.
func (m *Member) know(members []transport.Member) {
	ranks := map[uint64]election.ID{}
	for i, member := range members {
		ranks[member.ID] = election.ID(i + 1)
		switch {
		case i < len(m.peers):
		case member.ID == m.config.ID:
			m.peers = append(m.peers, nil)
		default:
			m.peers = append(m.peers, &peer{position: i, id: member.ID})
		}
	}
	m.members = members
	m.ranks.Store(&ranks)
}

// learn takes note of a member that another one or the store names, and that is in no list of this life.
func (m *Member) learn(id uint64) error {
	if !m.program.Functions.Enlarge || len(m.members) >= mostNames {
		return fmt.Errorf("%w: there is no member %d", ErrList, id)
	}
	m.know(append(slices.Clip(m.members), transport.Member{ID: id, Unlisted: true}))
	if m.transport == nil {
		return nil // it is opened with them
	}
	return m.transport.List(m.members)
}

// relist takes a list of members, or lets it wait. The last one counts: it takes the place of one that waits.
func (l *loop) relist(e *Listing) error {
	before := l.awaits
	l.awaited, l.awaits = nil, 0
	made := e
	if e.Merge != nil {
		made = l.merged(e.Merge)
	}
	err := l.list(made, len(l.book.Seeds) == 0)
	if err == nil {
		l.merge = e.Merge
	}
	var lacking *Lacking
	if errors.As(err, &lacking) {
		l.awaited, l.awaits = e, lacking.Member
	}
	if before != l.awaits {
		l.showAll()
	}
	return err
}

// retryList looks again at a list that waits, after a change of the voters.
func (l *loop) retryList() error {
	if !l.revoted {
		return nil
	}
	l.revoted = false
	if l.awaited == nil {
		return fatal(l.remerge()) // a member that was removed may have no vote any more
	}
	err := l.relist(l.awaited)
	switch {
	case err == nil:
		l.member.log.Info("the list of members that waited holds now", "members", l.member.listed)
	case errors.Is(err, ErrList):
		l.member.log.Warn("the list of members that waited cannot be taken", "error", err)
	}
	return fatal(err)
}

// fatal returns an error of relist that ends the member, and nil for others.
func fatal(err error) error {
	if errors.Is(err, ErrList) || errors.As(err, new(*Lacking)) {
		return nil
	}
	return err
}

// list takes a list of members, perhaps only if it has all that vote.
func (l *loop) list(e *Listing, all bool) error {
	listed := e.Members
	next := slices.Clone(l.member.members)
	for i := range next {
		next[i].Unlisted = true
	}
	for _, member := range book.Sorted(listed, nil) {
		if rank, known := l.member.Rank(member.ID); known {
			next[rank-1] = member
		} else {
			next = append(next, member)
		}
	}
	if fixed := !l.member.program.Functions.Enlarge; fixed && !slices.Equal(book.IDs(l.member.members), book.IDs(book.Sorted(listed, nil))) {
		return fmt.Errorf("%w: the members of %s are always the same", ErrList, l.member.program.Name)
	}
	for _, g := range l.groups {
		if id, lacks := g.lacks(next); lacks && all {
			return &Lacking{id}
		}
	}
	if err := l.member.transport.List(next); err != nil {
		return fmt.Errorf("%w: %w", ErrList, err)
	}
	before := l.member.members
	l.member.know(next)
	l.member.listed = book.IDs(listed)
	for i, p := range l.member.peers {
		switch {
		case p == nil:
		case next[i].Unlisted:
			if err := l.dismiss(p); err != nil {
				return err
			}
		case p.out == nil:
			p.out = l.member.transport.Dial(p.position, 0)
			l.member.log.Info("member is in the list now", "peer", p.id, "address", next[i].Address)
		case before[i].Address != next[i].Address:
			p.out.Nudge()
			l.book.Moved(p.id, next[i].Address)
		}
	}
	if g := l.byKey[keyOf(l.member.config.Group)]; g != nil {
		g.relimit(e)
	}
	l.showAll()
	if e.Taken != nil {
		e.Taken()
	}
	return nil
}

// relimit takes the priorities and limits of a new list, and tells the others.
func (g *group) relimit(e *Listing) {
	g.priorities = e.Priorities
	if e.Limits == g.limits {
		return
	}
	g.limits = e.Limits
	for p := range g.member.others() {
		g.announce(p)
		if _, told := p.limits[g.handle.key]; told && p.groups[g.handle.key] != absence {
			g.compareLimits(p)
		}
	}
}

// dismiss ends all communication with a member that is in the list no more. For the algorithm it has crashed.
func (l *loop) dismiss(p *peer) error {
	if p.out == nil {
		return nil
	}
	if p.next != nil {
		p.next.Admit(false)
	}
	if p.in != nil {
		p.in.Close()
	}
	p.out.Close()
	err := l.suspect(p)
	*p = peer{position: p.position, id: p.id, incarnation: p.incarnation, deaths: p.deaths, died: p.died, dead: p.dead}
	l.member.log.Info("member is in the list no more", "peer", p.id)
	return err
}

// send queues a frame for a peer that is in the list.
func (p *peer) send(frame []byte, slot uint64) {
	if p.out != nil {
		p.out.Send(frame, slot)
	}
}

// Name returns the identifier of a member that the algorithm knows as id; 0: there is none. [process.Names]
func (g *group) Name(id election.ID) uint64 {
	if i := int(id) - 1; i >= 0 && i < len(g.member.members) {
		return g.member.members[i].ID
	}
	return 0
}

// ID is the inverse of Name. A name that is not known yet becomes known. [process.Names]
func (g *group) ID(name uint64) (election.ID, error) {
	if _, known := g.member.Rank(name); !known {
		if err := g.member.learn(name); err != nil {
			return 0, err
		}
	}
	rank, _ := g.member.Rank(name)
	return rank, g.fit()
}

// fit lets the algorithm know of all members.
func (g *group) fit() error {
	if g.instance.Size() == len(g.member.members) {
		return nil
	}
	instance, err := g.prepare()
	if err == nil {
		g.instance = instance
		g.machine.Enlarge(instance)
	}
	return err
}

// setup returns the setup of the algorithm for the members that are known.
func (g *group) setup() network.Setup {
	setup := network.Setup{Parameters: g.parameters}
	ranks := election.List{}
	for i, member := range g.member.members {
		ranks = append(ranks, uint64(i+1))
		if g.priorities != nil {
			setup.Priorities = append(setup.Priorities, g.priority(member.ID))
		}
	}
	setup.IDs = ranks
	if standby := len(g.member.members) - len(g.member.record.Founders); g.member.program.Functions.Membership {
		setup.Parameters = maps.Clone(setup.Parameters)
		if setup.Parameters == nil {
			setup.Parameters = map[string]string{}
		}
		setup.Parameters["standby"] = fmt.Sprint(standby)
	}
	return setup
}

// prepare returns the instance of the algorithm for the members that are known.
func (g *group) prepare() (*network.Instance, error) {
	instance, err := network.Prepare(g.member.program.Declaration, g.setup())
	if err != nil {
		return nil, err
	}
	instance.Incarnate(g.member.position, g.member.incarnation)
	if g.standing != nil {
		instance.Prioritize(g.member.position, g.standing.Weighs())
	}
	return instance, nil
}

// priority returns the priority of a member in the configuration.
func (g *group) priority(id uint64) uint16 {
	if priority, given := g.priorities[id]; given {
		return priority
	}
	return 1
}

// lacks reports whether a list, by position, lacks a voter, and which.
func (g *group) lacks(members []transport.Member) (id uint64, lacks bool) {
	for _, id := range g.votersNow().Members {
		if rank, known := g.member.Rank(id); !known || members[rank-1].Unlisted {
			return id, true
		}
	}
	return 0, false
}

var _ process.Names = (*group)(nil)
