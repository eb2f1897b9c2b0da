// Package preference holds the program of algorithm preference. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package preference

import (
	algorithm "ringleader.example/ringleader/algorithms/preference"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfRounds(&algorithm.Algorithm))
