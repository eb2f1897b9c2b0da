// Package knownsize holds the runner of algorithm knownsize. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package knownsize

import (
	algorithm "ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.OfSmall(&algorithm.Algorithm))
