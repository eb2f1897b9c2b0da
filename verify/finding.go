package verify

import (
	"ringleader.example/ringleader/trace"
)

// breach is a property that does not hold.
type breach struct {
	Property, Detail string
	how              string // of a step that broke the contract: what it did; else empty
}

// finding is a breach and the path to it.
type finding struct {
	breach
	Root  int   // the index of the beginning
	Path  []int // the index of the transition at each configuration
	Round int   // how many of the last transitions can repeat for ever
}

// violation is a property that does not hold, and a run that shows it.
type violation struct {
	Property string
	Detail   string
	Record   trace.Record
	Round    int
	Outside  []string
}
