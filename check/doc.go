// Package check says of the record of a run whether it keeps what a source claims of every run, and what was
// measured. It knows the record only, and nothing of the engine that made it.
package check

// Claim is a statement of a source about every run.
type Claim struct {
	Source   string // where it is stated
	Text     string // what is claimed
	Holds    bool   // in this run
	Measured string // what was found, or where it fails first
}
