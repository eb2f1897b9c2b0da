// Package bully holds the runner of algorithm bully. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package bully

import (
	algorithm "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.OfSmall(&algorithm.Algorithm))
