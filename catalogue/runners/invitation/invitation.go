// Package invitation is the algorithm of that name, ready to run. Each algorithm is compiled apart, so that a change
// in one compiles one.
package invitation

import (
	algorithm "ringleader.example/ringleader/algorithms/invitation"
	"ringleader.example/ringleader/internal/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
