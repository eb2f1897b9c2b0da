// Package ringbully holds the program of algorithm ringbully. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package ringbully

import (
	algorithm "ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
