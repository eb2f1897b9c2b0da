// Package preferencetree holds the runner of algorithm preferencetree. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package preferencetree

import (
	algorithm "ringleader.example/ringleader/algorithms/preferencetree"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
