// Package dolevklawerodeh holds the program of algorithm dolevklawerodeh. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package dolevklawerodeh

import (
	algorithm "ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
