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
	Decisions []network.Decision // by position; for crashed processes, their last decision

	Timing election.Timing
	Delay  uint64        // of a timed run
	Script faults.Script // the faults of the run, both given and drawn
	Missed []string      // faults that did not occur: crashes amid a step that was never made, as lines

	Deliveries uint64         // steps that received a message
	Duplicated uint64         // messages that arrived twice; the second arrival is a delivery, but not a sent message
	Open       *Open          // under Burns' adversary; else nil
	Time       *outcome.Times // nil where there is no clock
	Bytes      int            // of state, decisions and queues
	Record     *trace.Record
}
