// Package afekgafni holds the runner of algorithm afekgafni. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package afekgafni

import (
	algorithm "ringleader.example/ringleader/algorithms/afekgafni"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
