package verify

import "ringleader.example/ringleader/election"

// Algorithms small enough to be obviously correct, for properties that lcr, ring-bully and bully do not have.

// coin elects among two anonymous processes: both choose a bit, repeatedly, until the bits differ.
type coin struct {
	Bit, Other uint32 // 1 + the bit; 0: not yet, not known yet
}

type face struct{ Bit uint32 }

func (c *coin) flip(sides uint32, out *election.Out[face]) {
	c.Bit = 1 + out.Choose(sides)
	out.Send(0, 0, face{c.Bit})
	c.compare(sides, out)
}

func (c *coin) compare(sides uint32, out *election.Out[face]) {
	bit, other := c.Bit, c.Other
	switch {
	case bit == 0 || other == 0:
		return
	case bit > other:
		out.Lead(0)
	case bit < other:
		out.Follow(0, 0)
	}
	c.Bit, c.Other = 0, 0
	if bit == other {
		c.flip(sides, out)
	}
}

func coins(sides uint32) election.Algorithm[coin, face] {
	return election.Algorithm[coin, face]{
		Declaration: election.Declaration{
			Name: "coins", Topology: election.Ring, OneWay: true, FIFO: true, Identifiers: election.Anonymous, Starts: election.AllStart,
			Kinds: []election.MessageKind{{Name: "face"}},
		},
		New:   func(election.Local) coin { return coin{} },
		Start: func(c *coin, out *election.Out[face]) { c.flip(sides, out) },
		Receive: func(c *coin, _ election.Port, _ election.Kind, m face, out *election.Out[face]) {
			c.Other = m.Bit
			c.compare(sides, out)
		},
	}
}

// collector sends a list round a ring; a process whose list returns knows all.
type collector struct {
	ID   election.ID
	Mine bool // its list is in transit, or has been
}

type list struct{ IDs []election.ID }

func (c *collector) start(out *election.Out[list]) {
	if !c.Mine {
		c.Mine = true
		out.Send(0, 0, list{[]election.ID{c.ID}})
	}
}

func (c *collector) receive(m list, out *election.Out[list], extend func([]election.ID, election.ID) []election.ID) {
	if m.IDs[0] != c.ID {
		c.start(out)
		out.Send(0, 0, list{extend(m.IDs, c.ID)})
		return
	}
	largest := m.IDs[0]
	for _, id := range m.IDs {
		largest = max(largest, id)
	}
	if largest == c.ID {
		out.Lead(0)
	} else {
		out.Follow(largest, 0)
	}
}

func collecting(extend func([]election.ID, election.ID) []election.ID) election.Algorithm[collector, list] {
	return election.Algorithm[collector, list]{
		Declaration: election.Declaration{
			Name: "list", Topology: election.Ring, OneWay: true, Winner: election.Largest,
			Kinds: []election.MessageKind{{Name: "list"}},
			Bounds: []election.Bound{
				{Of: "election", Case: election.Worst, Formula: "n²", Value: func(n uint64) uint64 { return n * n }},
				{Of: "election", Case: election.Best, Formula: "n²", Value: func(n uint64) uint64 { return n * n }},
			},
		},
		New:   func(l election.Local) collector { return collector{ID: l.ID} },
		Start: (*collector).start,
		Receive: func(c *collector, _ election.Port, _ election.Kind, m list, out *election.Out[list]) {
			c.receive(m, out, extend)
		},
	}
}

func copied(ids []election.ID, id election.ID) []election.ID {
	return append(ids[:len(ids):len(ids)], id)
}

// saturating elects on a tree: leaves send first, a node that has heard from all ports but one sends there, and the
// two that hear from all ports announce the leader.
type saturating struct {
	Best, ID election.ID
	Heard    [4]bool
	Degree   uint32
	Woken    bool
	Sent     bool
	Told     bool
}

type largest struct{ ID election.ID }

const (
	wake election.Kind = iota
	up
	down
)

func (s *saturating) awake(out *election.Out[largest]) {
	if s.Woken {
		return
	}
	s.Woken = true
	for port := range s.Degree {
		out.Send(election.Port(port), wake, largest{})
	}
	s.send(out)
}

func (s *saturating) send(out *election.Out[largest]) {
	missing := []election.Port{}
	for port := range s.Degree {
		if !s.Heard[port] {
			missing = append(missing, election.Port(port))
		}
	}
	if len(missing) == 1 && !s.Sent {
		s.Sent = true
		out.Send(missing[0], up, largest{s.Best})
	}
	if len(missing) == 0 {
		s.tell(s.Best, out)
	}
}

