package steps

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// Watcher sees each step.
type Watcher interface {
	Before(p int, e process.Event)
	After(p int)
}

// Happens runs the step of the process at p for an event.
func (r *Core) Happens(p int, e process.Event) {
	if r.Checks || r.Watcher != nil {
		r.happensWatched(p, e)
		return
	}
	r.Effects = r.Processes.Step(r.Slot(p), p, e, r.Local(p))
}

// happensWatched is happens with checks of the step or with a watcher.
func (r *Core) happensWatched(p int, e process.Event) {
	if r.Watcher != nil {
		r.Watcher.Before(p, e)
	}
	var err error
	r.Acting = Acting{p, e, true}
	if r.Checks {
		r.Effects, err = r.Processes.Checked(r.Slot(p), p, e, r.Local(p))
	} else {
		r.Effects = r.Processes.Step(r.Slot(p), p, e, r.Local(p))
	}
	if r.Acting.Inside = false; err != nil {
		r.Breaks(process.BrokeContract, err.Error())
	}
	if r.Watcher != nil {
		r.Watcher.After(p)
	}
}

// Receives is happens for a message.
func (r *Core) Receives(p int, port election.Port, kind election.Kind, m process.Message) {
	if r.Checks || r.Watcher != nil {
		r.happensWatched(p, process.Event{What: process.Received, Port: port, Kind: kind, Message: m})
		return
	}
	r.Effects = r.Processes.Receive(r.Slot(p), p, port, kind, m, r.Local(p))
}

// Slot returns the slot of the state of the process at p.
func (r *Core) Slot(p int) int {
	if r.Slots == nil {
		return p
	}
	return r.Slots[p]
}

// Local returns the time on the clock of the process at p. Most clocks are right.
func (r *Core) Local(p int) election.Ticks {
	if r.Drifts != nil {
		return r.drifting(p)
	}
	return r.Now
}

func (r *Core) drifting(p int) election.Ticks {
	switch {
	case r.Lazy != nil:
		return r.Lazy.Deadlines(p, r.Now)
	case r.Drifts[p] == nil:
		return r.Now
	}
	return r.Drifts[p].Local(r.Now)
}

// Leaving returns the messages of the last step that leave.
func (r *Core) Leaving() []process.Sent { return r.Effects.Sent[:len(r.Effects.Sent)-r.Unsent] }

// Check ends the run if the step of the process at p used ports, kinds or timers that it does not have. It also
// checks the names of groups, which count even if the process crashes during the step.
func (r *Core) Check(p int) {
	if sent := r.Effects.Sent; len(sent) > 0 {
		ports, kinds := r.ports(p), election.Kind(len(r.Declaration.Kinds))
		for i := range sent {
			if s := &sent[i]; s.On()-r.Effects.First >= ports || s.Kind() >= kinds {
				r.refuse(p, s)
			}
		}
	}
	if other := r.Effects.Other; len(other) > 0 {
		r.checkOther(p, other)
	}
}

func (r *Core) checkOther(p int, other []election.Effect) {
	for _, e := range other {
		if (e.Op == election.SetTimer || e.Op == election.StopTimer) && int(e.Timer) >= len(r.Declaration.Timers) {
			r.Breaks(process.BrokeContract, fmt.Sprintf("uses timer %d; %d are declared", e.Timer, len(r.Declaration.Timers)))
		}
		if r.Groups != nil {
			r.group(p, e)
		}
	}
}

// ports returns the number of ports that the process at p may send on.
func (r *Core) ports(p int) uint32 {
	if r.Degree != 0 {
		return r.Degree
	}
	return uint32(r.Network.Degree(p))
}

// refuse ends the run because of a wrong message from the process at p.
func (r *Core) refuse(p int, s *process.Sent) {
	port, degree := s.On()-r.Effects.First, uint32(r.Network.Degree(p))
	switch {
	case port >= degree:
		r.Breaks(process.BrokeContract, fmt.Sprintf("sends on port %d; its ports are 0 to %d", port, int(degree)-1))
	case port >= r.ports(p):
		r.Breaks(process.BrokeContract, fmt.Sprintf("sends on port %d, and is declared to send on port 0 only", port))
	}
	r.Breaks(process.BrokeContract, fmt.Sprintf("sends a message of kind %d; %d are declared", s.Kind(), len(r.Declaration.Kinds)))
}

// Acting describes the current step.
type Acting struct {
	Process int
	Event   process.Event
	Inside  bool // the algorithm runs, and not the engine
}
