// Package quorumbully is the algorithm of that name, ready to run. Each algorithm is compiled to a runner apart, so that who
// changes one waits for one.
package quorumbully

import (
	algorithm "ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/simulate"
)

// Runner runs it.
var Runner = simulate.Must(simulate.OfSmall(&algorithm.Algorithm))
