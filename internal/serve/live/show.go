package live

import (
	"cmp"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
)

// show publishes the state.
func (g *group) show() {
	g.handle.mu.Lock()
	before := g.handle.state // also a leader's whose lease has just ended
	g.handle.mu.Unlock()
	s := view.State{
		Role: g.decision.Role, Leader: g.Name(g.decision.Leader), Term: g.decision.Term,
		Since: before.Since, Last: before.Last,
	}
	g.others(&s)
	g.agree()
	if g.loop.contested() {
		s.Role, s.Leader = network.Undecided, 0
		g.because = view.Because{Cause: view.Duplicate}
	}
	s.Value, s.Voters = g.valueOf(s.Leader, s.Term), g.votersNow()
	g.elects(s.Leader == 0)
	g.lead(g.decision.Role == network.Leader)
	if s.Role != before.Role || s.Leader != before.Leader || s.Term != before.Term {
		s.Since = time.Now()
		if !g.ended.IsZero() {
			s.Since, g.ended = g.ended, time.Time{}
		}
		s.Last = g.change(&before, &s)
		g.recordChange(s.Last)
		g.handle.log.Info("leadership changed", "role", s.RoleName(), "leader", s.Leader, "term", s.Term, "because", s.Last.String())
	}
	g.handle.publish(s, g.lease)
}

// Shown shows the lease to other processes. It says that the member does not lead if no time is left.
type Shown interface {
	Show(leads bool, term uint64, left func() time.Duration, value string)
}

// Renewed registers a function that gets the term and the end of the lease, on the clock Boottime: now, and at each renewal. A nil function ends that. The calls hold mu.
func (g *Group) Renewed(told func(term election.Term, ends time.Duration)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = told
	g.shows()
}

// shows shows the lease. It is called with mu held: what ends a lead is shown before any message that lets another member lead.
func (g *Group) shows() {
	leads := g.state.Role == network.Leader && g.until != process.Never
	if leads && g.told != nil && g.until > 0 { // at 0 the lead has ended, and the work may still stop
		g.told(g.state.Term, g.member.begunBoot+g.until)
	}
	if g.shown != nil {
		g.shown.Show(leads, uint64(g.state.Term), func() time.Duration { return g.until - g.member.boot() }, g.state.Value)
	}
}

// others sets, for each member, whether it is heard from, its problem, and its standing.
func (g *group) others(s *view.State) {
	s.Members, s.ListLacks = g.member.listed, g.loop.awaits
	for _, id := range g.member.listed {
		heard, problem := true, g.loop.problem
		if p := g.member.peerOf(id); p != nil {
			heard, problem = p.health == reachable, cmp.Or(p.problem, p.refused, p.difference, g.rivals[id], p.groups[g.handle.key])
		}
		s.Reachable, s.Problems = append(s.Reachable, heard), append(s.Problems, problem)
		s.Standings = append(s.Standings, g.standingOf(id))
	}
}
