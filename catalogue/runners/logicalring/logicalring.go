// Package logicalring holds the runner of algorithm logicalring. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package logicalring

import (
	algorithm "ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.OfSmall(&algorithm.Algorithm))
