package reductions

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

// Unconfluent returns the premise of confluence that does not hold, or "". Two more are tested during the run: no step
// chooses, and none sets a timer.
func Unconfluent(o *model.Options, d *election.Declaration, eligible bool) string {
	switch {
	case d.Timing != election.Asynchronous:
		return "time passes"
	case !d.OneWay: // else it is declared on an oriented ring
		return "a process has several incoming links"
	case o.Unordered:
		return "links are not FIFO"
	case o.Starts != model.AllFirst || o.Initiators != nil:
		return "not all processes initiate before anything else"
	}
	return disturbed(d, o, eligible)
}

// disturbed returns why schedules may end differently on any network, or "".
func disturbed(d *election.Declaration, o *model.Options, eligible bool) string {
	switch {
	case o.Prefix != nil:
		return "the run has begun"
	case o.Crashes+o.Recoveries+o.Commands+o.Losses+o.Duplicates+o.Cuts+o.Suspicions > 0:
		return "there are faults or commands"
	case d.Task != election.Once:
		return "decisions are not for ever"
	case eligible:
		return "the right leader depends on states"
	}
	return ""
}

// Runner makes one schedule of each order, on processes that change in place. It does not judge: it separates the orders
// that are certainly all right from those that the search must judge.
type Runner struct {
	program *process.Program
	ps      *process.Processes
	Network *network.Instance
	queues  [][]letter // by process; each has one incoming link
	read    []int      // by process: how many letters of its queue it has read
	next    []int      // by process: to which one its messages go
	first   []uint32   // by process: its link to that one

	decisions []network.Decision
	Costs     [model.Costs]uint64
	runs      int // so far; the steps of the first ones are checked
	Steps     int
	odd       bool // something happened that the search must judge
}

// letter is a message on a link.
type letter struct {
	kind election.Kind
	body process.Message
}

// mostSteps is the number of steps of each process after which a run is left to the search.
const mostSteps = 1 << 16

// NewRunner returns a runner for an algorithm.
func NewRunner(program *process.Program) *Runner { return &Runner{program: program} }

// On prepares a run of a setup.
func (r *Runner) On(setup network.Setup) error {
	p, err := network.Prepare(r.program.Declaration, setup)
	if err != nil {
		return err
	}
	n := p.Size()
	r.Network, r.Steps, r.odd, r.Costs = p, 0, false, [model.Costs]uint64{}
	if r.ps == nil {
		r.ps = r.program.New(p, false, false)
		r.ps.Choices(func(uint32) uint32 { panic("a choice") }) // a constant value could keep a step from its end
		r.queues, r.read, r.next, r.first = make([][]letter, n), make([]int, n), make([]int, n), make([]uint32, n)
		for q := range n {
			r.first[q] = p.Network.First(q)
			r.next[q], _ = p.Network.End(r.first[q])
		}
		r.decisions = make([]network.Decision, n)
		return nil
	}
	r.ps.On(p)
	for q := range n {
		r.ps.Born(q, q)
		for _, unread := range r.queues[q][r.read[q]:] {
			r.ps.Release(unread.body)
		}
		r.queues[q], r.read[q], r.decisions[q] = r.queues[q][:0], 0, network.Decision{}
	}
	return nil
}

// Run makes a schedule to its end, and reports whether the setup is certainly all right.
func (r *Runner) Run(c election.ID) (right bool) {
	defer func() {
		if recover() != nil { // the search will tell what is wrong
			r.ps, right = nil, false
		}
	}()
	n := len(r.next)
	r.runs++
	for q := range n {
		r.take(q, r.step(q, process.Event{What: process.Started}))
	}
	for moved := true; moved && !r.odd; {
		moved = false
		for q := range n {
			_, at := r.Network.Network.End(r.first[(q+n-1)%n])
			for r.read[q] < len(r.queues[q]) && !r.odd {
				l := r.queues[q][r.read[q]]
				r.read[q]++
				moved = true
				r.take(q, r.step(q, process.Event{What: process.Received, Port: at, Kind: l.kind, Message: l.body}))
				r.ps.Release(l.body)
			}
			r.queues[q], r.read[q] = r.queues[q][:0], 0
		}
	}
	return !r.odd && r.agreed(c)
}

// checkedRuns is the number of runs whose steps are checked.
const checkedRuns = 64

// step makes a step. One that breaks the contract is odd.
func (r *Runner) step(q int, e process.Event) *process.Effects {
	if r.runs > checkedRuns {
		return r.ps.Step(q, q, e, election.Ticks{})
	}
	effects, err := r.ps.Checked(q, q, e, election.Ticks{})
	r.odd = r.odd || err != nil
	return effects
}

// take takes over the effects of a step.
func (r *Runner) take(q int, effects *process.Effects) {
	r.Steps++
	d := r.Network.Declaration()
	for i := range effects.Sent {
		s := &effects.Sent[i]
		if s.On() != r.first[q] {
			r.odd = true
			return
		}
		r.Costs[0]++
		switch d.Kinds[s.Kind()].Class {
		case election.Election:
			r.Costs[1]++
		case election.Announcement:
			r.Costs[2]++
		}
		to := r.next[q]
		r.queues[to] = append(r.queues[to], letter{s.Kind(), s.Message})
	}
	for _, e := range effects.Other {
		switch e.Op {
		case election.Lead, election.Follow, election.NoLeader:
			r.odd = r.odd || r.decisions[q].Apply(d.Task, e, r.Network.ID(q)) != nil
		default:
			r.odd = true
		}
	}
	r.odd = r.odd || r.Steps > mostSteps*len(r.next)
}

// agreed reports whether one process leads, the right one if any is, and all others follow it as declared.
func (r *Runner) agreed(right election.ID) bool {
	leader := -1
	for q, d := range r.decisions {
		switch {
		case d.Role == network.Leader && (leader >= 0 || right != 0 && r.Network.ID(q) != right):
			return false
		case d.Role == network.Leader:
			leader = q
		case d.Role == network.Undecided && r.Network.Declaration().Decides == election.EveryProcess:
			return false
		}
	}
	if leader < 0 {
		return false
	}
	for _, d := range r.decisions {
		if d.Leader != 0 && d.Leader != r.Network.ID(leader) {
			return false
		}
	}
	return true
}
