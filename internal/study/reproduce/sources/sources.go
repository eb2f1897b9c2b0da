// Package sources has the rows of all sources.
package sources

import (
	"slices"

	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/s1"
	"ringleader.example/ringleader/internal/study/reproduce/s2"
	"ringleader.example/ringleader/internal/study/reproduce/s3"
	"ringleader.example/ringleader/internal/study/reproduce/s4"
	"ringleader.example/ringleader/internal/study/reproduce/s5"
)

// Rows returns the rows, in the order of the sources.
func Rows() []reproduce.Row {
	return slices.Concat(s1.Rows, s2.Rows, s3.Rows, s4.Rows, s5.Rows)
}
