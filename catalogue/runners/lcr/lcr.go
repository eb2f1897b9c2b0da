// Package lcr holds the runner of algorithm lcr. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package lcr

import (
	algorithm "ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
