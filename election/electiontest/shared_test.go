package electiontest

import (
	"errors"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// cheat is a process of an election without messages of its own: all processes share what each knows.
type cheat struct {
	ID, Leader election.ID
	N          int
}

type rumour struct{ ID election.ID }

// cheating returns an algorithm whose processes share the greatest identifier outside their states.
func cheating() election.Algorithm[cheat, rumour] {
	return election.Algorithm[cheat, rumour]{
		Declaration: election.Declaration{
			Name: "cheating", Topology: election.Ring, OneWay: true, Winner: election.Largest, Starts: election.AllStart,
			Kinds: []election.MessageKind{{Name: "rumour"}},
		},
		New:     func(l election.Local) cheat { return cheat{ID: l.ID} },
		Receive: func(*cheat, election.Port, election.Kind, rumour, *election.Out[rumour]) {},
	}
}

// decide ends the election of a process.
func (p *cheat) decide(leader election.ID, out *election.Out[rumour]) {
	switch p.Leader = leader; p.ID {
	case leader:
		out.Lead(0)
	default:
		out.Follow(leader, 0)
	}
}

// known is what the processes of a cheating algorithm share.
var known election.ID

// cheats are the ways in which processes can share: a package variable that is set in New or in a step, and a variable of a closure.
var cheats = map[string]func() election.Algorithm[cheat, rumour]{
	"in New": func() election.Algorithm[cheat, rumour] {
		known = 0
		a := cheating()
		a.New = func(l election.Local) cheat {
			known = max(known, l.ID)
			return cheat{ID: l.ID}
		}
		a.Start = func(p *cheat, out *election.Out[rumour]) { p.decide(known, out) }
		return a
	},
	"in a step": func() election.Algorithm[cheat, rumour] {
		known = 0
		a := cheating()
		a.Start = func(p *cheat, out *election.Out[rumour]) {
			known = max(known, p.ID)
			out.Send(0, 0, rumour{p.ID})
		}
		a.Receive = func(p *cheat, _ election.Port, _ election.Kind, _ rumour, out *election.Out[rumour]) {
			if p.Leader == 0 {
				p.decide(known, out)
			}
		}
		return a
	},
	"in a step, by the number of processes": func() election.Algorithm[cheat, rumour] {
		best := map[int]election.ID{}
		a := cheating()
		a.KnowsSize = true
		a.New = func(l election.Local) cheat { return cheat{ID: l.ID, N: l.N} }
		a.Start = func(p *cheat, out *election.Out[rumour]) {
			best[p.N] = max(best[p.N], p.ID)
			out.Send(0, 0, rumour{p.ID})
		}
		a.Receive = func(p *cheat, _ election.Port, _ election.Kind, m rumour, out *election.Out[rumour]) {
			switch {
			case p.Leader > 0:
			case m.ID < best[p.N]:
				out.Send(0, 0, m)
			default:
				p.decide(m.ID, out)
				out.Send(0, 0, m)
			}
		}
		return a
	},
	"in a set of those that have started": func() election.Algorithm[cheat, rumour] {
		begun := map[election.ID]bool{}
		a := cheating()
		a.Start = func(p *cheat, out *election.Out[rumour]) {
			begun[p.ID] = true
			out.Send(0, 0, rumour{p.ID})
		}
		a.Receive = func(p *cheat, _ election.Port, _ election.Kind, m rumour, out *election.Out[rumour]) {
			if p.Leader == 0 && !begun[m.ID+1] {
				p.decide(m.ID, out)
				out.Send(0, 0, m)
			}
		}
		return a
	},
	"in a closure": func() election.Algorithm[cheat, rumour] {
		all := map[election.ID]bool{}
		a := cheating()
		a.New = func(l election.Local) cheat {
			all[l.ID] = true
			return cheat{ID: l.ID}
		}
		a.Start = func(p *cheat, out *election.Out[rumour]) {
			most := p.ID
			for all[most+1] {
				most++
			}
			p.decide(most, out)
		}
		return a
	},
}

// What processes share is found, by each tool, whatever the greatest identifier is.
func TestProcessesThatShareAreFound(t *testing.T) {
	for name, cheats := range cheats {
		for n := 3; n <= 5; n++ {
			r, err := verify.Run(cheats(), verify.Options{Size: n, Starts: verify.AnyTime})
			if err != nil || r.Violation == nil || r.Violation.Property != verify.BrokeContract {
				t.Errorf("%s: verify finds %v among %d: %v", name, r, n, err)
			}
			o := verify.Options{Size: n, Reduce: verify.AnyReduction}
			if r, err = verify.Run(cheats(), o); err != nil || r.Violation == nil || r.Violation.Property != verify.BrokeContract {
				t.Errorf("%s: a reduced search finds %v among %d: %v", name, r, n, err)
			}
			a := cheats()
			if r, err = verify.Walks(process.Must(process.Of(&a)), verify.Options{Size: n}, 5, 1); err != nil || r.Violation == nil || r.Violation.Property != verify.BrokeContract {
				t.Errorf("%s: walks find %v among %d: %v", name, r, n, err)
			}
		}
		_, err := simulate.New(small(t, cheats())).Run(simulate.Options{Setup: network.On(1, 2, 3), Record: true})
		if v := new(simulate.Violation); !errors.As(err, &v) || v.Property != verify.BrokeContract {
			t.Errorf("%s: a recorded run ends with %v", name, err)
		}
		if !strings.Contains(name, "in a s") && impure(t, cheats()) == "<nil>" {
			t.Errorf("%s: Pure finds nothing", name)
		}
	}
}
