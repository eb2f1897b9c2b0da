package outcome

import "ringleader.example/ringleader/election"

// Messages counts the messages of a run by their class.
type Messages struct {
	Total        uint64 // Election + Announcement
	Election     uint64
	Announcement uint64
	Overhead     uint64
	ByKind       []uint64 // by [election.Kind], for all declared kinds
}

// MessagesOf sums the counts by kind of an algorithm into classes. byKind may be longer than the declared kinds.
func MessagesOf(d *election.Declaration, byKind []uint64) Messages {
	m := Messages{ByKind: make([]uint64, len(d.Kinds))}
	for k, kind := range d.Kinds {
		m.ByKind[k] = byKind[k]
		switch kind.Class {
		case election.Election:
			m.Election += byKind[k]
		case election.Announcement:
			m.Announcement += byKind[k]
		case election.Overhead:
			m.Overhead += byKind[k]
		}
	}
	m.Total = m.Election + m.Announcement
	return m
}

// Of returns the count that a bound limits: [election.Bound.Of] is "election", "announcement" or "total".
func (m *Messages) Of(name string) uint64 {
	switch name {
	case "election":
		return m.Election
	case "announcement":
		return m.Announcement
	case "total":
		return m.Total
	}
	panic("outcome: no messages are called " + name)
}
