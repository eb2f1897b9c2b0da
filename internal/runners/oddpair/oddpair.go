// Package oddpair holds the program of algorithm oddpair. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package oddpair

import (
	algorithm "ringleader.example/ringleader/algorithms/oddpair"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
