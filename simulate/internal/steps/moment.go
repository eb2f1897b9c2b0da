package steps

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/trace"
)

// Launched is a message that is under way when a run begins.
type Launched struct {
	Link    uint32 // as in [process.Sent]
	Message process.Message
	Number  uint32 // in the record
}

// Resume gives the processes the states of a moment, and what they have decided, and begins the record. It returns the messages under way, in order.
func (r *Core) Resume(m *trace.Moment) ([]Launched, error) {
	for q := range m.Processes {
		now := &m.Processes[q]
		r.Instance.Incarnate(q, now.Life)
		if len(now.State) == 0 {
			r.Processes.Born(r.Slot(q), q)
		} else if err := r.Processes.Resume(r.Slot(q), q, now.State, election.Ticks{}); err != nil {
			return nil, fmt.Errorf("the state of %s: %w", r.Instance.Name(q), err)
		}
		if now.Crashed {
			r.Processes.Reborn(r.Slot(q), q)
		}
		r.Dead[q], r.Decisions[q] = now.Crashed, now.Decision()
		if r.Leases != nil {
			r.Leases.resume(q, now)
		}
	}
	return r.launch(m)
}

// launch sends the messages under way, and begins the record.
func (r *Core) launch(m *trace.Moment) ([]Launched, error) {
	all, texts := make([]Launched, len(m.UnderWay)), make([]string, len(m.UnderWay))
	for i := range m.UnderWay {
		f := &m.UnderWay[i]
		held, err := r.Processes.Decode(f.Content)
		if err != nil {
			return nil, fmt.Errorf("a message under way: %w", err)
		}
		texts[i] = r.Processes.Contents(f.Kind, held)
		all[i] = Launched{Link: (r.Network.First(f.From)+uint32(f.Port))<<4 | uint32(f.Kind), Message: held}
	}
	for _, step := range m.Steps(r.Declaration, r.Instance, r.StateText, func(i int) string { return texts[i] }) {
		next := 0 // among those of this process
		for _, sent := range step.Sent {
			for m.UnderWay[next].From != step.Process {
				next++
			}
			all[next].Number = uint32(sent.Message)
			next++
			r.Record.Sent = append(r.Record.Sent, Sender{Process: step.Process, Kind: sent.Kind, phase: -1, Text: sent.Text})
		}
		r.Record.add(step)
	}
	return all, nil
}

// Standing returns how the process at p stands, without what only the engine knows.
func (r *Core) Standing(p int) trace.Standing {
	d := r.Decisions[p]
	s := trace.Standing{
		State: r.Processes.Encoding(r.Slot(p), r.Local(p)), Life: r.Instance.Local(p).Incarnation, Crashed: r.Dead[p], Role: d.Role, Leader: d.Leader, Term: d.Term,
	}
	if r.Leases != nil {
		s.Lease = r.leaseLeft(p)
	}
	return s
}
