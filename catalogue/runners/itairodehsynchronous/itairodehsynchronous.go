// Package itairodehsynchronous holds the runner of algorithm itairodehsynchronous. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package itairodehsynchronous

import (
	algorithm "ringleader.example/ringleader/algorithms/itairodehsynchronous"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
