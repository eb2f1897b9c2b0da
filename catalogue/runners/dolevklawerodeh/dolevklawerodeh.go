// Package dolevklawerodeh holds the runner of algorithm dolevklawerodeh. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package dolevklawerodeh

import (
	algorithm "ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
