package gallery

import (
	"fmt"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify"
)

type (
	member   = quorumbully.Process
	letter   = quorumbully.Message
	lettered = *election.Out[letter]
)

// budget limits what happens in a check of quorum-bully.
type budget struct{ crashes, recoveries, commands, delay, terms int }

// few are three members, of which the first is a witness, without the Bully stage and with few claims and renewals: rules 1
// to 6 alone.
func (b budget) few() verify.Options {
	o := with(0, "terms", fmt.Sprint(b.terms), "renewals", "1", "lease", "6", "rho", "0", "renewal", "2",
		"answer-timeout", "1", "deferral", "1", "claim-timeout", "2", "asking", "no")
	o.Crashes, o.Recoveries, o.Commands, o.Delay, o.SafetyOnly = b.crashes, b.recoveries, b.commands, b.delay, true
	o.Instance.IDs, o.Instance.Priorities = election.List{1, 2, 3}, []uint16{0, 1, 1}
	return o
}

// lease is quorum-bully with a rule changed.
func lease(name, broken string, b budget, mutate func(*election.Algorithm[member, letter])) Exhibit {
	a := quorumbully.Algorithm
	mutate(&a)
	return exhibit(a, Exhibit{Name: "quorum-bully-" + name, Broken: broken, Property: verify.TwoLeases, Options: b.few()})
}

// unbind ends the grant that a member has given.
func unbind(p *member, out lettered) {
	p.Given = quorumbully.Given{}
	out.Stop(quorumbully.Bound)
}

// leases are quorum-bully with a rule changed each.
func leases() []Exhibit {
	return []Exhibit{
		lease("own-grant", "rule 2: a candidate's own grant obeys the rules of a grant", budget{delay: 2, terms: 3}, func(a *election.Algorithm[member, letter]) {
			a.Timeout = func(p *member, timer election.Timer, out lettered) {
				if timer == quorumbully.StageEnd && p.Role == quorumbully.Follower {
					p.Given = quorumbully.Given{}
				}
				p.Timeout(timer, out)
			}
		}),
		lease("no-wait", "rule 4: a restarted member waits", budget{crashes: 1, recoveries: 1, terms: 2}, func(a *election.Algorithm[member, letter]) {
			a.Recover = func(p *member, out lettered) {
				longest := p.Kept.Longest
				p.Kept.Longest = 0
				p.Recover(out)
				p.Kept.Longest = max(longest, p.Kept.Longest)
			}
		}),
		lease("lost-promise", "rule 1: the highest granted term survives a crash", budget{crashes: 1, recoveries: 1, terms: 2}, func(a *election.Algorithm[member, letter]) {
			a.Recover = func(p *member, out lettered) {
				p.Kept = quorumbully.Kept{Incarnation: p.Kept.Incarnation}
				p.Recover(out)
			}
		}),
		lease("early-release", "rule 5: a lease is released after the work has stopped", budget{commands: 1, terms: 3}, func(a *election.Algorithm[member, letter]) {
			a.Command = func(p *member, c election.Command, out lettered) {
				term := p.Term
				p.Command(c, out)
				if c.Order == election.Resign && p.Role == quorumbully.Stopping {
					release(p, term, out)
				}
			}
		}),
		lease("suspicion-voids", "rule 6: a suspicion voids nothing", budget{crashes: 1, terms: 3}, func(a *election.Algorithm[member, letter]) {
			a.Suspect = func(p *member, port election.Port, out lettered) {
				if p.Given.Holder == election.From(port) {
					unbind(p, out)
				}
				p.Suspect(port, out)
			}
		}),
	}
}

// release announces to all other members that a tenure has ended.
func release(p *member, term election.Term, out lettered) {
	for id := election.ID(1); id <= election.ID(p.Members); id++ {
		if id != p.ID {
			out.Send(election.To(id), quorumbully.Release, letter{
				Sender: quorumbully.Sender{Incarnation: p.Kept.Incarnation}, Request: quorumbully.Request{Term: term, Incarnation: p.Kept.Incarnation},
			})
		}
	}
}
