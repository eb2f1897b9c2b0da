package simulate

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// leases records, in the time of the run, the processes that may work as the leader. No two may do so at the same time, and the
// terms of successive leaders increase.
type leases struct {
	held    []held // by position: of the current life
	orphans []held // of ended lives: their work counts until its lease ends
	last    election.Term
	leader  int // the position of the leader in the last term, present or former
}

// held is a lease.
type held struct {
	process int
	term    election.Term
	until   election.Ticks
}

func newLeases(n int) *leases {
	l := &leases{held: make([]held, n), leader: -1}
	for p := range l.held {
		l.held[p].process = p
	}
	return l
}

// clone returns a deep copy.
func (l *leases) clone() *leases {
	c := *l
	c.held, c.orphans = slices.Clone(l.held), slices.Clone(l.orphans)
	return &c
}

// lease applies a decision of the process at p: it is leader until a time, or no longer.
func (r *run) lease(p int, e election.Effect) {
	l := r.leases
	if e.Op != election.Lead {
		l.held[p] = held{process: p}
		return
	}
	if !e.Deadline {
		r.result.Fault(r.p.Name(p) + " leads without a lease, which it declares")
	}
	until := r.now.Add(e.Ticks)
	if r.drifts != nil && r.drifts[p] != nil {
		until = r.drifts[p].real(r.local(p).Add(e.Ticks))
	}
	r.tenure(p, e.Term)
	l.held[p] = held{p, e.Term, until}
	if !r.now.Less(until) {
		return
	}
	for _, other := range slices.Concat(l.held, l.orphans) {
		if other != l.held[p] && r.now.Less(other.until) {
			r.result.Fault(fmt.Sprintf("%s leads while the lease of %s runs", r.p.Name(p), r.p.Name(other.process)))
		}
	}
}

// tenure judges the term in which the process at p leads: its own, if that lease still runs, or one above all earlier
// terms.
func (r *run) tenure(p int, term election.Term) {
	l, own := r.leases, r.leases.held[p]
	switch {
	case term == 0:
		return // it has no terms
	case own.term == term && r.now.Less(own.until):
		return
	case own.term == term:
		r.result.Fault(fmt.Sprintf("%s leads in term %d again, whose lease had ended", r.p.Name(p), term))
	case term <= l.last:
		r.result.Fault(fmt.Sprintf("%s leads in term %d, and %s has led in term %d", r.p.Name(p), term, r.p.Name(l.leader), l.last))
	}
	l.last, l.leader = max(l.last, term), p
}

// orphan ends the life of the process at p. Its work counts until its lease ends, unless it is known to have stopped as well.
func (r *run) orphan(p int, idle bool) {
	if r.leases == nil {
		return
	}
	if own := r.leases.held[p]; !idle && r.now.Less(own.until) {
		r.leases.orphans = append(r.leases.orphans, own)
	}
	r.leases.held[p] = held{process: p}
}

// endLeases ends the leadership of processes with expired leases.
func (r *run) endLeases() {
	if r.leases == nil {
		return
	}
	for p := range r.leases.held {
		if r.result.Decisions[p].Role == network.Leader && !r.now.Less(r.leases.held[p].until) {
			r.result.Decisions[p] = network.Decision{}
		}
	}
}
