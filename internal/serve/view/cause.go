package view

import (
	"iter"
	"strings"
	"time"

	"ringleader.example/ringleader/election"
)

// Cause is why the known leader has changed, as far as a member knows.
type Cause uint8

// The causes. Those from Resigned to Closed are known to a leader that ends its lead in order. It tells the others.
const (
	Unknown     Cause = iota
	Elected           // no leader was known before
	Resigned          // it was told to resign, or its work has returned
	Transferred       // it was told to hand over to a member
	Preempted         // a member of higher rank has taken over
	Unhealthy         // its health check fails
	Disk              // its disk gives no answer
	Stalled           // its work makes no progress
	Closed            // it was closed
	Lapsed            // no majority has renewed its lease
	Delayed           // a process stood still, or had too little of the processor
	Suspended         // a machine was suspended
	Crashed           // its death is proven
	Lost              // it is not reachable, and its lease has ended
	Silent            // its connection stands, and its lease has ended
	Released          // it has released its lease, and told no reason
	Superseded        // another one leads in a higher term
	Duplicate         // another process has the identifier of this member
	Stopped           // this member has stopped, or has left the group
	causes
)

var causeNames = [causes]string{
	"unknown", "elected", "resigned", "transferred", "preempted", "unhealthy", "disk", "stalled", "closed", "lapsed", "delayed", "suspended", "crashed", "lost",
	"silent", "released", "superseded", "duplicate", "stopped",
}

func (c Cause) String() string { return causeNames[c] }

// EndedByError is the message of a member's log about the error that ends the member, which the host gets, too.
const EndedByError = "stopped"

// Because is a cause with what there is to say about it, for people.
type Because struct {
	Cause  Cause
	Detail string // empty: nothing
}

func (b Because) String() string {
	if b.Detail == "" {
		return b.Cause.String()
	}
	return b.Cause.String() + ": " + b.Detail
}

// ParseBecause is the inverse of String. A cause that this version does not know is Unknown.
func ParseBecause(text string) Because {
	name, detail, _ := strings.Cut(text, ": ")
	for c, known := range causeNames {
		if name == known {
			return Because{Cause(c), detail}
		}
	}
	return Because{Unknown, text}
}

// Change is a change of the known leader.
type Change struct {
	Because

	Time time.Time
	From uint64 // the leader before; 0: none was known
	To   uint64 // 0: none is known yet

	Term    election.Term // of the lead that has ended
	counted bool
}

// ByCause counts changes of the leader by their causes.
type ByCause [causes]uint64

// All yields the name of each cause, with its number.
func (b *ByCause) All() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for cause, n := range b {
			if !yield(Cause(cause).String(), n) {
				return
			}
		}
	}
}
