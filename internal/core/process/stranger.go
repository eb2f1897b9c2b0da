package process

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Stranger is an election of the same algorithm on another network, of which one step is made between the two of a checked one. So a
// step that depends on what all processes share, such as a package variable, does something else the second time.
type Stranger struct {
	ps      *Processes
	waiting []Sent
	begun   int // processes that have started
	chosen  int // values in the step under way
}

// mostWaiting is the number of messages under way at which an election of strangers begins again.
const mostWaiting = 1 << 12

// Stranger returns an election among so many processes; nil if the algorithm has no network of that size.
func (p *Program) Stranger(size int) *Stranger {
	ids := make(election.List, size)
	for q := range ids {
		ids[q] = uint64(q) + 1
	}
	other, err := network.Prepare(p.Declaration, network.Setup{IDs: ids})
	if err != nil {
		return nil
	}
	return p.strange(other)
}

// peers returns an election of as many processes, with the same links and parameters, and with other identifiers where these can be
// others; nil if there are too many. A step that finds what others have left in a package variable for its own network finds what these leave.
func (p *Program) peers(of *network.Instance) *Stranger {
	if of.Size() > mostKnown {
		return nil
	}
	return p.strange(of.Others())
}

// strange returns an election that begins at its first step. One slot more than it has processes is for those that born makes.
func (p *Program) strange(other *network.Instance) *Stranger {
	s := &Stranger{ps: p.empty(other, false), begun: other.Size()}
	s.ps.Grow(other.Size() + 1)
	draw := luck()
	s.ps.Choices(func(n uint32) uint32 {
		if s.chosen++; s.chosen > mostChoices {
			panic(errRound) // it may choose for ever, which a checked step shows
		}
		return draw(n)
	})
	return s
}

// luck returns a source of choices. A constant could keep a step for ever that chooses until a value suits it.
func luck() func(n uint32) uint32 {
	luck := uint64(1)
	return func(n uint32) uint32 {
		luck = luck*6364136223846793005 + 1442695040888963407 // Knuth's MMIX; its high bits are good enough here
		return uint32(luck>>32) % n
	}
}

// watch lets [Watch] see its steps.
func (s *Stranger) watch() {
	if s != nil {
		s.ps.watch()
	}
}

// born makes a process that takes no part: only what New does beside it counts.
func (s *Stranger) born() {
	if s == nil {
		return
	}
	defer func() { _ = recover() }() // New is judged where a process is made that counts
	last := s.ps.network.Size()
	s.ps.Born(last, last-1)
}

// Step makes one step: a start, or the receipt of the oldest message. An election that has ended begins again. What a stranger's
// step does wrong is found where the step is checked.
func (s *Stranger) Step() {
	if s == nil {
		return
	}
	size, links := s.ps.network.Size(), s.ps.network.Network
	defer func() {
		if recover() != nil {
			s.waiting, s.begun = nil, size
		}
	}()
	switch {
	case s.begun < size:
		s.begun++
		s.post(s.step(s.begun-1, Event{What: Started}))
	case len(s.waiting) > 0 && len(s.waiting) < mostWaiting:
		m := s.waiting[0]
		s.waiting = s.waiting[1:]
		to, port := links.End(m.On())
		s.post(s.step(to, Event{What: Received, Port: port, Kind: m.Kind(), Message: m.Message}))
		s.ps.Release(m.Message)
	default:
		for _, m := range s.waiting {
			s.ps.Release(m.Message)
		}
		s.waiting, s.begun = s.waiting[:0], 0
		for q := range size {
			s.ps.Born(q, q)
		}
	}
}

// step makes a step of a process.
func (s *Stranger) step(position int, e Event) *Effects {
	u := &s.ps.checker.underWay
	u.position, u.function, u.event = position, "", e
	u.begin()
	defer u.end()
	s.chosen = 0
	return s.ps.Step(position, position, e, election.Ticks{})
}

// post puts the messages of a step behind those that wait.
func (s *Stranger) post(effects *Effects) {
	s.waiting = append(s.waiting, effects.Sent...)
}
