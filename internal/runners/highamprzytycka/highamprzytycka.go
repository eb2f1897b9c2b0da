// Package highamprzytycka holds the program of algorithm highamprzytycka. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package highamprzytycka

import (
	algorithm "ringleader.example/ringleader/algorithms/highamprzytycka"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
