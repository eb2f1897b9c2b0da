// Package work splits long computations into pieces whose results merge exactly.
//
// A job is a computation in a few bytes that another process can repeat. Its units are numbered, and the result of a
// unit depends on its number only. A piece is a range of units. [Task.Join] makes one result of those of two pieces.
// It is associative, so results may come in any order, of any cuts, and more than once: [Results] takes each unit
// once, and joins neighbours. A [Runner] decides where pieces are computed; [Local] is the one on this process's
// cores. A [File] keeps results, so that a job can be stopped, even killed, and resumed to the same bytes.
package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Job is a computation in a form that another process can repeat.
type Job struct {
	Kind    string          `json:"kind"`    // the command, such as compare
	Spec    json.RawMessage `json:"spec"`    // what it computes, without what depends on the machine or shows results
	Version string          `json:"version"` // of the program: results of different versions never meet
}

// Key names a job: a hash of all of it, in hexadecimal. The same computation of the same version has the same key.
func (j Job) Key() string {
	text, err := json.Marshal(j)
	if err != nil {
		panic(err) // the specification of a job is JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Piece is a half-open range of a job's units, which are numbered from 0.
type Piece struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Len returns the number of units.
func (p Piece) Len() uint64 { return p.To - p.From }

func (p Piece) String() string { return fmt.Sprintf("%d to %d", p.From, p.To-1) }

// Kind opens jobs of one kind from their Spec.
type Kind func(spec json.RawMessage) (Task, error)

// Task is an open job. Its methods are safe for several goroutines.
type Task interface {
	// Units returns the number of units.
	Units() uint64

	// Compute returns the result of a piece, a pure function of the job and the piece: one JSON value in one line. It
	// ends soon after ctx is done.
	Compute(ctx context.Context, p Piece) ([]byte, error)

	// Join returns the result of two pieces, of which the second comes later. For adjacent pieces these are the bytes
	// that Compute returns for their union. So it is associative.
	Join(first, second []byte) ([]byte, error)
}

// Weighted is a Task whose units take different time.
type Weighted interface {
	Weight(p Piece) float64 // an estimate of the work, in any measure; positive
}

// Coarse is a Task whose units take so different time that a piece is small.
type Coarse interface {
	Most() uint64 // the largest number of units of a piece
}

// Ending is a Task that may end early.
type Ending interface {
	Ends(result []byte) bool // no unit after the piece with this result matters
}

// Growing is a Task of which only some units are needed, depending on results.
type Growing interface {
	// Needed returns the units that are needed as far as these results show. When they are computed, more may be.
	Needed(results [][]byte) ([]Piece, error)
}

// Picky is a Task with a Join that refuses pieces that do not follow each other.
type Picky interface {
	Check(p Piece, result []byte) error // refuses what is no result of the piece
}

// Runner computes the missing units of a job and gives the results to r. An error of Compute ends the run; of several
// errors it returns the one of the lowest units, which are all units before it. Progress may be nil.
type Runner interface {
	Run(ctx context.Context, j Job, t Task, r *Results, progress func(Progress)) error
}

// Complete runs a job until no unit is missing. A [Growing] task may take several runs.
func Complete(ctx context.Context, runner Runner, j Job, t Task, r *Results, progress func(Progress)) error {
	for {
		complete, err := r.Complete()
		if err != nil || complete {
			return err
		}
		if err := runner.Run(ctx, j, t, r, progress); err != nil {
			return err
		}
	}
}

// Progress is how far a job is.
type Progress struct {
	Done, Units uint64        // computed so far, by earlier runs too, and all that are needed
	Rate        float64       // units a second in this run
	Workers     int           // that compute at the moment
	Left        time.Duration // the estimated time for the rest; negative if it is unknown
}
