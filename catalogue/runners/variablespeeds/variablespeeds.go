// Package variablespeeds holds the runner of algorithm variablespeeds. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package variablespeeds

import (
	algorithm "ringleader.example/ringleader/algorithms/variablespeeds"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.OfSmall(&algorithm.Algorithm))
