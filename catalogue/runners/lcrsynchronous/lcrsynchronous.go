// Package lcrsynchronous holds the runner of algorithm lcrsynchronous. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package lcrsynchronous

import (
	algorithm "ringleader.example/ringleader/algorithms/lcrsynchronous"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
