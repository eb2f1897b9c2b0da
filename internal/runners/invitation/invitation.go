// Package invitation holds the program of algorithm invitation. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package invitation

import (
	algorithm "ringleader.example/ringleader/algorithms/invitation"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
