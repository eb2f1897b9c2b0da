// Package tree is the algorithm of that name, ready to run. Each algorithm is compiled apart, so that a change
// in one compiles one.
package tree

import (
	algorithm "ringleader.example/ringleader/algorithms/tree"
	"ringleader.example/ringleader/internal/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
