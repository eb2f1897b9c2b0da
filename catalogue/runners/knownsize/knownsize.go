// Package knownsize is the algorithm of that name, ready to run. Each algorithm is compiled apart, so that a change
// in one compiles one.
package knownsize

import (
	algorithm "ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/internal/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
