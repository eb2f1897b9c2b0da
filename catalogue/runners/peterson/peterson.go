// Package peterson holds the runner of algorithm peterson. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package peterson

import (
	algorithm "ringleader.example/ringleader/algorithms/peterson"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
