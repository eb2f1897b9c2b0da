// Package franklin holds the runner of algorithm franklin. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package franklin

import (
	algorithm "ringleader.example/ringleader/algorithms/franklin"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