func (s *saturating) tell(id election.ID, out *election.Out[largest]) {
	if s.Told {
		return
	}
	s.Told = true
	if id == s.ID {
		out.Lead(0)
	} else {
		out.Follow(id, 0)
	}
	for port := range s.Degree {
		out.Send(election.Port(port), down, largest{id})
	}
}

var saturation = election.Algorithm[saturating, largest]{
	Declaration: election.Declaration{
		Name: "saturation", Topology: election.Tree, Winner: election.Largest,
		Kinds: []election.MessageKind{{Name: "wake"}, {Name: "up"}, {Name: "down", Class: election.Announcement}},
	},
	New: func(l election.Local) saturating {
		return saturating{ID: l.ID, Best: l.ID, Degree: uint32(l.Degree)}
	},
	Start: (*saturating).awake,
	Receive: func(s *saturating, port election.Port, kind election.Kind, m largest, out *election.Out[largest]) {
		s.awake(out)
		switch kind {
		case up:
			s.Heard[port], s.Best = true, max(s.Best, m.ID)
			s.send(out)
		case down:
			s.tell(m.ID, out)
		}
	},
}

// patient waits, and leads unless it has heard by then of a larger process, which it follows.
type patient struct {
	ID      election.ID
	Wait    election.Ticks
	Decided bool
}

type hello struct{ ID election.ID }

func waiting(timing election.Timing, wait election.Ticks) election.Algorithm[patient, hello] {
	return election.Algorithm[patient, hello]{
		Declaration: election.Declaration{
			Name: "patient", Topology: election.Ring, OneWay: true, Timing: timing, Starts: election.AllStart, Winner: election.Largest,
			Kinds: []election.MessageKind{{Name: "hello"}}, Timers: []string{"patience"},
		},
		New: func(l election.Local) patient { return patient{ID: l.ID, Wait: wait} },
		Start: func(p *patient, out *election.Out[hello]) {
			out.Send(0, 0, hello{p.ID})
			out.After(0, p.Wait)
		},
		Receive: func(p *patient, _ election.Port, _ election.Kind, m hello, out *election.Out[hello]) {
			if m.ID > p.ID {
				p.Decided = true
				out.Stop(0)
				out.Follow(m.ID, 0)
			}
		},
		Timeout: func(_ *patient, _ election.Timer, out *election.Out[hello]) { out.Lead(0) },
	}
}

// lessee leads with a lease that it renews for ever. Member 1 begins; a member that hears nothing for a while takes
// over.
type lessee struct {
	ID      election.ID
	Term    election.Term
	Silence election.Ticks
	Lease   election.Deadline
	Waits   bool // its host asked it to stop leading until its turn comes again
}

type renewal struct {
	Term election.Term
	From election.ID
}

const leaseLength = 4

func (l *lessee) lead(out *election.Out[renewal]) {
	l.Lease = out.Deadline(election.Units(leaseLength))
	out.LeadUntil(l.Lease, l.Term)
	out.Send(election.To(3-l.ID), 0, renewal{l.Term, l.ID})
	out.After(0, election.Units(2))
}

func leasing(silence uint64) election.Algorithm[lessee, renewal] {
	return election.Algorithm[lessee, renewal]{
		Declaration: election.Declaration{
			Name: "lease", Topology: election.Complete, Timing: election.Timed, FIFO: true, Starts: election.AllStart,
			Task: election.Service, Leased: true, Survives: election.Crash,
			Kinds: []election.MessageKind{{Name: "renewal", Class: election.Overhead}}, Timers: []string{"turn"},
		},
		New: func(l election.Local) lessee { return lessee{ID: l.ID, Silence: election.Units(silence)} },
		Start: func(l *lessee, out *election.Out[renewal]) {
			if l.ID == 1 {
				l.Term = 1
				l.lead(out)
			} else if l.Term == 0 {
				out.After(0, l.Silence)
			}
		},
		Receive: func(l *lessee, _ election.Port, _ election.Kind, m renewal, out *election.Out[renewal]) {
			if m.Term >= l.Term {
				l.Term, l.Waits = m.Term, false
				out.Follow(m.From, m.Term)
				out.After(0, l.Silence)
			}
		},
		Timeout: func(l *lessee, _ election.Timer, out *election.Out[renewal]) {
			if l.Waits || out.Passed(l.Lease) { // another process led, or none
				l.Term, l.Waits = l.Term+1, false
			}
			l.lead(out)
		},
		Command: func(l *lessee, _ election.Command, out *election.Out[renewal]) {
			if out.Passed(l.Lease) {
				return
			}
			l.Lease, l.Waits = election.Deadline{}, true
			out.NoLeader()
			out.After(0, l.Silence.Times(3)) // the other one comes first
		},
	}
}
