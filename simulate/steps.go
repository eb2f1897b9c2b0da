package simulate

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
)

// core is what all engines have in common: the processes of a run, what their steps do, and what is counted, recorded and judged.
// An engine decides which event comes next.
type core struct {
	d       *election.Declaration // with the parameters of the run
	has     election.Functions
	p       *network.Instance
	net     *network.Network
	ps      *process.Processes         // nil while an engine for large networks runs, because it has its own states and messages
	slots   []int                      // by position: the slot of the state; nil: its own position
	step    *process.Effects           // of the last step
	acting  acting                     // … the process and event of that step, if steps are checked
	checks  bool                       // each step is made twice, and the two are compared
	breaks  func(property, how string) // ends the run: the last step broke the contract
	watcher watcher                    // sees each step; nil in most runs

	limit    uint64                       // of deliveries and timeouts
	progress func(deliveries uint64) bool // called at intervals; false ends the run
	steps    uint64                       // deliveries and timeouts
	look     uint64                       // the number of the step at which progress may end the run

	luck            *random.Source // of messages; nil if links neither lose nor duplicate
	lose, duplicate faults.Chance  // of messages
	severed         []uint16       // by link: the number of cuts now; nil if the run has no cut
	fates           []fate         // of the last step's messages, if links lose or duplicate messages
	drifts          []*drift       // by process: the drift of its clock; nil if all are right
	lazy            *lazyClocks    // of a session in lazy time; else nil
	now             election.Ticks
	dead            []bool         // nil if no process ever is
	degree          uint32         // the number of ports on which each process of a ring may send; 0 elsewhere
	leases          *leases        // nil unless declared
	groups          map[group]bool // groups formed so far; nil unless declared
	unsent          int            // the number of messages of the last step that do not leave, because the process crashes amid it
	sent            [16]uint64
	byPhase         [32]uint64 // of the first phases; the outcome holds the others

	outcome    *outcome.Outcome
	decisions  []network.Decision // by position
	time       *outcome.Times     // nil without a clock
	deliveries uint64             // steps that received a message
	duplicated uint64             // messages that arrive twice
	record     *recorder          // nil unless steps are recorded
	values     bool               // records have states and messages as values, too
	recorded   int                // the size in bytes, about, at which a record ends the run; 0: none
}

func (r *core) isDead(p int) bool { return r.dead != nil && r.dead[p] }

// looksUp is the number of steps between calls of Progress, which may end the run. It is small, because a step can
// take long with large states.
const looksUp = 1 << 12

// mayContinue counts a step and reports whether there may be another.
func (r *core) mayContinue() bool {
	r.steps++
	if r.steps >= r.look {
		r.lookUp()
	}
	return r.outcome.Complete
}

// lookUp ends the run if it is over its limit or Progress ends it, and sets the step of the next look.
func (r *core) lookUp() {
	if r.look = (r.steps/looksUp + 1) * looksUp; r.limit < r.look {
		r.look = r.limit + 1
	}
	if r.steps > r.limit ||
		r.progress != nil && r.steps%looksUp == 0 && !r.progress(r.deliveries) {
		r.outcome.Complete = false
	}
}

// count counts a message as sent.
func (r *core) count(s *process.Sent) {
	r.sent[s.Kind()]++
	if s.Phase >= 0 {
		r.phase(int(s.Phase))
	}
}

// phase counts an election message of a phase.
func (r *core) phase(phase int) {
	if phase < len(r.byPhase) {
		r.byPhase[phase]++
		return
	}
	r.outcome.AddPhase(phase, 1)
}

// decide applies a decision of the process at p.
func (r *core) decide(p int, e election.Effect) {
	if r.leases != nil {
		r.lease(p, e)
	}
	if d := &r.decisions[p]; r.outcome.Decide(d, p, e) && r.time != nil {
		r.time.Decision(d.Role, r.now)
	}
}

// group is the name of a group; see [election.Groups].
type group struct {
	leader election.ID
	term   election.Term
}

// group checks that no group is formed twice, and that no process follows in a group that was never formed.
func (r *core) group(p int, e election.Effect) {
	switch g := (group{e.ID, e.Term}); e.Op {
	case election.Lead:
		g.leader = r.p.ID(p)
		if r.groups[g] {
			r.outcome.Fault(fmt.Sprintf("%s leads in term %d again", r.p.Name(p), g.term))
		}
		r.groups[g] = true
	case election.Follow:
		if !r.groups[g] {
			r.outcome.Fault(fmt.Sprintf("%s follows %d in term %d, in which that has not led", r.p.Name(p), r.p.RealOf(g.leader), g.term))
		}
	}
}

// finishPhases adds the first phases to those beyond them.
func (r *core) finishPhases() {
	all := make([]uint64, max(len(r.outcome.ByPhase), len(r.byPhase)))
	copy(all, r.outcome.ByPhase)
	for phase, count := range r.byPhase {
		all[phase] += count
	}
	for len(all) > 0 && all[len(all)-1] == 0 {
		all = all[:len(all)-1]
	}
	r.outcome.ByPhase = all
	if r.record != nil {
		r.outcome.Entered = r.record.entered(len(all))
	}
}
