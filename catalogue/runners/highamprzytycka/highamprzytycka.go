// Package highamprzytycka holds the runner of algorithm highamprzytycka. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package highamprzytycka

import (
	algorithm "ringleader.example/ringleader/algorithms/highamprzytycka"
	"ringleader.example/ringleader/simulate"
)

// Runner runs the algorithm.
var Runner = simulate.Must(simulate.Of(&algorithm.Algorithm))
