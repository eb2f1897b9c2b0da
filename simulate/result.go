package simulate

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/trace"
)

// Result is what came of a run.
type Result struct {
	outcome.Outcome
	Decisions []network.Decision // by position; of the dead, what they had decided

	Timing election.Timing
	Delay  uint64        // of a timed run
	Script faults.Script // what went wrong: the faults that were given, and those that were drawn, as if given
	Missed []string      // those of them that had no occasion: crashes amid a step that never was, as lines

	Deliveries uint64         // steps that received a message
	Duplicated uint64         // messages that arrived twice; the second time is a delivery, and no message was sent for it
	Open       *Open          // under Burns' adversary; else nil
	Time       *outcome.Times // nil where there is no clock
	Bytes      int            // of state, decisions and queues
	Record     *trace.Record
}
