package rerun

import (
	"slices"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// freeze makes the moment in which the run begins.
func (m *maker) freeze() error {
	moment := &trace.Moment{Schema: m.program.Schema()}
	unit := m.Entries[0].Life.Head.Unit
	for q, now := range m.members {
		next, lives := m.next(q, now)
		switch {
		case now.life == nil || !now.begun && !now.ended: // it begins to live later
			if now.life != nil {
				lives = now.life
			}
			s := trace.Standing{Crashed: lives != nil && lives.Recovering, Asleep: lives == nil || !lives.Recovering}
			if now.life != nil && m.unborn(now.life) {
				s.State = now.kept
			}
			if now.known && m.unborn(now.life) {
				s.State, s.Life = now.replayer.AppendState(nil, m.Group, now.last), now.life.Head.Incarnation
			}
			moment.Processes = append(moment.Processes, s)
			continue
		case !now.known && next == nil && now.ended: // nothing of it matters but that it is dead, and what it recovers with is known later
			moment.Processes = append(moment.Processes, trace.Standing{Crashed: true})
			continue
		case !now.known:
			return wrong("the state of member %d is not known there: its record has a gap before", m.Members[q])
		}
		m.clocks[q].read = reads(now, next, unit)
		moment.Processes = append(moment.Processes, m.standing(q, now))
	}
	m.run.Options.Moment = moment
	return nil
}

// reads returns what the clock of a member reads at the moment: between its last step and the next one.
func reads(now *member, next *nextStep, unit time.Duration) uint64 {
	if next == nil {
		return now.last + uint64(max(0, -now.lastAt/unit))
	}
	ticks := next.step().Ticks
	return max(now.last, ticks-min(ticks, uint64(max(0, next.At/unit))))
}

// unborn reports whether a life, which has not started, does not start later either.
func (m *maker) unborn(life *explain.JoinedLife) bool {
	return !slices.ContainsFunc(m.Entries[m.Begins:], func(e explain.JoinedEntry) bool {
		step, is := e.Body.(*record.Step)
		return is && e.Life == life && (step.Input.What == process.Started || step.Input.What == process.Recovered)
	})
}

// nextStep is an entry that is a step.
type nextStep struct{ *explain.JoinedEntry }

func (n nextStep) step() *record.Step { return n.Body.(*record.Step) }

// next returns the next step of the life of a member, and its next life.
func (m *maker) next(position int, now *member) (step *nextStep, lives *explain.JoinedLife) {
	for i := m.Begins; i < len(m.Entries); i++ {
		e := &m.Entries[i]
		if e.Life.Head.Member != m.Members[position] {
			continue
		}
		if lives == nil {
			lives = e.Life
		}
		if _, is := e.Body.(*record.Step); is && e.Life == now.life {
			return &nextStep{e}, lives
		}
	}
	return nil, lives
}

// standing returns how a member stands at the moment.
func (m *maker) standing(q int, now *member) trace.Standing {
	reading := m.clocks[q].read
	s := trace.Standing{
		State: now.replayer.AppendState(nil, m.Group, reading), Life: now.life.Head.Incarnation, Crashed: now.ended,
		Role: now.decision.Role, Leader: now.decision.Leader, Term: now.decision.Term, Lease: election.Units(now.until - min(now.until, reading)),
	}
	if now.ended {
		s.Role, s.Leader, s.Term = network.Undecided, 0, 0
		return s
	}
	s.Stopping = now.stopping
	for port := range m.net {
		if now.suspects[port] {
			s.Suspects = append(s.Suspects, port)
		}
	}
	for t := range m.program.Timers {
		if a, runs := now.alarms[election.Timer(t)]; runs {
			s.Alarms = append(s.Alarms, trace.Alarm{Timer: election.Timer(t), Left: election.Units(a.at - min(a.at, reading)), Deadline: a.deadline})
		}
	}
	return m.unknown(now, reading, s)
}

// unknown adds timers that were set before the record begins: those that expire in it before they are set again.
func (m *maker) unknown(now *member, reading uint64, s trace.Standing) trace.Standing {
	seen := map[election.Timer]bool{}
	for _, a := range s.Alarms {
		seen[a.Timer] = true
	}
	for i := m.Begins; i < len(m.Entries); i++ {
		step, is := m.Entries[i].Body.(*record.Step)
		if !is || m.Entries[i].Life != now.life {
			continue
		}
		if t := step.Input.Timer; step.Input.What == process.Expired && !seen[t] {
			s.Alarms = append(s.Alarms, trace.Alarm{Timer: t, Left: election.Units(step.Ticks - min(step.Ticks, reading))})
		}
		if step.Input.What == process.Expired {
			seen[step.Input.Timer] = true
		}
		for _, e := range step.Effects {
			if e.Op == election.SetTimer || e.Op == election.StopTimer {
				seen[e.Timer] = true
			}
		}
	}
	return s
}
