// Package invitation holds the runner of algorithm invitation. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package invitation

import (
	algorithm "ringleader.example/ringleader/algorithms/invitation"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.OfSmall(&algorithm.Algorithm))
