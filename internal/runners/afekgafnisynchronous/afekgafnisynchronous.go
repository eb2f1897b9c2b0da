// Package afekgafnisynchronous holds the program of algorithm afekgafnisynchronous. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package afekgafnisynchronous

import (
	algorithm "ringleader.example/ringleader/algorithms/afekgafnisynchronous"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfRounds(&algorithm.Algorithm))
