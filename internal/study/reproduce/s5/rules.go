package s5

import (
	"ringleader.example/ringleader/election"
	claims "ringleader.example/ringleader/internal/study/claims"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/trace"
)

// meeting is an identity that a processor receives, what the processor knows then, and what it does. What it knows follows from what it
// has received: its state is not looked at.
type meeting struct {
	*round
	*trace.Step
	claims.Walk        // j, m, w
	own         uint64 // identity of the processor
	best        uint64 // the smallest participating identity that it is aware of; 0: none
	waits       bool   // another identity waits there
	sends       []claims.Walk
	later       *claims.Walk // what its timer sends, if it expires before the processor receives a lower identity
	after       election.Ticks
}

// meetings returns each identity that a processor receives in a run.
func (r *round) meetings() []*meeting {
	type processor struct {
		best  uint64
		waits bool
		last  *meeting // of which the identity waits
	}
	carried, entered := reproduce.Must(claims.Walks(r.Record)), r.entered()
	all, processors := []*meeting(nil), make([]processor, r.n())
	for i := range r.Record.Steps {
		s := &r.Record.Steps[i]
		p, own := &processors[s.Process], r.Subject.IDs[s.Process]
		switch {
		case s.Event == trace.Receive && s.Kind == "election started":
			if _, stands := entered[own]; stands && p.best == 0 {
				p.best, p.waits = own, true
			}
		case s.Event == trace.Timeout:
			if p.last != nil {
				p.last.after = s.Time.Sub(p.last.Time)
				for _, w := range walking(s, carried) {
					p.last.later = &w
				}
			}
			p.waits, p.last = false, nil
		case s.Event == trace.Receive && s.Kind == "identity":
			m := &meeting{round: r, Step: s, Walk: carried[s.Message-1], own: own, best: p.best, waits: p.waits, sends: walking(s, carried)}
			all = append(all, m)
			if m.lowest() {
				p.best, p.waits, p.last = m.ID, m.completed(), nil
				if m.completed() {
					p.last = m
				}
			}
		}
	}
	return all
}

// walking returns the identities that a step sends.
func walking(s *trace.Step, carried []claims.Walk) (all []claims.Walk) {
	for _, m := range s.Sent {
		if w := carried[m.Message-1]; w.Phase > 0 {
			all = append(all, w)
		}
	}
	return all
}

// home reports whether the identity is back.
func (m *meeting) home() bool { return m.ID == m.own }

// lowest reports whether the identity is lower than all that the processor has seen.
func (m *meeting) lowest() bool { return !m.home() && (m.best == 0 || m.ID < m.best) }

// completed reports whether the identity has completed its phase.
func (m *meeting) completed() bool {
	return !election.Units(uint64(m.Walked)).Less(m.hypotheses[m.Phase-1])
}

// elects reports whether the step sends 'j elected'.
func (m *meeting) elects() bool { return reproduce.MessagesSent(m.Sent, "elected") == 1 }

// A rule returns whether it applies to a meeting, and whether the processor obeys it.

func (m *meeting) ruleA() (about, kept bool) {
	wins := m.elects() && len(m.Decided) == 1 && len(m.sends) == 0
	return m.home(), m.home() == wins && (wins || !m.elects() && len(m.Decided) == 0)
}

func (m *meeting) ruleB() (about, kept bool) {
	about = !m.home() && !m.lowest()
	return about, !about || len(m.Sent) == 0 && len(m.Timers) == 0
}

func (m *meeting) ruleCWaiting() (about, kept bool) {
	about = m.lowest() && m.waits
	return about, !about || len(m.Timers) > 0
}

func (m *meeting) ruleCSends() (about, kept bool) {
	about = m.lowest() && !m.completed()
	return about, !about || len(m.sends) == 1 && m.sends[0] == claims.Walk{ID: m.ID, Phase: m.Phase, Walked: m.Walked + 1}
}

func (m *meeting) ruleCDelays() (about, kept bool) {
	about = m.lowest() && m.completed()
	if !about || m.later == nil { // a lower one has come, or the election is over
		return about, !about || len(m.Sent) == 0 && len(m.Timers) > 0
	}
	delay := m.hypotheses[m.Phase].Sub(m.hypotheses[m.Phase-1]).Times(2 * m.ID)
	return about, len(m.Sent) == 0 && m.after == delay && *m.later == claims.Walk{ID: m.ID, Phase: m.Phase + 1, Walked: m.Walked + 1}
}

// rule returns a check that processors obey a rule.
func rule(of func(*meeting) (about, kept bool), received string) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		rounds, times, others := 0, 0, 0
		for r := range everyRound(b) {
			for _, m := range r.meetings() {
				about, kept := of(m)
				if about {
					times++
				} else {
					others++
				}
				d.Unless(kept, "%s: step %d, where %d receives <%d, h_%d, %d>", r.replay(), m.Number, m.own, m.ID, m.Phase, m.Walked)
			}
			rounds++
		}
		d.Unless(times > 0 && others > 0, "%d cases, and %d others", times, others)
		return d.Finding("%d elections: %d times a processor receives %s, and does so; %d times another", rounds, times, received, others)
	}
}
