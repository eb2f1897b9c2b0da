// Package ringbully is the algorithm of that name, ready to run. Each algorithm is compiled apart, so that a change
// in one compiles one.
package ringbully

import (
	algorithm "ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/internal/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
