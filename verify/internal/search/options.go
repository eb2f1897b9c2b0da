package search

import (
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

// Options holds what is searched, and how far.
type Options struct {
	model.Options
	Setup     network.Setup
	MaxStates int                 // of one order; 0 is no limit
	MaxDepth  int                 // transitions from the beginning to a state
	Memory    uint64              // limit of the whole program, in bytes
	Exact     bool                // keep 128 bits of each fingerprint, however many states there are
	Progress  func(Progress) bool // called now and then, by one goroutine at a time; false ends the exploration; may be nil

	Confluent bool   // the premises of confluence on a ring hold
	Caused    bool   // those of confluence elsewhere hold, except what a run shows
	Partial   bool   // those of partial order hold
	Symmetric bool   // those of symmetry hold among the configurations of one order
	Only      string // the only property whose violation counts; empty: any
	Wide      int    // states of one order up to which 128 bits of each fingerprint are kept
	Most      int    // states of all orders together; 0 is no limit
}

// limit is the limit that ended a search.
type limit uint8

// The limits.
const (
	NoLimit     limit = iota // it is complete, or was stopped
	StateLimit               // of states
	MemoryLimit              // of memory
	DepthLimit               // of transitions from the beginning to a state
)
