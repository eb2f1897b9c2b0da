// Package tree holds the runner of algorithm tree. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package tree

import (
	algorithm "ringleader.example/ringleader/algorithms/tree"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
