// Package modifiedbully holds the runner of algorithm modifiedbully. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package modifiedbully

import (
	algorithm "ringleader.example/ringleader/algorithms/modifiedbully"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.OfSmall(&algorithm.Algorithm))
