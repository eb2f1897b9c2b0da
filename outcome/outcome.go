// Package outcome is what comes of an election, whichever engine runs it: the simulator, real connections, or a closed
// form. What is special to an engine is in the results that embed it.
package outcome

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Outcome is who leads, and what that cost.
type Outcome struct {
	Prepared *network.Instance    // nil where only identifiers are known
	IDs      election.Arrangement // of the processes, by position; nil where Prepared is known
	network.Verdict

	Starters  int      // how many processes start by themselves
	Disturbed bool     // a process crashed or was suspected wrongly on the way, or links did what the algorithm does not expect
	Faults    []string // what processes did against their task; at most [MostFaults]

	Messages Messages
	ByPhase  []uint64 // election messages by phase; nil where there are no phases
	Lost     uint64   // messages that did not arrive; they are counted as sent
	Complete bool     // the election came to its end, and no limit was reached
}

// MostFaults is how many faults an outcome tells of.
const MostFaults = 10

// Fault notes what a process did against its task.
func (o *Outcome) Fault(text string) {
	if len(o.Faults) < MostFaults && !slices.Contains(o.Faults, text) {
		o.Faults = append(o.Faults, text)
	}
}

// AddPhase counts election messages of a phase.
func (o *Outcome) AddPhase(phase int, count uint64) {
	for len(o.ByPhase) <= phase {
		o.ByPhase = append(o.ByPhase, 0)
	}
	o.ByPhase[phase] += count
}

// Anonymous reports whether processes have no identifiers.
func (o *Outcome) Anonymous() bool { return o.Prepared != nil && o.Prepared.Anonymous() }

// Identifier is the identifier at a position; on an anonymous network the position itself.
func (o *Outcome) Identifier(position int) uint64 {
	switch {
	case o.Prepared == nil:
		return o.IDs.At(position)
	case o.Prepared.Anonymous():
		return uint64(position)
	}
	return o.Prepared.Real(position)
}
