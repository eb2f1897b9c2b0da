// Package oddoneout holds the runner of algorithm oddoneout. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package oddoneout

import (
	algorithm "ringleader.example/ringleader/algorithms/oddoneout"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
