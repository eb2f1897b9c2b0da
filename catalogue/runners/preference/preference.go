// Package preference holds the runner of algorithm preference. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package preference

import (
	algorithm "ringleader.example/ringleader/algorithms/preference"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
