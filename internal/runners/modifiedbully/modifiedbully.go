// Package modifiedbully holds the program of algorithm modifiedbully. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package modifiedbully

import (
	algorithm "ringleader.example/ringleader/algorithms/modifiedbully"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
