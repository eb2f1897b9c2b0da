// Package quorumbully is the algorithm that members run, with its types hidden: so a change in it compiles neither the
// root package nor a program that imports that.
package quorumbully

import (
	algorithm "ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/internal/core/process"
)

// Program is quorum-bully.
var Program = process.Must(process.Of(&algorithm.Algorithm))

// LengthFor returns how long a lease has to be if answers are late by so much, as a leader chooses it.
func LengthFor(late, renewal, lease uint64) uint64 { return algorithm.LengthFor(late, renewal, lease) }
