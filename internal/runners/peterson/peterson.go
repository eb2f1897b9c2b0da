// Package peterson holds the program of algorithm peterson. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package peterson

import (
	algorithm "ringleader.example/ringleader/algorithms/peterson"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
