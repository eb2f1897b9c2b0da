package gallery

import (
	"cmp"
	"strconv"

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
type budget struct {
	crashes, recoveries, commands, delay, terms int

	lease                    int // in units; 0: 6
	lazy, wardens, unordered bool
	property                 string // empty: verify.TwoLeases
}

// few are three members, of which the first is a witness, without the Bully stage and with few claims and renewals: rules 1
// to 6 alone.
func (b budget) few() verify.Options {
	lease, renewal, claim := cmp.Or(b.lease, 6), "2", "2"
	switch {
	case b.lazy:
		lease, renewal, claim = 2, "1", "1"
	case lease < 4:
		renewal = "1"
	}
	o := with(0, "terms", strconv.Itoa(b.terms), "renewals", "1", "lease", strconv.Itoa(lease), "rho", "0", "renewal", renewal,
		"answer-timeout", "1", "deferral", "1", "claim-timeout", claim, "asking", "no")
	o.Crashes, o.Recoveries, o.Commands, o.Delay, o.SafetyOnly = b.crashes, b.recoveries, b.commands, b.delay, true
	o.Lazy, o.Wardens, o.Unordered = b.lazy, b.wardens, b.unordered
	o.Instance.IDs, o.Instance.Priorities = election.List{1, 2, 3}, []uint16{0, 1, 1}
	return o
}

// lease is quorum-bully with a rule changed.
func lease(name, broken string, b budget, mutate func(*election.Algorithm[member, letter])) Exhibit {
	a := quorumbully.Algorithm
	mutate(&a)
	return exhibit(a, Exhibit{Name: "quorum-bully-" + name, Broken: broken, Property: cmp.Or(b.property, verify.TwoLeases), Options: b.few()})
}

// receiving does something before each message is received.
func receiving(before func(p *member, from election.ID, kind election.Kind, m *letter, out lettered)) func(*election.Algorithm[member, letter]) {
	return func(a *election.Algorithm[member, letter]) {
		a.Receive = func(p *member, port election.Port, kind election.Kind, m letter, out lettered) {
			before(p, election.From(port), kind, &m, out)
			p.Receive(port, kind, m, out)
		}
	}
}

// unbind ends the grant that a member has given.
func unbind(p *member, out lettered) {
	p.Given = quorumbully.Given{}
	out.Stop(quorumbully.Bound)
}

// leases are quorum-bully with a rule changed each.
func leases() []Exhibit {
	return []Exhibit{
		lease("term-again", "rule 1: a term is granted once, and again only if the very grant is repeated", budget{terms: 1, lazy: true, property: verify.TwoInTerm}, receiving(func(p *member, _ election.ID, kind election.Kind, m *letter, _ lettered) {
			if kind == quorumbully.Claim && m.Request.Term == p.Kept.Promise && p.Given.Holder == 0 {
				p.Kept.Promise--
			}
		})),
		lease("short-wait", "rule 4: a restarted member waits as long as the longest lease that it promised", budget{crashes: 1, recoveries: 1, terms: 3}, func(a *election.Algorithm[member, letter]) {
			a.Recover = func(p *member, out lettered) {
				p.Kept.Longest /= 2
				p.Recover(out)
			}
		}),
		lease("any-release", "rule 5: a release voids only the grant that it names", budget{delay: 2, terms: 3, unordered: true}, receiving(func(p *member, from election.ID, kind election.Kind, _ *letter, out lettered) {
			if kind == quorumbully.Release && p.Given.Holder == from {
				unbind(p, out)
			}
		})),
		lease("nameless-death", "rule 6: a proof of death names the incarnation", budget{crashes: 1, recoveries: 1, terms: 2, wardens: true}, func(a *election.Algorithm[member, letter]) {
			a.Command = func(p *member, c election.Command, out lettered) {
				if c.Order == election.Died && p.Given.Holder == c.Member {
					unbind(p, out)
				}
				p.Command(c, out)
			}
		}),
		lease("lower-renewal", "rule 2: a renewal of a term below F is refused", budget{delay: 3, terms: 2, lease: 3, property: verify.WrongTerm}, receiving(func(p *member, _ election.ID, kind election.Kind, _ *letter, _ lettered) {
			if kind == quorumbully.Renew {
				p.F = 0
			}
		})),
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
