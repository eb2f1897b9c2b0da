package simulate

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// Result is what came of a run.
type Result struct {
	Timing    election.Timing
	Delay     uint64 // of a timed run
	Prepared  *election.Prepared
	Decisions []election.Decision // by position; of the dead, what they had decided
	election.Verdict

	Starters int  // how many start by themselves
	Hurt     bool // a process crashed or was suspected wrongly on the way, or links did what the algorithm does not expect

	Script Faults   // what went wrong: the faults that were given, and those that were drawn, as if given
	Missed []string // those of them that had no occasion: crashes amid a step that never was, as lines
	Faults []string // what processes did against their task; at most 10

	Messages   election.Messages
	ByPhase    []uint64 // election messages by phase; nil where there are no phases
	Deliveries uint64   // steps that received a message
	Lost       uint64   // messages that links lost; they are counted as sent
	Duplicated uint64   // messages that arrived twice; the second time is a delivery, and no message was sent for it
	Open       *Open    // under Burns' adversary; else nil
	Time       *Times   // nil where there is no clock
	Complete   bool     // the run came to its end, and no limit was reached
	Bytes      int      // of state, decisions and queues
	Record     *trace.Record
}

// Times are the moments of a run, in units of delay; with random delays in ticks, of which a message takes
// LeastDelay to LongestDelay.
type Times struct {
	Elected election.Ticks // the last time that a process became leader
	Decided election.Ticks // the last time that a decision changed
	Quiet   election.Ticks // when the last message arrived
}

func later(t, u election.Ticks) election.Ticks {
	if t.Less(u) {
		return u
	}
	return t
}

func (r *Result) fault(text string) {
	if len(r.Faults) < 10 && !slices.Contains(r.Faults, text) {
		r.Faults = append(r.Faults, text)
	}
}
