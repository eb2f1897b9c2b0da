// Package afekgafni holds the program of algorithm afekgafni. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package afekgafni

import (
	algorithm "ringleader.example/ringleader/algorithms/afekgafni"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfRounds(&algorithm.Algorithm))
