// Package quorumbully is the algorithm of that name, ready to run. Each algorithm is compiled apart, so that a change
// in one compiles one.
package quorumbully

import (
	algorithm "ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
