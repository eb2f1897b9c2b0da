// Package dolevklawerodehb holds the runner of algorithm dolevklawerodehb. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package dolevklawerodehb

import (
	algorithm "ringleader.example/ringleader/algorithms/dolevklawerodehb"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
