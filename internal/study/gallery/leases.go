package gallery

import (
	"cmp"
	"strconv"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
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
	o.Setup.IDs, o.Setup.Priorities = election.List{1, 2, 3}, []uint16{0, 1, 1}
	return o
}

// lease is quorum-bully with a rule changed.
func lease(name, broken string, b budget, mutate func(*election.Algorithm[member, letter])) Exhibit {
	a := quorumbully.Algorithm
	mutate(&a)
	return exhibit(a, Exhibit{Name: "quorum-bully-" + name, Broken: broken, Property: cmp.Or(b.property, verify.TwoLeases), Options: b.few()})
}

// walked is lease, found by random walks.
func walked(name, broken string, o verify.Options, mutate func(*election.Algorithm[member, letter])) Exhibit {
	e := lease(name, broken, budget{}, mutate)
	e.Options, e.Walks = o, 100_000
	return e
}

// simulated is lease, found in one run of three members with these faults, in which 3 leads in time for them.
func simulated(name, broken string, mutate func(*election.Algorithm[member, letter]), lines ...string) Exhibit {
	a := quorumbully.Algorithm
	mutate(&a)
	e := lease(name, broken, budget{}, mutate)
	e.Runner = simulate.Must(simulate.OfSmall(&a))
	e.Run = simulate.Options{Delay: 2, Until: election.Units(300)}
	e.Run.Setup = network.Setup{IDs: election.List{1, 2, 3}, Parameters: map[string]string{"rho": "0", "lease": "60", "renewal": "15", "delay": "2"}}
	reader := faults.NewReader(e.Run.Setup.IDs)
	for _, line := range lines {
		if err := reader.Line(line); err != nil {
			panic(err) // the lines are constants
		}
	}
	e.Run.Faults = reader.Script
	return e
}

