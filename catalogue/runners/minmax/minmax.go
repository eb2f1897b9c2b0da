// Package minmax holds the runner of algorithm minmax. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package minmax

import (
	algorithm "ringleader.example/ringleader/algorithms/minmax"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
