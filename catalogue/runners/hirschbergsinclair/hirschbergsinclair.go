// Package hirschbergsinclair holds the runner of algorithm hirschbergsinclair. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package hirschbergsinclair

import (
	algorithm "ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
