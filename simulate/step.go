package simulate

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// watcher sees each step.
type watcher interface {
	before(p int, e process.Event)
	after(p int)
}

// happens runs the step of the process at p for an event.
func (r *core) happens(p int, e process.Event) {
	if r.checks || r.watcher != nil {
		r.happensWatched(p, e)
		return
	}
	r.step = r.ps.Step(r.slot(p), p, e, r.local(p))
}

// happensWatched is happens with checks of the step or with a watcher.
func (r *core) happensWatched(p int, e process.Event) {
	if r.watcher != nil {
		r.watcher.before(p, e)
	}
	var err error
	r.acting = acting{p, e, true}
	if r.checks {
		r.step, err = r.ps.Checked(r.slot(p), p, e, r.local(p))
	} else {
		r.step = r.ps.Step(r.slot(p), p, e, r.local(p))
	}
	if r.acting.inside = false; err != nil {
		r.breaks(process.BrokeContract, err.Error())
	}
	if r.watcher != nil {
		r.watcher.after(p)
	}
}

// receives is happens for a message.
func (r *core) receives(p int, port election.Port, kind election.Kind, m process.Message) {
	if r.checks || r.watcher != nil {
		r.happensWatched(p, process.Event{What: process.Received, Port: port, Kind: kind, Message: m})
		return
	}
	r.step = r.ps.Receive(r.slot(p), p, port, kind, m, r.local(p))
}

// slot returns the slot of the state of the process at p.
func (r *core) slot(p int) int {
	if r.slots == nil {
		return p
	}
	return r.slots[p]
}

// local returns the time on the clock of the process at p. Most clocks are right.
func (r *core) local(p int) election.Ticks {
	if r.drifts != nil {
		return r.drifting(p)
	}
	return r.now
}

func (r *core) drifting(p int) election.Ticks {
	switch {
	case r.lazy != nil:
		return r.lazy.deadlines(p, r.now)
	case r.drifts[p] == nil:
		return r.now
	}
	return r.drifts[p].local(r.now)
}

// leaving returns the messages of the last step that leave.
func (r *core) leaving() []process.Sent { return r.step.Sent[:len(r.step.Sent)-r.unsent] }

// check ends the run if the step of the process at p used ports, kinds or timers that it does not have. It also
// checks the names of groups, which count even if the process crashes during the step.
func (r *core) check(p int) {
	if sent := r.step.Sent; len(sent) > 0 {
		ports, kinds := r.ports(p), election.Kind(len(r.d.Kinds))
		for i := range sent {
			if s := &sent[i]; s.On()-r.step.First >= ports || s.Kind() >= kinds {
				r.refuse(p, s)
			}
		}
	}
	if other := r.step.Other; len(other) > 0 {
		r.checkOther(p, other)
	}
}

func (r *core) checkOther(p int, other []election.Effect) {
	for _, e := range other {
		if (e.Op == election.SetTimer || e.Op == election.StopTimer) && int(e.Timer) >= len(r.d.Timers) {
			r.breaks(process.BrokeContract, fmt.Sprintf("uses timer %d; %d are declared", e.Timer, len(r.d.Timers)))
		}
		if r.groups != nil {
			r.group(p, e)
		}
	}
}

// ports returns the number of ports that the process at p may send on.
func (r *core) ports(p int) uint32 {
	if r.degree != 0 {
		return r.degree
	}
	return uint32(r.net.Degree(p))
}

// refuse ends the run because of a wrong message from the process at p.
func (r *core) refuse(p int, s *process.Sent) {
	port, degree := s.On()-r.step.First, uint32(r.net.Degree(p))
	switch {
	case port >= degree:
		r.breaks(process.BrokeContract, fmt.Sprintf("sends on port %d; its ports are 0 to %d", port, int(degree)-1))
	case port >= r.ports(p):
		r.breaks(process.BrokeContract, fmt.Sprintf("sends on port %d, and is declared to send on port 0 only", port))
	}
	r.breaks(process.BrokeContract, fmt.Sprintf("sends a message of kind %d; %d are declared", s.Kind(), len(r.d.Kinds)))
}

// acting describes the current step.
type acting struct {
	process int
	event   process.Event
	inside  bool // the algorithm runs, and not the engine
}
