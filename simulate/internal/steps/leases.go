package steps

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// Leases records, in the time of the run, the processes that may work as the leader. No two may do so at the same time, the
// terms of successive leaders increase, and no process begins to lead before its earlier work has stopped. Package verify judges
// the same, so that both agree on each run.
type Leases struct {
	held    []held // by position: of the current life
	orphans []held // of ended lives: their work counts until its lease ends
	last    election.Term
	leader  int // the position of the leader in the last term, present or former
	led     []tenure
}

// tenure is a term in which a process has led.
type tenure struct {
	process int
	term    election.Term
}

// held is a lease.
type held struct {
	process  int
	term     election.Term
	until    election.Ticks // in the time of the run; in lazy time by the process's clock of deadlines
	ended    bool           // the process no longer leads, but its work counts until it has stopped
	stopping bool           // its host is to stop its work, and has not
	idle     bool           // its host has stopped its work; the process has not ended its lead yet
}

// NewLeases returns the leases of n processes, none of which runs.
func NewLeases(n int) *Leases {
	l := &Leases{held: make([]held, n), leader: -1}
	for p := range l.held {
		l.held[p].process = p
	}
	return l
}

// resume sets what a process has decided, and for how long its work counts, at the moment in which the run begins.
func (l *Leases) resume(p int, now *trace.Standing) {
	h := held{process: p, term: now.Term, until: now.Lease, stopping: now.Stopping, ended: now.Role != network.Leader}
	switch {
	case now.Crashed && !now.Lease.IsZero():
		l.orphans = append(l.orphans, h)
	case !now.Crashed && (now.Role == network.Leader || now.Stopping):
		l.held[p] = h
	}
	if now.Role == network.Leader && now.Term > l.last {
		l.last, l.leader = now.Term, p
		l.led = append(l.led, tenure{p, now.Term})
	}
}

// leaseLeft returns for how long the work of the process at p counts as done under a lease, that of its ended lives too.
func (r *Core) leaseLeft(p int) (left election.Ticks) {
	now := r.leaseTime(p)
	for _, h := range append(slices.Clone(r.Leases.orphans), r.Leases.held[p]) {
		if h.process == p && now.Less(h.until) && left.Less(h.until.Sub(now)) {
			left = h.until.Sub(now)
		}
	}
	return left
}

// Clone returns a deep copy.
func (l *Leases) Clone() *Leases {
	c := *l
	c.held, c.orphans, c.led = slices.Clone(l.held), slices.Clone(l.orphans), slices.Clip(l.led)
	return &c
}

// lease applies a decision of the process at p: it is leader until a time, or no longer.
func (r *Core) lease(p int, e election.Effect) {
	l := r.Leases
	if e.Op != election.Lead {
		l.held[p].ended = true
		return
	}
	if !e.Deadline {
		r.Outcome.Fault(r.Instance.Name(p) + " leads without a lease, which it declares")
	}
	until := r.leaseTime(p).Add(e.Ticks)
	if r.Drifts != nil && r.Drifts[p] != nil {
		until = r.Drifts[p].Real(r.Local(p).Add(e.Ticks))
	}
	r.tenure(p, e.Term)
	l.held[p] = held{process: p, term: e.Term, until: until, stopping: l.held[p].stopping}
	if !r.runs(&l.held[p]) {
		return
	}
	for _, other := range slices.Concat(l.held, l.orphans) {
		if other != l.held[p] && r.runs(&other) {
			r.Outcome.Fault(fmt.Sprintf("%s leads while the lease of %s runs", r.Instance.Name(p), r.Instance.Name(other.process)))
		}
	}
}

// leaseTime returns the time in which the leases of the process at p are kept.
func (r *Core) leaseTime(p int) election.Ticks {
	if r.Lazy != nil {
		return r.Lazy.Deadlines(p, r.Now)
	}
	return r.Now
}

// runs reports whether a lease has not ended yet.
func (r *Core) runs(h *held) bool { return r.leaseTime(h.process).Less(h.until) }

// Settle ends, after a step of the process at p, a lease that it gave up, unless its host has to stop work first.
func (r *Core) Settle(p int) {
	if r.Leases == nil {
		return
	}
	if own := &r.Leases.held[p]; own.ended && !own.stopping {
		*own = held{process: p}
	}
}

// Stops notes whether the host of the process at p is to stop its work, or has stopped it.
func (r *Core) Stops(p int, stopping bool) {
	if r.Leases != nil {
		r.Leases.held[p].stopping, r.Leases.held[p].idle = stopping, !stopping
		if !stopping {
			r.Settle(p)
		}
	}
}

// tenure judges the term in which the process at p leads: its own, if that lease still runs, or one above all earlier
// terms.
func (r *Core) tenure(p int, term election.Term) {
	l, own := r.Leases, r.Leases.held[p]
	continues := own.term == term && !own.ended && r.runs(&own)
	switch {
	case term == 0, continues && term == l.last: // without terms there is nothing to judge
		return
	case own.stopping && !continues:
		r.Outcome.Fault(fmt.Sprintf("%s leads in term %d before its host has stopped its earlier work", r.Instance.Name(p), term))
	case !continues && term <= l.last && slices.Contains(l.led, tenure{p, term}):
		r.Outcome.Fault(fmt.Sprintf("%s leads in term %d again, whose lease had ended", r.Instance.Name(p), term))
	case term <= l.last:
		r.Outcome.Fault(fmt.Sprintf("%s leads in term %d, and %s has led in term %d", r.Instance.Name(p), term, r.Instance.Name(l.leader), l.last))
	}
	l.last, l.leader = max(l.last, term), p
	l.led = append(l.led, tenure{p, term})
}

// Orphan ends the life of the process at p. Its work counts until its lease ends, unless it is known to have stopped as well:
// a process may crash amid the step in which it learns that.
func (r *Core) Orphan(p int, idle bool) {
	if r.Leases == nil {
		return
	}
	if own := r.Leases.held[p]; !idle && !own.idle && r.runs(&own) {
		r.Leases.orphans = append(r.Leases.orphans, own)
	}
	r.Leases.held[p] = held{process: p}
}

// EndLeases ends the leadership of processes with expired leases.
func (r *Core) EndLeases() {
	if r.Leases == nil {
		return
	}
	for p := range r.Leases.held {
		if r.Decisions[p].Role == network.Leader && !r.runs(&r.Leases.held[p]) {
			r.Decisions[p] = network.Decision{}
		}
	}
}
