package quorumbully

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// Mutant is a mutant of this package's tests, for tests outside of it.
type Mutant struct {
	Name   string
	Mutate func(*algorithm)
	Runs   func(seed uint64) simulate.Options // where the simulator finds it
	Check  func() verify.Options              // with which the checker finds it; nil: it does not, or in lazy time only
}

// Mutants returns the mutants of rules 1 to 8, those of rule 9, and those of lengths.
func Mutants() (all []Mutant) {
	for _, m := range mutants {
		more := Mutant{m.name, m.mutate, m.runs, nil}
		if m.runs == nil {
			more.Runs = harsh
		}
		if m.check != nil && !m.check.lazy {
			more.Check = m.check.few
		}
		all = append(all, more)
	}
	for _, m := range careless {
		more := Mutant{m.name, m.mutate, m.runs, nil}
		if m.runs == nil {
			more.Runs = changing
		}
		all = append(all, more)
	}
	for _, m := range twoLengths {
		all = append(all, Mutant{m.name, func(a *algorithm) { vary(a); m.mutate(a) }, varied, nil})
	}
	return all
}

// Unguarded are mutants without a guard that safety needs, by name, which directed schedules find.
var Unguarded = map[string]func(*algorithm){
	"no lapse before a host asks for the lease": func(a *algorithm) {
		a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
			if c.Order == election.Confirm {
				p.prolong(out)
				return
			}
			p.Command(c, out)
		}
	},
	"no lapse before a host changes voters": func(a *algorithm) {
		a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
			if c.Order == election.Dismiss {
				p.change(Change{Member: c.Member}, out)
				return
			}
			p.Command(c, out)
		}
	},
	"no lapse of a leader that stops": func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			lapsed := kind == Grant && p.Role == Stopping && out.Passed(p.deadline())
			if lapsed {
				p.granted(x, m, out)
			}
			return !lapsed
		})
	},
	"a Claim is repeated in a term below the promise": func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			r := &m.Request
			repeats := kind == Claim && p.Given.Holder == x && p.Given.Incarnation == r.Incarnation && p.Given.Term == r.Term && r.Term < p.Kept.Promise
			if repeats {
				p.grant(x, m, p.Given.Won, out)
			}
			return !repeats
		})
	},
	"a Claim to older voters is granted": func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Claim && p.Kept.Voters.after(&m.Voters) {
				m.Voters = p.Kept.Voters
			}
			return true
		})
	},
	"a share becomes shorter": func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Grant && p.mine(&m.Request) {
				p.counts(x, m.Request.Number)
			}
			return true
		})
	},
	"voters of a later version are newer in any terms": func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Claim && m.Voters.Version > p.Kept.Voters.Version {
				p.Kept.Voters = m.Voters
			}
			return true
		})
	},
}

// Harsh, Varied, Changing and Script are scripts of faults; Varied is for requests of different lengths.
var (
	Harsh    = harsh
	Varied   = varied
	Changing = changing
	Script   = script
)

// Host turns the checker's command into a change of the voters, if they are to change.
func Host(a *algorithm, change bool) {
	if change {
		host(a)
	}
}

// Vary lets lengths of requests vary as much as they may.
func Vary(a *algorithm) { vary(a) }

// Steady lets no length of a request fall: the model has one length for each moment of a claim, and two schedules would have two.
func Steady(a *algorithm) {
	timeout := a.Timeout
	a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
		late := p.Late
		if timer == Renewal {
			p.Late = p.Settings.Lease
		}
		timeout(p, timer, out)
		if timer == Renewal {
			p.Late = late
		}
	}
}

// Few returns options of the checker for three members, of which the first is a witness.
func Few(terms, crashes int) verify.Options {
	return budget{terms: terms, crashes: crashes, recoveries: crashes}.few()
}

// Changes returns options of the checker for changes of the voters.
func Changes(members, standby, commands, terms, renewals, crashes int) verify.Options {
	return changes{members, standby, commands, terms, renewals, crashes}.options()
}

// Long reports whether tests take long.
func Long() bool { return *long }