// preempting is an exhibit in which 3 leads, and offers the lead to 2, which has a higher weight.
func preempting(e Exhibit) Exhibit {
	e.Run.Seed, e.Run.Setup.Priorities = 2, []uint16{1, 2, 1}
	e.Run.Setup.Parameters["preemption"], e.Run.Setup.Parameters["preempt-delay"] = "yes", "78"
	return e
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
		lease("any-release", "rule 5: a release voids only the grant that it names", budget{delay: 1, terms: 3, unordered: true}, receiving(func(p *member, from election.ID, kind election.Kind, _ *letter, out lettered) {
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
		lease("lower-renewal", "rule 2: a renewal of a term below that of the grant in force is refused", budget{delay: 3, terms: 2, lease: 3, property: verify.WrongTerm}, receiving(func(p *member, _ election.ID, kind election.Kind, m *letter, _ lettered) {
			if kind == quorumbully.Renew {
				p.F, p.Given.Term = 0, min(p.Given.Term, m.Request.Term)
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
		lease("term-revived", "rule 3: a lease that has lapsed stays lapsed", budget{delay: 3, terms: 1, lease: 4, property: verify.Revived}, revives),
		lease("late-grants", "rule 5: a claim given up counts no late grants", budget{delay: 2, terms: 3}, countsLate),
		lease("arrival-counts", "rule 3: an answer counts from when its request was sent", budget{terms: 2, lazy: true}, countsArrival),
		simulated("newest-request", "rule 3: an answer counts for the request that it answers, not for the newest", receiving(func(p *member, _ election.ID, kind election.Kind, m *letter, _ lettered) {
			if kind == quorumbully.Grant {
				m.Request.Number = p.Number
			}
		}), "partition 1 | 3 from 30 until 300", "slow 2 by 8 from 64 until 69", "cut 3 -> 2 from 69 until 300"),
		preempting(simulated("incarnation-voids", "rule 6: a new incarnation voids nothing", receiving(func(p *member, from election.ID, _ election.Kind, m *letter, out lettered) {
			if p.Given.Holder == from && p.Given.Incarnation < m.Sender.Incarnation {
				unbind(p, out)
				p.Stage = quorumbully.Idle
			}
		}), "pause 2 from 0 until 25", "partition 1 | 3 from 30 until 300", "crash 3 at 88", "recover 3 at 89")),
		walked("early-reading", "rule 2: a promise counts from a reading of the clock after the request was taken from the queue", budget{lazy: true, terms: 3}.few(), readsEarly),
		walked("awake-promise", "guarantee 9: a promise runs on a clock that stops in suspension", budget{lazy: true, terms: 2}.few(), runsAwake),
		walked("fast-clocks", "rule 3: ρ is at least 2ε/(1+ε)", drifting(), func(*election.Algorithm[member, letter]) {}),
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

// revives lets a leader whose lease has lapsed count an answer that arrives later.
func revives(a *election.Algorithm[member, letter]) {
	a.Receive = func(p *member, port election.Port, kind election.Kind, m letter, out lettered) {
		if kind == quorumbully.Grant && p.Role == quorumbully.Leader && m.Request.Term == p.Term {
			ends := p.Sent[m.Request.Number%uint64(len(p.Sent))]
			if !out.Passed(ends) {
				out.LeadUntil(ends, p.Term)
			}
			return
		}
		p.Receive(port, kind, m, out)
	}
	a.Timeout = func(p *member, timer election.Timer, out lettered) {
		if timer != quorumbully.Lapse || p.Role != quorumbully.Leader {
			p.Timeout(timer, out)
		}
	}
}

// countsLate lets a candidate release its claim, and count grants all the same.
func countsLate(a *election.Algorithm[member, letter]) {
	a.Timeout = func(p *member, timer election.Timer, out lettered) {
		if timer == quorumbully.StageEnd && p.Stage == quorumbully.Claiming {
			release(p, p.Term, out)
			p.Stage = quorumbully.Pausing
			return
		}
		p.Timeout(timer, out)
	}
}

// countsArrival lets an answer count from the time at which it arrives.
func countsArrival(a *election.Algorithm[member, letter]) {
	receiving(func(p *member, _ election.ID, kind election.Kind, m *letter, out lettered) {
		if kind == quorumbully.Grant && p.Role != quorumbully.Follower && m.Request.Term == p.Term {
			p.Sent[m.Request.Number%uint64(len(p.Sent))] = out.Deadline(election.Units(p.Settings.Entitled))
		}
	})(a)
}

// readsEarly lets a member count a promise from the end of its previous step, as if it had read the clock before it waited for
// the request. WaitsTill, which is unused without a restart, holds that reading.
func readsEarly(a *election.Algorithm[member, letter]) {
	a.Start = func(p *member, out lettered) {
		p.Start(out)
		p.WaitsTill = out.Deadline(election.Units(p.Settings.Lease))
	}
	a.Receive = func(p *member, port election.Port, kind election.Kind, m letter, out lettered) {
		read, before := p.WaitsTill, p.Given
		p.Receive(port, kind, m, out)
		if p.Given != before && p.Given.Holder == election.From(port) {
			out.After(quorumbully.Bound, election.Units(max(1, out.Left(read).Lo)))
		}
		p.WaitsTill = out.Deadline(election.Units(p.Settings.Lease))
	}
}

// runsAwake lets a promise end by a deadline, whose clock runs while the machine is suspended, and not by a timer.
func runsAwake(a *election.Algorithm[member, letter]) {
	ends := func(p *member, out lettered) {
		if p.Given.Holder != 0 && out.Passed(p.Until) {
			unbind(p, out)
		}
	}
	a.Timeout = func(p *member, timer election.Timer, out lettered) {
		ends(p, out)
		p.Timeout(timer, out)
	}
	receiving(func(p *member, _ election.ID, _ election.Kind, _ *letter, out lettered) { ends(p, out) })(a)
}

// drifting is lazy time with clocks that err by a tenth, for which ρ = 0 is too small.
func drifting() verify.Options {
	o := budget{lazy: true, terms: 2}.few()
	o.ClockError = faults.Chance{Times: 1, Of: 10}
	for _, name := range []string{"lease", "renewal", "claim-timeout"} {
		o.Setup.Parameters[name] += "0"
	}
	return o
}
