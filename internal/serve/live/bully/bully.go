// Package bully is the algorithm that members run, with its types hidden: so a change in it compiles neither the root
// package nor a program that imports that.
package bully

import (
	algorithm "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/internal/core/process"
)

// Program is Bully.
var Program = process.Must(process.Of(&algorithm.Algorithm))
