// Package oddoneout holds the program of algorithm oddoneout. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package oddoneout

import (
	algorithm "ringleader.example/ringleader/algorithms/oddoneout"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
