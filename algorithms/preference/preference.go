// Package preference elects, among known members, whom most of them prefer: each has one vote, and either
// everybody tells everybody, or a collector asks all.
//
// Source: S2 names the criterion, "processes in the group can vote for a leader based on a personal
// preference", and gives no code. The protocols are the simplest ones, and what crashes ask for is ours:
//
//   - A vote is cast once, when its process first hears of the election, and kept. Who crashes may prefer
//     somebody else afterwards; if it voted again, two could be elected, and the checker shows how.
//   - Whoever comes back has forgotten the votes of the others, and has missed those that came while it
//     was down. So it asks for all of them, and is answered even when all is decided.
//   - Votes are counted by voter: one that comes twice counts once.
//
// All n votes are needed. To have more votes than any other is not to have a majority, so that whoever
// decided when most votes are there would decide by the schedule. Hence a process that crashes and stays
// away blocks the election: recoveries are survived, crashes alone are not.
package preference

import "ringleader.example/ringleader/election"

// The messages.
const (
	Request election.Kind = iota // for a vote
	Vote
	Result
)

// Message is REQUEST, VOTE(candidate) or RESULT(winner).
type Message struct{ Candidate election.ID }

// Process is the state of one process.
type Process struct {
	ID         election.ID
	Members    election.ID   `election:"constant"` // they are 1 … Members
	Preference election.ID   // whom it would vote for; another life may vote otherwise
	Cast       election.ID   // whom it has voted for, in this life or an earlier one; 0: not yet
	Votes      []election.ID // that it has heard, by voter; nil when nobody asks any more
	Missing    uint32        // how many it has not heard
	All        bool          `election:"constant"` // count=all
	Joined     bool          // has told all its vote
	Collecting bool          // has asked all, and will tell them
	Decided    bool
}

// The parameter.
var count = election.Choice{
	Name:  "count",
	About: "who counts: all, of whom each tells each; collector, whoever starts, who asks and announces",
	Words: []string{"all", "collector"},
}

// Algorithm is voting among known members.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "preference",
		Title:  "Election by votes, among known members",
		Year:   1994,
		Source: "Singh–Kurose 1994; S2",
		About: "Each process votes once; most votes win, and of equally many the largest identifier. Either all tell all, or " +
			"whoever starts asks all and announces the result. All votes are needed: a process that crashes blocks the election " +
			"until it is back, with the vote that it cast.",
		Topology: election.Complete,
		Votes:    true,
		Counts:   election.CountsFixed,
		Winner:   election.Voted,
		Survives: election.Recovery,
		Kinds: []election.MessageKind{
			{Name: "request", Class: election.Election},
			{Name: "vote", Class: election.Election},
			{Name: "result", Class: election.Announcement},
		},
		Parameters: []election.Parameter{&count},
		Bounds: []election.Bound{
			{
				Of: "total", Case: election.Worst, Formula: "n(n-1)", Source: "derived: each tells each, whoever starts",
				Value: func(n uint64) uint64 { return n * (n - 1) },
			},
			{
				Of: "total", Case: election.Best, Formula: "n(n-1)", Source: "derived: each tells each, whoever starts",
				Value: func(n uint64) uint64 { return n * (n - 1) },
			},
			{
				Of: "time", Case: election.Worst, Formula: "2", Source: "derived: after the first start; 1 if all start together",
				Value: func(uint64) uint64 { return 2 },
			},
		},
		Adjust: revise,
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Recover: (*Process).Recover,
	Durable: func(p *Process) any { return &p.Cast },
}

// revise says what is claimed with count=collector.
func revise(d *election.Declaration, parameters election.Parameters) {
	if count.Is(parameters, "all") {
		return
	}
	d.Counts = election.CountsStartFirst
	d.Bounds = []election.Bound{
		{
			Of: "total", Case: election.Worst, Formula: "3n(n-1)", Source: "derived: 3(n-1) for each that starts; reached if all do",
			Value: func(n uint64) uint64 { return 3 * n * (n - 1) },
		},
		{
			Of: "total", Case: election.Best, Formula: "3(n-1)", Source: "derived: 3(n-1) for each that starts; reached if one does",
			Value: func(n uint64) uint64 { return 3 * (n - 1) },
		},
		{
			Of: "total", Case: election.Worst, Formula: "3(n-1)", Source: "derived: request, vote and result", OneStart: true,
			Value: func(n uint64) uint64 { return 3 * (n - 1) },
		},
	}
}

// New is a process that has a preference and has not voted.
func New(l election.Local) Process {
	return Process{
		ID: l.ID, Members: election.ID(l.Degree), Preference: l.Vote, Missing: uint32(l.Degree),
		All: count.Is(l.Parameters, "all"),
	}
}

// Start calls the election, if it is not over.
func (p *Process) Start(out *election.Out[Message]) {
	switch {
	case p.All:
		p.join(out)
	case !p.Decided:
		p.collect(out)
	}
}

// Recover calls the election again, for those who do not know of it, and asks for what was forgotten.
func (p *Process) Recover(out *election.Out[Message]) {
	if p.All {
		p.join(out)
		p.broadcast(Request, 0, out)
	} else {
		p.collect(out)
	}
}

// vote is whom the process votes for; it never changes.
func (p *Process) vote() election.ID {
	if p.Cast == 0 {
		p.Cast = p.Preference
	}
	return p.Cast
}

// join votes, once, and tells all others.
func (p *Process) join(out *election.Out[Message]) {
	if !p.Joined {
		p.Joined = true
		p.broadcast(Vote, p.vote(), out)
		p.hear(p.ID, p.vote(), out)
	}
}

// collect asks all others.
func (p *Process) collect(out *election.Out[Message]) {
	p.Collecting = true
	p.broadcast(Request, 0, out)
	p.hear(p.ID, p.vote(), out)
}

func (p *Process) broadcast(kind election.Kind, candidate election.ID, out *election.Out[Message]) {
	for j := election.ID(1); j <= p.Members; j++ {
		if j != p.ID {
			out.Send(election.To(j), kind, Message{candidate})
		}
	}
}

// Receive handles a message.
func (p *Process) Receive(port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch kind {
	case Request:
		if p.All && !p.Joined {
			p.join(out) // which tells who asks, too
		} else {
			out.Send(port, Vote, Message{p.vote()})
		}
	case Vote:
		if p.All {
			p.join(out)
		}
		p.hear(election.From(port), m.Candidate, out)
	case Result:
		p.decide(m.Candidate, out)
	}
}

// hear counts the vote of a member, once, and decides when it was the last one.
func (p *Process) hear(voter, candidate election.ID, out *election.Out[Message]) {
	if p.Missing == 0 || p.Votes != nil && p.Votes[voter-1] != 0 {
		return
	}
	votes := make([]election.ID, p.Members)
	copy(votes, p.Votes)
	votes[voter-1] = candidate
	p.Votes = votes
	p.Missing--
	if p.Missing > 0 {
		return
	}
	winner := election.TallyOf(p.Votes...).Winner()
	p.Votes = nil
	p.decide(winner, out)
	if p.Collecting {
		p.broadcast(Result, winner, out)
	}
}

// decide follows the winner, or leads.
func (p *Process) decide(winner election.ID, out *election.Out[Message]) {
	switch {
	case p.Decided:
		return
	case winner == p.ID:
		out.Lead(0)
	default:
		out.Follow(winner, 0)
	}
	p.Decided = true
}
