package model

import (
	"ringleader.example/ringleader/election"
)

// Cost is what a transition adds to the quantities of a run: messages, or passing time; and its marks.
type Cost struct {
	Election, Announcement uint64
	Time                   election.Ticks // of the extremes of time; else 0
	Marks                  Marks
}

// Of returns the number of messages of one of CostNames.
func (c Cost) Of(name string) uint64 {
	switch name {
	case "election":
		return c.Election
	case "announcement":
		return c.Announcement
	}
	return c.Election + c.Announcement
}

// All returns the costs in the order of costNames.
func (c Cost) All() [Costs]uint64 {
	return [...]uint64{c.Election + c.Announcement, c.Election, c.Announcement}
}

// Costs is the number of costs of a run: total, election and announcement messages.
const Costs = 3

// CostNames are the costs of a run.
var CostNames = [Costs]string{"total", "election", "announcement"}

// Marks are kinds of event, as bits.
type Marks uint8

const (
	Elects  Marks = 1 << iota // a process becomes leader
	Decides                   // a decision changes
	Arrives                   // a message arrives
)
