// Package tree holds the program of algorithm tree. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package tree

import (
	algorithm "ringleader.example/ringleader/algorithms/tree"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfRounds(&algorithm.Algorithm))
