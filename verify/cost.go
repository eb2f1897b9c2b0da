package verify

import (
	"ringleader.example/ringleader/election"
)

// cost is what a transition adds to the quantities of a run: messages, or passing time; and its marks.
type cost struct {
	Election, Announcement uint64
	Time                   election.Ticks // of the extremes of time; else 0
	Marks                  marks
}

func (c cost) Of(name string) uint64 {
	switch name {
	case "election":
		return c.Election
	case "announcement":
		return c.Announcement
	}
	return c.Election + c.Announcement
}

// All returns the costs in the order of costNames.
func (c cost) All() [costs]uint64 {
	return [...]uint64{c.Election + c.Announcement, c.Election, c.Announcement}
}

// costs is the number of costs of a run: total, election and announcement messages.
const costs = 3

var costNames = [costs]string{"total", "election", "announcement"}

// marks are kinds of event, as bits.
type marks uint8

const (
	elects  marks = 1 << iota // a process becomes leader
	decides                   // a decision changes
	arrives                   // a message arrives
)
