// Package outcome holds the result of an election, the same for every engine: the simulator, real connections, or a
// closed form. The results of an engine embed it and add what is special to that engine.
//
// This package is v0: its API may change with any version.
package outcome

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Outcome is the leader and the cost of an election.
type Outcome struct {
	Prepared *network.Instance    // nil if only identifiers are known
	IDs      election.Arrangement // of the processes, by position; nil if Prepared is set
	network.Verdict

	Starters  int      // the number of initiators
	Disturbed bool     // a process crashed or was suspected wrongly, or links behaved against the algorithm's assumptions
	Faults    []string // what processes did against their task; at most [MostFaults]

	Messages Messages
	ByPhase  []uint64 // election messages by phase; nil without phases
	Entered  []uint64 // how often each phase was begun, by the candidates that had survived the one before; nil without a record
	Lost     uint64   // messages that did not arrive; they are counted as sent
	Complete bool     // the election ended, and no limit was reached
}

// MostFaults is the maximum number of faults in an outcome.
const MostFaults = 10

// Fault records an action of a process against its task.
func (o *Outcome) Fault(text string) {
	if len(o.Faults) < MostFaults && !slices.Contains(o.Faults, text) {
		o.Faults = append(o.Faults, text)
	}
}

// Decide applies the decision of an effect of the process at a position, with its decision d so far, and records a
// fault if the task does not allow it. It reports whether the decision changed.
func (o *Outcome) Decide(d *network.Decision, position int, e election.Effect) (changed bool) {
	before, self := *d, election.ID(0)
	if e.Op == election.Lead {
		self = o.Prepared.ID(position)
	}
	if err := d.Apply(o.Prepared.Declaration().Task, e, self); err != nil {
		o.Fault(fmt.Sprintf("%s %v", o.Prepared.Name(position), err))
	}
	return *d != before
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

// Identifier returns the identifier at a position; on an anonymous network the position itself.
func (o *Outcome) Identifier(position int) uint64 {
	switch {
	case o.Prepared == nil:
		return o.IDs.At(position)
	case o.Prepared.Anonymous():
		return uint64(position)
	}
	return o.Prepared.Real(position)
}
