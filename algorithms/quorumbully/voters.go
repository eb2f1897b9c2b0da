package quorumbully

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// Rule 9: the members that vote, and how they change. The package comment has the argument for its safety.

// Voters are the members whose grants count.
type Voters struct {
	Term    election.Term // of the leader that made this value; 0: it is the first
	Version uint64        // how many changes led to it
	Members []election.ID `kinds:"claim,renew,nack"` // in rising order; empty: the first voters
}

// after reports whether v is newer than other.
func (v *Voters) after(other *Voters) bool {
	return v.Term > other.Term || v.Term == other.Term && v.Version > other.Version
}

// reference returns v without its members.
func (v *Voters) reference() Voters { return Voters{Term: v.Term, Version: v.Version} }

// Change is what the host of a leader wants.
type Change struct {
	Member election.ID // 0: nothing
	Votes  bool        // whether it is to have a vote
}

// among reports whether member x is one of the voters v.
func (p *Process) among(v *Voters, x election.ID) bool {
	if len(v.Members) == 0 {
		return x <= p.Settings.First
	}
	_, found := slices.BinarySearch(v.Members, x)
	return found
}

func (p *Process) votes(x election.ID) bool { return p.among(&p.Kept.Voters, x) }

func (p *Process) size(v *Voters) int {
	if len(v.Members) == 0 {
		return int(p.Settings.First)
	}
	return len(v.Members)
}

func (p *Process) majorityOf(v *Voters) int { return p.size(v)/2 + 1 }

// majority returns q.
func (p *Process) majority() int { return p.majorityOf(&p.Kept.Voters) }

// count returns the number of voters for which a list by member - 1 has true.
func (p *Process) count(list []bool) (count int) {
	for i, has := range list {
		if has && p.votes(election.ID(i+1)) {
			count++
		}
	}
	return count
}

// membership returns the voters, and what they have granted this leader, for the host.
func (p *Process) membership() election.Membership {
	v := &p.Kept.Voters
	m := election.Membership{Term: v.Term, Version: v.Version, Voters: v.Members, Kept: p.count(p.Keeps)}
	switch {
	case p.leads():
		m.Granted = p.Share
		m.Confirmed, m.Disputed = p.confirmed(), p.Disputed
		m.Entitled = election.Units(p.lasts())
	case p.following():
		m.Entitled = election.Units(p.entitled(min(p.Granted, p.Settings.Lease)))
	}
	return m
}

// adopt takes over newer voters. A leader takes over none: if they are of a higher term, it leads no more, and those of a
// lower term give way to its own. A claim was made to the former voters, so it ends. The term of the new ones is won.
func (p *Process) adopt(v *Voters, out *election.Out[Message]) {
	if !v.after(&p.Kept.Voters) || p.leads() || v.Term > p.Kept.Promise+farthest {
		return
	}
	if p.Role == Candidate {
		p.end(out)
		p.pause(out)
	}
	p.Kept.Voters = Voters{v.Term, v.Version, slices.Sorted(slices.Values(v.Members))} // their order is the sender's
	p.raise(v.Term)
	p.promise(v.Term)
	if !p.votes(p.ID) {
		p.rest(out)
	}
}

// change notes what the host wants, in place of an earlier wish. A leader does not remove itself: it hands over first.
func (p *Process) change(c Change, out *election.Out[Message]) {
	if p.Role != Leader || c.Member > p.Members || c.Member == p.ID {
		return
	}
	p.Change = c
	p.amend(out)
}

// keeps notes that a member keeps the leader's voters, as its Grant shows. From then on that member grants no Claim to
// older voters.
func (p *Process) keeps(x election.ID, v *Voters, out *election.Out[Message]) {
	if now := &p.Kept.Voters; p.Keeps != nil && v.Term == now.Term && v.Version == now.Version && !p.Keeps[x-1] {
		p.Keeps = slices.Clone(p.Keeps)
		p.Keeps[x-1] = true
	}
	p.amend(out)
}

// amend makes the next step of the change that the host wants, as soon as rule 9 allows that: first the leader makes the
// present voters its own, and then the new ones. Each waits until a majority keeps those before.
func (p *Process) amend(out *election.Out[Message]) {
	c := p.Change
	if p.Role != Leader || c.Member == 0 {
		return
	}
	next := p.Kept.Voters
	switch {
	case next.Term != p.Term:
		next = Voters{p.Term, next.Version, p.listed()}
	case p.votes(c.Member) == c.Votes:
		p.Change = Change{}
		return
	case p.count(p.Keeps) < p.majority():
		return
	default:
		next = p.changed(c)
		if p.deadlineOf(&next, p.Share).Before(p.deadline()) { // the change waits until it shortens no lease
			return
		}
	}
	p.Kept.Voters = next
	p.Keeps = make([]bool, p.Members)
	p.Keeps[p.ID-1] = true
	p.prolong(out)
	p.amend(out)
}

// listed returns the present voters in a list, also if they are the first ones: those have a name of their own only until a
// leader gives them its term. So what is kept and sent later does not depend on which members a process takes for the first.
func (p *Process) listed() []election.ID {
	members := slices.Clone(p.Kept.Voters.Members)
	for x := election.ID(1); len(p.Kept.Voters.Members) == 0 && x <= p.Settings.First; x++ {
		members = append(members, x)
	}
	return members
}

// enlarge lets the member know of others, which do not vote. What it has granted, claimed and counted stays as it is.
func enlarge(p *Process, members int) {
	more := members - int(p.Members)
	p.Members = election.ID(members)
	p.Peers = longer(p.Peers, more)
	p.Share, p.Refused, p.Keeps, p.Replies, p.Probe.Would = longer(p.Share, more), longer(p.Refused, more), longer(p.Keeps, more), longer(p.Replies, more), longer(p.Probe.Would, more)
	p.Disputed, p.Lengths.Shares = longer(p.Disputed, more), longer(p.Lengths.Shares, more)
}

// longer returns a list by member with room for more of them; nil stays nil.
func longer[T any](list []T, more int) []T {
	if list == nil {
		return nil
	}
	return append(slices.Clip(list), make([]T, more)...)
}

// changed returns the voters after a change. They may have members that this one does not know.
func (p *Process) changed(c Change) Voters {
	next := Voters{Term: p.Term, Version: p.Kept.Voters.Version + 1, Members: p.listed()}
	at, _ := slices.BinarySearch(next.Members, c.Member)
	if c.Votes {
		next.Members = slices.Insert(next.Members, at, c.Member)
	} else {
		next.Members = slices.Delete(next.Members, at, at+1)
	}
	return next
}
