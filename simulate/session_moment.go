package simulate

import (
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/simulate/internal/queues"
	"ringleader.example/ringleader/simulate/internal/steps"
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
	launched, err := r.Resume(m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMoment, err)
	}
	for _, l := range launched {
		p := parcel{Letter: queues.Letter{Link: l.Link, Message: l.Message}, number: l.Number}
		s.queues[p.On()] = append(s.queues[p.On()], p)
	}
	for q := range m.Processes {
		now := &m.Processes[q]
		s.asleep[q], s.working[q] = now.Asleep, now.Stopping
		for _, port := range now.Suspects {
			s.suspect[r.Network.First(q)+uint32(port)] = true
		}
		for _, a := range now.Alarms {
			s.alarms[q*len(r.Declaration.Timers)+int(a.Timer)] = alarm{true, a.Left, a.Deadline}
		}
	}
	for _, d := range m.Proofs {
		s.proofs = append(s.proofs, election.Command{Order: election.Died, Member: d.Member, Number: d.Number})
	}
	return nil
}

// Moment returns where the run has come to, for another session or package verify. Cuts are not a part of it.
func (s *Session) Moment() *trace.Moment {
	r := s.run
	m := &trace.Moment{Schema: r.runner.program.Schema()}
	for q := range r.Instance.Size() {
		now := r.Standing(q)
		now.Asleep, now.Stopping = s.asleep[q], s.working[q]
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

// events reports whether a choice is one that only recorded runs have: clocks gain, a failure detector repeats a suspicion, or a host gives any command.
func (s *Session) events(c Choice) bool {
	p, net := c.Process, s.run.Network
	if p < 0 || p >= s.run.Instance.Size() {
		return false
	}
	switch c.What {
	case Gain:
		return s.run.Lazy != nil && !c.Time.IsZero() && c == Choice{What: Gain, Process: p, Time: c.Time}
	case Distrust:
		first := net.First(p)
		if c.Link < first || c.Link-first >= uint32(net.Degree(p)) {
			return false
		}
		q, _ := net.End(c.Link)
		return q != p && !s.run.Dead[p] && s.run.Functions.Suspect && c == Choice{What: Distrust, Process: p, Link: c.Link}
	case Ask:
		orders := []election.Order{election.Confirm, election.Enlist, election.Dismiss, election.Transfer}
		return !s.run.Dead[p] && s.run.Functions.Command && slices.Contains(orders, c.Command.Order) && c == Choice{What: Ask, Process: p, Command: c.Command}
	}
	return false
}

// Lazy time, as in package verify: no event is urgent. A message takes any time, a timer is late by any time, and time passes at any
// moment. Each process has two clocks: the timers of all run fast, and the deadlines, with the leases that end by them, slow. A
// deadline may come a step early, at any moment.

// maxRate is the maximum denominator of the error of clocks, as in package verify.
const maxRate = 1 << 20

// BeLazy puts a session that has not begun into lazy time, in which clocks err by a part below 1 of the true rate. Then Pass is a
// step of time, and Hasten one of the faults. The error wraps [ErrOptions].
func (s *Session) BeLazy(err faults.Chance) error {
	switch {
	case !s.run.Declaration.Leased || s.run.o.Timing != election.Timed:
		return fmt.Errorf("%w %s: lazy time is for timed runs of algorithms with leases", ErrOptions, s.run.Declaration.Name)
	case err.Times > 0 && err.Times >= err.Of, err.Of > maxRate:
		return fmt.Errorf("%w %s: the error of a clock is below 1, with a denominator of at most %d, not %s", ErrOptions, s.run.Declaration.Name, maxRate, err)
	case len(s.made) > 0:
		return fmt.Errorf("%w %s: lazy time comes before the first event", ErrOptions, s.run.Declaration.Name)
	}
	n := s.run.Instance.Size()
	s.run.Lazy = &steps.LazyClocks{Err: err, Pace: s.run.o.Pace, Gained: make([]election.Ticks, n), Ahead: make([]election.Ticks, n)}
	s.run.Drifts = make([]*steps.Drift, s.run.Instance.Size()) // so that steps read the clock of their process
	return nil
}

// hasteners returns the processes whose deadlines can come early.
func (s *Session) hasteners() (all []Choice) {
	if s.run.Lazy == nil {
		return nil
	}
	for p, dead := range s.run.Dead {
		if !dead {
			all = append(all, Choice{What: Hasten, Process: p})
		}
	}
	return all
}

// hasten lets the deadlines of the process at p come a step early.
func (s *Session) hasten(p int) {
	l := s.run.Lazy
	change(s, &l.Gained[p], l.Gained[p].Add(l.Step()))
	s.run.Note(p, trace.Step{Event: trace.Fault, Port: -1, Text: trace.Hastened})
}
