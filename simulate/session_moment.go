package simulate

import (
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate/internal/queues"
	"ringleader.example/ringleader/trace"
)

// ErrMoment reports that a run cannot begin at a moment.
var ErrMoment = errors.New("no run can begin there")

// resume lets a session begin at a moment.
func (s *Session) resume(m *trace.Moment) error {
	r := s.run
	if err := m.Check(r.Declaration, r.Instance, r.runner.program.Schema()); err != nil {
		return fmt.Errorf("%w: %w", ErrMoment, err)
	}
	s.recorded, r.result.Disturbed = true, true
	for q := range m.Processes {
		now := &m.Processes[q]
		r.Instance.Incarnate(q, now.Life)
		if len(now.State) == 0 {
			r.Processes.Born(r.Slots[q], q)
		} else if err := r.Processes.Resume(r.Slots[q], q, now.State, election.Ticks{}); err != nil {
			return fmt.Errorf("%w: the state of %s: %w", ErrMoment, r.Instance.Name(q), err)
		}
		if now.Crashed {
			r.Processes.Reborn(r.Slots[q], q)
		}
		r.Dead[q], s.asleep[q], s.working[q], r.Decisions[q] = now.Crashed, now.Asleep, now.Stopping, now.Decision()
		for _, port := range now.Suspects {
			s.suspect[r.Network.First(q)+uint32(port)] = true
		}
		for _, a := range now.Alarms {
			s.alarms[q*len(r.Declaration.Timers)+int(a.Timer)] = alarm{true, a.Left, a.Deadline}
		}
		if r.Leases != nil {
			r.Leases.Resume(q, now.Decision(), now.Lease, now.Stopping, now.Crashed)
		}
	}
	for _, d := range m.Proofs {
		s.proofs = append(s.proofs, election.Command{Order: election.Died, Member: d.Member, Number: d.Number})
	}
	return s.launch(m)
}

// launch sends the messages under way, and begins the record.
func (s *Session) launch(m *trace.Moment) error {
	r, texts := s.run, make([]string, len(m.UnderWay))
	for i := range m.UnderWay {
		f := &m.UnderWay[i]
		held, err := r.Processes.Decode(f.Content)
		if err != nil {
			return fmt.Errorf("%w: a message under way: %w", ErrMoment, err)
		}
		texts[i] = r.Processes.Contents(f.Kind, held)
		link := r.Network.First(f.From) + uint32(f.Port)
		s.queues[link] = append(s.queues[link], parcel{Letter: queues.Letter{Link: link<<4 | uint32(f.Kind), Message: held}})
	}
	text := func(i int) string { return texts[i] }
	for _, step := range m.Steps(r.Declaration, r.Instance, r.StateText, text) {
		r.Record.Begin(step)
		placed := map[int]int{} // by port
		for _, sent := range step.Sent {
			queue := s.queues[r.Network.First(step.Process)+uint32(sent.Port)]
			queue[placed[sent.Port]].number = uint32(sent.Message)
			placed[sent.Port]++
		}
	}
	return nil
}

// Moment returns where the run has come to, for another session or package verify. Cuts are not a part of it.
func (s *Session) Moment() *trace.Moment {
	r := s.run
	m := &trace.Moment{Schema: r.runner.program.Schema()}
	for q := range r.Instance.Size() {
		d := r.Decisions[q]
		now := trace.Standing{
			State: s.Encoding(q), Crashed: r.Dead[q], Asleep: s.asleep[q], Stopping: s.working[q], Life: r.Instance.Local(q).Incarnation, Role: d.Role, Leader: d.Leader, Term: d.Term,
		}
		if r.Leases != nil {
			now.Lease = r.LeaseLeft(q)
		}
		for port := range r.Network.Degree(q) {
			if s.suspect[r.Network.First(q)+uint32(port)] {
				now.Suspects = append(now.Suspects, port)
			}
		}
		for t := range r.Declaration.Timers {
			if a := s.alarms[q*len(r.Declaration.Timers)+t]; a.runs && a.at != election.Forever {
				due := trace.Alarm{Timer: election.Timer(t), Deadline: a.deadline}
				if clock := s.clock(q, a.deadline); clock.Less(a.at) {
					due.Left = a.at.Sub(clock)
				}
				now.Alarms = append(now.Alarms, due)
			}
		}
		m.Processes = append(m.Processes, now)
	}
	for link, queue := range s.queues {
		for _, p := range queue {
			from := r.Network.Owner(uint32(link))
			port := link - int(r.Network.First(from))
			m.UnderWay = append(m.UnderWay, trace.Flight{From: from, Port: port, Kind: p.Kind(), Content: r.Processes.AppendMessage(nil, p.Message)})
		}
	}
	for _, c := range s.proofs {
		m.Proofs = append(m.Proofs, trace.Death{Member: c.Member, Number: c.Number})
	}
	return m
}

// Encoding returns the state of the process at a position, as [trace.Standing] has it.
func (s *Session) Encoding(position int) []byte {
	return s.run.Processes.Encoding(s.run.Slots[position], s.run.Local(position))
}

// Clock returns what the clock of deadlines of the process at a position shows.
func (s *Session) Clock(position int) election.Ticks { return s.run.Local(position) }

// gains reports whether a choice lets clocks gain.
func (s *Session) gains(c Choice) bool {
	return s.run.Lazy != nil && c.Process >= 0 && c.Process < s.run.Instance.Size() && !c.Time.IsZero() && c == Choice{What: Gain, Process: c.Process, Time: c.Time}
}

// distrusts reports whether a choice is a suspicion, which a real failure detector may repeat.
func (s *Session) distrusts(c Choice) bool {
	net := s.run.Network
	if int(c.Link) >= net.Links() || s.run.Dead[net.Owner(c.Link)] || !s.run.Functions.Suspect {
		return false
	}
	q, _ := net.End(c.Link)
	return q != net.Owner(c.Link) && c == Choice{What: Distrust, Process: net.Owner(c.Link), Link: c.Link}
}

// asks reports whether a choice is a command of a kind that only recorded runs have.
func (s *Session) asks(c Choice) bool {
	p := c.Process
	return p >= 0 && p < s.run.Instance.Size() && !s.run.Dead[p] && s.run.Functions.Command && c == Choice{What: Ask, Process: p, Command: c.Command} &&
		slices.Contains([]election.Order{election.Confirm, election.Enlist, election.Dismiss, election.Transfer}, c.Command.Order)
}
