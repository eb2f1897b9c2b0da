// Package itairodeh holds the runner of algorithm itairodeh. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package itairodeh

import (
	algorithm "ringleader.example/ringleader/algorithms/itairodeh"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
