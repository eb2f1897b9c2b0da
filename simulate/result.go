package simulate

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/trace"
)

// Result is the result of a run.
type Result struct {
	outcome.Outcome
	Decisions []network.Decision // by position; of a dead process, its last decision

	Timing election.Timing
	Delay  uint64        // of a timed run
	Script faults.Script // the given faults, and the drawn ones as if given
	Missed []string      // the faults that could not happen: crashes during a step that never came, as lines

	Random     bool           // a step has made a random choice
	Deliveries uint64         // steps that received a message
	Duplicated uint64         // messages that arrived twice; the second arrival is a delivery, but not a sent message
	Open       *Open          // under Burns' adversary; else nil
	Time       *outcome.Times // nil without a clock
	Bytes      int            // of state, decisions and queues
	Record     *trace.Record
}
