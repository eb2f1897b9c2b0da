// Package proofs has the models that are proved for every number of processes: one file a model, NAME.model, in the form that package
// logic reads, and NAME.proved, which has what was proved of it and is claimed in words, and by which solver. Files with the ending .axioms are
// parts of several models.
// NAME.code says what the code of the algorithm is in the model, for package tie of module tests; NAME.code.proved has what was proved of that.
//
// go test ./proofs proves each of them by the solver that was the quickest, or with -long by each that is installed, and runs them with few
// processes. With -update it writes NAME.proved, and docs/proved.md.
//
// This package is v0: its API may change with any version.
package proofs

import "embed"

// Files are the models, what they include, and their records.
//
//go:embed *.model *.axioms *.proved
var Files embed.FS
