package model

import (
	"ringleader.example/ringleader/trace"
)

// Breach is a property that does not hold.
type Breach struct {
	Property, Detail string
	how              string // of a step that broke the contract: what it did; else empty
}

// Finding is a breach and the path to it.
type Finding struct {
	Breach
	Root  int   // the index of the beginning
	Path  []int // the index of the transition at each configuration
	Round int   // how many of the last transitions can repeat for ever
}

// Violation is a property that does not hold, and a run that shows it.
type Violation struct {
	Property string
	Detail   string
	Record   trace.Record
	Round    int
	Outside  []string
}
