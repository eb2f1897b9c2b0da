// Package preferencering elects the process with most votes on a unidirectional ring: a ballot goes round once, and
// each process adds its vote.
//
// Source: S2 names the criterion, "processes in the group can vote for a leader based on a personal preference", and
// the ring topology, and gives no code. The ballot travels as an identifier does in LCR (S2 section 2.2), and costs
// as much. Of several ballots that of the largest initiator returns to its origin. The others are dropped, not merged
// with it, since it counts the votes on them itself.
//
// The rules for crashes are ours. A vote is cast once and kept, even if its process prefers another candidate after a
// crash. A recovered process cannot know whether its crash lost a ballot. So it sends a ballot that no process drops,
// and whose result goes all the way round, too. A process that crashes and stays down blocks the election.
package preferencering

import "ringleader.example/ringleader/election"

// right is the only port that messages are sent on.
const right election.Port = 0

// The kinds of message.
const (
	Ballot election.Kind = iota
	Result
)

// Message is BALLOT(initiator, tally) or RESULT(initiator, tally).
type Message struct {
	ID      election.ID
	Recount bool // the initiator has recovered from a crash
	Tally   election.Tally
}

// Process is the state of one process.
type Process struct {
	ID         election.ID
	Preference election.ID // the candidate that it would vote for; may change in a crash
	Cast       election.ID // the candidate that it has voted for, before or after a crash; 0: none yet
	Initiator  bool
	Joined     bool // has voted, on its own ballot or another's, and so starts no more ballots
	Decided    bool
}

// Algorithm is voting on a ring.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "preference-ring",
		Title:  "Election by votes, on a ring",
		Year:   1994,
		Source: "Singh–Kurose 1994; S2",
		About: "An initiator sends a ballot round the ring, and each process adds its vote; a larger initiator drops it. " +
			"The one ballot that returns to its origin has all votes: most win, and of equally many the largest identifier. " +
			"All votes are needed: a process that crashes blocks the election until it recovers with the vote that it cast.",
		Topology: election.Ring,
		OneWay:   true,
		Votes:    true,
		Counts:   election.CountsStartFirst,
		Winner:   election.Voted,
		Survives: election.Recovery,
		Kinds:    []election.MessageKind{{Name: "ballot", Class: election.Election}, {Name: "result", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n(n+1)/2", Source: "as LCR, S2 section 2.2.1, reached by decreasing identifiers if all initiate",
				Value: func(n uint64) uint64 { return n * (n + 1) / 2 },
			},
			{
				Of: "election", Case: election.Best, Formula: "n", Source: "reached with one initiator",
				Value: func(n uint64) uint64 { return n },
			},
			{
				Of: "election", Case: election.Average, Formula: "n·H(n)", Source: "as LCR, Chang–Roberts 1979, if all initiate",
				Mean: func(n uint64) float64 { return float64(n) * election.Harmonic(n) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Recover: (*Process).Recover,
	Durable: func(p *Process) any { return &p.Cast },
}

// New returns a process that has a preference and has not voted.
func New(l election.Local) Process { return Process{ID: l.ID, Preference: l.Vote} }

// vote returns the tally of the process's own vote, which never changes.
func (p *Process) vote() election.Tally {
	p.Joined = true
	if p.Cast == 0 {
		p.Cast = p.Preference
	}
	return election.TallyOf(p.Cast)
}

// Start sends a ballot, unless the process has voted on another one.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Joined {
		p.Initiator = true
		out.Send(right, Ballot, Message{ID: p.ID, Tally: p.vote()})
	}
}

// Recover sends a ballot that no process drops.
func (p *Process) Recover(out *election.Out[Message]) {
	p.Initiator = true
	out.Send(right, Ballot, Message{ID: p.ID, Recount: true, Tally: p.vote()})
}

// Receive handles a message, which can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	home := m.ID == p.ID
	switch {
	case kind == Result:
		p.decide(m.Tally.Winner(), out)
		if !home {
			out.Send(right, Result, m)
		}
	case home: // with all votes
		p.decide(m.Tally.Winner(), out)
		out.Send(right, Result, m)
	case p.Initiator && m.ID < p.ID && !m.Recount: // its own ballot has those votes, or will have
	default:
		m.Tally = m.Tally.Plus(p.vote())
		out.Send(right, Ballot, m)
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
