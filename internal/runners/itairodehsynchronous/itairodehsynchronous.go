// Package itairodehsynchronous holds the program of algorithm itairodehsynchronous. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package itairodehsynchronous

import (
	algorithm "ringleader.example/ringleader/algorithms/itairodehsynchronous"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfRounds(&algorithm.Algorithm))
