// Package afekgafnisynchronous holds the runner of algorithm afekgafnisynchronous. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package afekgafnisynchronous

import (
	algorithm "ringleader.example/ringleader/algorithms/afekgafnisynchronous"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
