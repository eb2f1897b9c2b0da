// Package oddoneout is the algorithm of that name, ready to run. Each algorithm is compiled apart, so that a change
// in one compiles one.
package oddoneout

import (
	algorithm "ringleader.example/ringleader/algorithms/oddoneout"
	"ringleader.example/ringleader/internal/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
