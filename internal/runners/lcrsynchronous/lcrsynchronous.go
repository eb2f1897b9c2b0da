// Package lcrsynchronous holds the program of algorithm lcrsynchronous. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package lcrsynchronous

import (
	algorithm "ringleader.example/ringleader/algorithms/lcrsynchronous"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfRounds(&algorithm.Algorithm))
