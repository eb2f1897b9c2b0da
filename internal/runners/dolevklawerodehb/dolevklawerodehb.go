// Package dolevklawerodehb holds the program of algorithm dolevklawerodehb. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package dolevklawerodehb

import (
	algorithm "ringleader.example/ringleader/algorithms/dolevklawerodehb"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
