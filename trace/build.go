package trace

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// NewHeader returns the header of a run of an algorithm; the engine sets timing and schedule.
func NewHeader(d *election.Declaration, p *network.Instance) Header {
	h := Header{
		Format: Format, Algorithm: d.Name, Title: d.Title, Topology: d.Topology.String(), N: p.Size(), Edges: p.Edges(),
		Parameters: map[string]string{}, Changed: p.Parameters.Changed(),
	}
	for q := 0; q < p.Size() && !p.Anonymous(); q++ {
		h.IDs = append(h.IDs, p.Real(q))
	}
	for _, name := range p.Parameters.Names() {
		h.Parameters[name] = p.Parameters.Text(name)
	}
	for _, k := range d.Kinds {
		h.Kinds = append(h.Kinds, Kind{k.Name, k.Class.String()})
	}
	return h
}

// Add adds an effect that is not a message to the step of the process at a position.
func (s *Step) Add(e election.Effect, timers []string, p *network.Instance, position int) {
	switch e.Op {
	case election.SetTimer:
		s.Timers = append(s.Timers, Timer{Name: timers[e.Timer], After: &e.Ticks})
	case election.StopTimer:
		s.Timers = append(s.Timers, Timer{Name: timers[e.Timer]})
	case election.Lead:
		d := Decision{Role: network.Leader.String(), Term: uint64(e.Term)}
		if !p.Anonymous() {
			d.Leader = new(p.Real(position))
		}
		if e.Deadline {
			d.Lease = &e.Ticks
		}
		s.Decided = append(s.Decided, d)
	case election.Follow:
		d := Decision{Role: network.Follower.String(), Term: uint64(e.Term)}
		if e.ID != 0 {
			d.Leader = new(p.RealOf(e.ID))
		}
		s.Decided = append(s.Decided, d)
	case election.NoLeader:
		s.Decided = append(s.Decided, Decision{Role: network.Undecided.String()})
	}
}
