// Package ringbullysimple holds the program of algorithm ringbullysimple. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package ringbullysimple

import (
	algorithm "ringleader.example/ringleader/algorithms/ringbullysimple"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
