// Package lelann holds the runner of algorithm lelann. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package lelann

import (
	algorithm "ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
