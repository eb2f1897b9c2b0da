// Package bully holds the program of algorithm bully. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package bully

import (
	algorithm "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
