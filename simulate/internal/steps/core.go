package steps

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
)

// Core is what all engines have in common: the processes of a run, what their steps do, and what is counted, recorded and judged.
// An engine decides which event comes next.
type Core struct {
	Declaration *election.Declaration // with the parameters of the run
	Functions   election.Functions
	Instance    *network.Instance
	Network     *network.Network
	Processes   *process.Processes         // nil while an engine for large networks runs, because it has its own states and messages
	Slots       []int                      // by position: the slot of the state; nil: its own position
	Effects     *process.Effects           // of the last step
	Acting      Acting                     // … the process and event of that step, if steps are checked
	Checks      bool                       // each step is made twice, and the two are compared
	Breaks      func(property, how string) // ends the run: the last step broke the contract
	Watcher     Watcher                    // sees each step; nil in most runs

	Limit    uint64                       // of deliveries and timeouts
	Progress func(deliveries uint64) bool // called at intervals; false ends the run
	Steps    uint64                       // deliveries and timeouts
	Work     uint64                       // … with the messages that they sent, and the steps that an adversary has tried
	Look     uint64                       // the work after which progress may end the run

	Luck            *random.Source // of messages; nil if links neither lose nor duplicate
	Lose, Duplicate faults.Chance  // of messages
	Severed         []uint16       // by link: the number of cuts now; nil if the run has no cut
	fates           []Fate         // of the last step's messages, if links lose or duplicate messages
	Drifts          []*Drift       // by process: the drift of its clock; nil if all are right
	Lazy            *LazyClocks    // of a session in lazy time; else nil
	Now             election.Ticks
	Dead            []bool         // nil if no process ever is
	Degree          uint32         // the number of ports on which each process of a ring may send; 0 elsewhere
	Leases          *Leases        // nil unless declared
	Groups          map[Group]bool // groups formed so far; nil unless declared
	Unsent          int            // the number of messages of the last step that do not leave, because the process crashes amid it
	Sent            [16]uint64
	byPhase         [32]uint64 // of the first phases; the outcome holds the others

	Outcome    *outcome.Outcome
	Decisions  []network.Decision // by position
	Time       *outcome.Times     // nil without a clock
	Deliveries uint64             // steps that received a message
	Duplicated uint64             // messages that arrive twice
	Record     *Recorder          // nil unless steps are recorded
	Values     bool               // records have states and messages as values, too
	Recorded   int                // the size in bytes, about, at which a record ends the run; 0: none
}

// IsDead reports whether the process at p has crashed.
func (r *Core) IsDead(p int) bool { return r.Dead != nil && r.Dead[p] }

// looksUp is the work between calls of Progress, which may end the run. It is small, because a step can take long with large states.
const looksUp = 1 << 12

// MayContinue counts a step and reports whether there may be another.
func (r *Core) MayContinue() bool {
	r.Steps++
	r.Work++
	if r.Work >= r.Look || r.Steps > r.Limit {
		r.lookUp()
	}
	return r.Outcome.Complete
}

// lookUp ends the run if it is over its limit or Progress ends it, and sets the time of the next look.
func (r *Core) lookUp() {
	r.Look = r.Work + looksUp
	if r.Steps > r.Limit || r.Progress != nil && !r.Progress(r.Deliveries) {
		r.Outcome.Complete = false
	}
}

// Count counts a message as sent.
func (r *Core) Count(s *process.Sent) {
	r.Sent[s.Kind()]++
	r.Work++
	if s.Phase >= 0 {
		r.phase(int(s.Phase))
	}
}

// phase counts an election message of a phase.
func (r *Core) phase(phase int) {
	if phase < len(r.byPhase) {
		r.byPhase[phase]++
		return
	}
	r.Outcome.AddPhase(phase, 1)
}

// Decide applies a decision of the process at p.
func (r *Core) Decide(p int, e election.Effect) {
	if r.Leases != nil {
		r.lease(p, e)
	}
	if d := &r.Decisions[p]; r.Outcome.Decide(d, p, e) && r.Time != nil {
		r.Time.Decision(d.Role, r.Now)
	}
}

// Group is the name of a group; see [election.Groups].
type Group struct {
	leader election.ID
	term   election.Term
}

// group checks that no group is formed twice, and that no process follows in a group that was never formed.
func (r *Core) group(p int, e election.Effect) {
	switch g := (Group{e.ID, e.Term}); e.Op {
	case election.Lead:
		g.leader = r.Instance.ID(p)
		if r.Groups[g] {
			r.Outcome.Fault(fmt.Sprintf("%s leads in term %d again", r.Instance.Name(p), g.term))
		}
		r.Groups[g] = true
	case election.Follow:
		if !r.Groups[g] {
			r.Outcome.Fault(fmt.Sprintf("%s follows %d in term %d, in which that has not led", r.Instance.Name(p), r.Instance.RealOf(g.leader), g.term))
		}
	}
}

// FinishPhases adds the first phases to those beyond them.
func (r *Core) FinishPhases() {
	all := make([]uint64, max(len(r.Outcome.ByPhase), len(r.byPhase)))
	copy(all, r.Outcome.ByPhase)
	for phase, count := range r.byPhase {
		all[phase] += count
	}
	for len(all) > 0 && all[len(all)-1] == 0 {
		all = all[:len(all)-1]
	}
	r.Outcome.ByPhase = all
	if r.Record != nil {
		r.Outcome.Entered = r.Record.entered(len(all))
	}
}
