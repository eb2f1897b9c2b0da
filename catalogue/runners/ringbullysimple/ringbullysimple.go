// Package ringbullysimple holds the runner of algorithm ringbullysimple. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package ringbullysimple

import (
	algorithm "ringleader.example/ringleader/algorithms/ringbullysimple"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
