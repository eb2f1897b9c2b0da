package verify

import (
	"ringleader.example/ringleader/election"
)

// cost is what a transition adds to the quantities of a run: messages, or passing time; and its marks.
type cost struct {
	election, announcement uint64
	time                   election.Ticks // of the extremes of time; else 0
	marks                  marks
}

func (c cost) of(name string) uint64 {
	switch name {
	case "election":
		return c.election
	case "announcement":
		return c.announcement
	}
	return c.election + c.announcement
}

// all returns the costs in the order of costNames.
func (c cost) all() [costs]uint64 {
	return [...]uint64{c.election + c.announcement, c.election, c.announcement}
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
