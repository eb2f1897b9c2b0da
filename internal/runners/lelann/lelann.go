// Package lelann holds the program of algorithm lelann. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package lelann

import (
	algorithm "ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
