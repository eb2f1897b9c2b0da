// Package petersonalternating holds the runner of algorithm petersonalternating. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package petersonalternating

import (
	algorithm "ringleader.example/ringleader/algorithms/petersonalternating"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
