// Package preference elects the process with most votes on a complete graph of known members. Each process has one
// vote. Either each process sends its vote to all others, or a collector asks all.
//
// Source: S2 names the criterion, "processes in the group can vote for a leader based on a personal preference", and
// gives no code. The protocols are the simplest ones; the rules for crashes are ours:
//
//   - A vote is cast once, when its process first hears of the election, and kept. A process may prefer another
//     candidate after a crash. If it voted again, two could be elected; the checker shows how.
//   - A recovered process has forgotten the votes of the others, and has missed those that came while it was down. So
//     it asks for all of them, and is answered even when the election has ended.
//   - Votes are counted by voter: a vote that comes twice counts once.
//
// All n votes are needed. A plurality is not a majority: a process that decided on most of the votes would decide by
// the schedule. Hence a process that crashes and stays down blocks the election: the algorithm tolerates crashes with
// recovery, not crashes alone.
package preference

import "ringleader.example/ringleader/election"

// The kinds of message.
const (
	Request election.Kind = iota // for a vote
	Vote
	Result
)

// Message is REQUEST, VOTE(candidate) or RESULT(winner).
type Message struct {
	Candidate election.ID `kinds:"vote,result"`
}

// Process is the state of one process.
type Process struct {
	ID         election.ID
	Members    election.ID   `election:"constant"` // they are 1 … Members
	Preference election.ID   // the candidate that it would vote for; may change in a crash
	Cast       election.ID   // the candidate that it has voted for, before or after a crash; 0: none yet
	Votes      []election.ID // the votes that it has heard, by voter; nil when no process asks any more
	Missing    uint32        // the number of votes that it has not heard
	All        bool          `election:"constant"` // count=all
	Joined     bool          // has told all its vote
	Collecting bool          // has asked all, and will announce the result
	Decided    bool
}

// The parameter.
var count = election.Choice{
	Name:  "count",
	About: "which processes count the votes: all, each of which sends its vote to all others; collector, an initiator, which asks all and announces the result",
	Words: []string{"all", "collector"},
}

// Algorithm is voting among known members.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "preference",
		Title:  "Election by votes, among known members",
		Year:   1994,
		Source: "Singh–Kurose 1994; S2",
		About: "Each process votes once; most votes win, and of equally many the largest identifier. Either each sends its vote to all, or an " +
			"initiator asks all and announces the result. All votes are needed: a process that crashes blocks the election " +
			"until it recovers with the vote that it cast.",
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
				Of: "total", Case: election.Worst, Formula: "n(n-1)", Source: "derived: each sends to each, for any initiators",
				Value: func(n uint64) uint64 { return n * (n - 1) },
			},
			{
				Of: "total", Case: election.Best, Formula: "n(n-1)", Source: "derived: each sends to each, for any initiators",
				Value: func(n uint64) uint64 { return n * (n - 1) },
			},
			{
				Of: "time", Case: election.Worst, Formula: "2", Source: "derived: after the first start; 1 if all initiate together",
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

// revise changes the declaration for count=collector.
func revise(d *election.Declaration, parameters election.Parameters) {
	if count.Is(parameters, "all") {
		return
	}
	d.Counts = election.CountsStartFirst
	d.Bounds = []election.Bound{
		{
			Of: "total", Case: election.Worst, Formula: "3n(n-1)", Source: "derived: 3(n-1) for each initiator; reached if all initiate",
			Value: func(n uint64) uint64 { return 3 * n * (n - 1) },
		},
		{
			Of: "total", Case: election.Best, Formula: "3(n-1)", Source: "derived: 3(n-1) for each initiator; reached with one",
			Value: func(n uint64) uint64 { return 3 * (n - 1) },
		},
		{
			Of: "total", Case: election.Worst, Formula: "3(n-1)", Source: "derived: request, vote and result", OneStart: true,
			Value: func(n uint64) uint64 { return 3 * (n - 1) },
		},
	}
}

// New returns a process that has a preference and has not voted.
func New(l election.Local) Process {
	return Process{
		ID: l.ID, Members: election.ID(l.Degree), Preference: l.Vote, Missing: uint32(l.Degree),
		All: count.Is(l.Parameters, "all"),
	}
}

// Start calls the election, unless it has ended.
func (p *Process) Start(out *election.Out[Message]) {
	switch {
	case p.All:
		p.join(out)
	case !p.Decided:
		p.collect(out)
	}
}

// Recover calls the election again, for processes that do not know of it, and asks for the forgotten votes.
func (p *Process) Recover(out *election.Out[Message]) {
	if p.All {
		p.join(out)
		p.broadcast(Request, 0, out)
	} else {
		p.collect(out)
	}
}

// vote returns the process's vote, which never changes.
func (p *Process) vote() election.ID {
	if p.Cast == 0 {
		p.Cast = p.Preference
	}
	return p.Cast
}

// join votes, once, and sends the vote to all others.
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
			p.join(out) // which also answers the asker
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

// hear counts the vote of a member, once, and decides on the last one.
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
