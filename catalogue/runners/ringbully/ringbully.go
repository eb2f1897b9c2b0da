// Package ringbully holds the runner of algorithm ringbully. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package ringbully

import (
	algorithm "ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
