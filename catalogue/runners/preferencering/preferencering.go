// Package preferencering holds the runner of algorithm preferencering. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package preferencering

import (
	algorithm "ringleader.example/ringleader/algorithms/preferencering"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
