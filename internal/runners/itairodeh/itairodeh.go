// Package itairodeh holds the program of algorithm itairodeh. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package itairodeh

import (
	algorithm "ringleader.example/ringleader/algorithms/itairodeh"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
