package live

import (
	"errors"
	"slices"
	"time"

	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/transport"
)

// Merge makes a list of members of the host's own and the address book, with those that were removed and still vote. The loop calls it.
type Merge func(b *book.Book, votes func(id uint64) bool) Listing

// amending is the event that the host changes the address book.
type amending struct {
	change func(*book.Book) (changed bool, err error)
	answer chan<- error
}

// Amend changes the address book. It returns when the change is durable at this member, and on its way to the others.
func (m *Member) Amend(change func(*book.Book) (changed bool, err error)) error {
	answer := make(chan error, 1)
	m.post(amending{change, answer})
	select {
	case err := <-answer:
		return err
	case <-m.done:
		return ErrStopped
	}
}

func (l *loop) amend(e amending) error {
	next := l.book.Book.Clone()
	changed, err := e.change(&next)
	if err != nil {
		e.answer <- err
		return nil
	}
	if changed {
		err = l.turn(&next)
	}
	if err != nil {
		e.answer <- err
		return fatal(err)
	}
	l.after = append(l.after, func() { e.answer <- nil })
	return nil
}

// turn takes the address book as it is to be, unless connections to an address would not be secure, and tells the others what is new.
func (l *loop) turn(next *book.Book) error {
	before := *l.book.Book
	*l.book.Book = *next
	if err := l.remerge(); err != nil {
		*l.book.Book = before
		return err
	}
	l.after = append(l.after, func() {}) // it becomes durable
	news := l.book.News(&before, l.member.now())
	for p := range l.member.others() {
		if p.connected {
			l.tell(p, news...)
		}
	}
	return nil
}

// merged returns the list of members that an address book and the host's list make.
func (l *loop) merged(merge Merge) *Listing {
	list := merge(l.book.Book, func(id uint64) bool {
		return slices.ContainsFunc(l.groups, func(g *group) bool { return slices.Contains(g.votersNow().Members, id) })
	})
	list.Members = l.book.Place(list.Members)
	return &list
}

// remerge takes the list of members that the address book now makes. It lacks no voter that the list before had.
func (l *loop) remerge() error {
	if l.merge == nil {
		return nil
	}
	return l.list(l.merged(l.merge), false)
}

// hearLine takes a line of a peer's address book.
func (l *loop) hearLine(p *peer, payload []byte) error {
	next, answer, ok := l.book.Hear(p.id, payload)
	if !ok || l.merge == nil {
		return transport.ErrFrame
	}
	l.tell(p, answer...)
	if next == nil {
		return nil
	}
	err := l.turn(next)
	if errors.Is(err, ErrList) {
		l.member.log.Warn("an address that another member has told is not taken", "from", p.id, "error", err)
	}
	return fatal(err)
}

// tell sends a peer lines when they are durable, on the connection that it has dialed if there is no other one: it may have moved, and know nothing
// of that. A crash would take back a line that is not durable, and this member would then make another one of its version.
func (l *loop) tell(p *peer, lines ...book.Line) {
	tell := func() {
		for _, line := range lines {
			if in, can := p.in.(transport.Teller); can && !p.connected {
				in.Tell(line.Frame(places))
			} else if p.connected {
				p.send(line.Frame(places), 0)
			}
		}
	}
	if l.recording() {
		l.after = append(l.after, tell)
		return
	}
	tell()
}

// correct tells a peer that has connected where the others take it to be.
func (l *loop) correct(p *peer) { l.tell(p, l.book.Book.Changes(p.id)...) }

// tellBook sends a peer that this member has connected to all lines that have changed since the lists of hosts.
func (l *loop) tellBook(p *peer) {
	l.tell(p, l.book.Book.Changes()...)
	if len(l.book.Seeds) > 0 {
		p.send(transport.AppendFrame(nil, inquires), 0)
	}
}

// tellAll tells a peer of all members in the list.
func (l *loop) tellAll(p *peer) {
	for _, member := range l.member.members {
		line, known := l.book.Book.Line(member.ID)
		if !known || line.Version == 0 {
			line = book.Line{ID: member.ID, Address: member.Address, Weight: l.groups[0].priority(member.ID)}
		}
		if !member.Unlisted && line.Check() == nil {
			l.tell(p, line)
		}
	}
}

// seek asks at the seeds as long as this member has connected to no other one.
func (l *loop) seek(now time.Duration) {
	if !slices.ContainsFunc(l.member.peers, func(p *peer) bool { return p != nil && p.connected }) {
		l.book.Seek(l.member.transport, now)
	}
}

// meet takes an answer of a seed.
func (l *loop) meet(e transport.Met) error {
	if !l.book.Meet(e) {
		return nil
	}
	return fatal(l.remerge())
}
