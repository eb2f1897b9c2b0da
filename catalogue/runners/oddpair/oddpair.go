// Package oddpair holds the runner of algorithm oddpair. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package oddpair

import (
	algorithm "ringleader.example/ringleader/algorithms/oddpair"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
