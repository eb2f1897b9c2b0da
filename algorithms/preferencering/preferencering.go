// Package preferencering elects whom most processes of a one-directional ring prefer: a ballot goes round
// once, to which each adds its vote.
//
// Source: S2 names the criterion, "processes in the group can vote for a leader based on a personal
// preference", and the ring topology, and gives no code. The ballot travels as an identifier does in LCR
// (S2 section 2.2), and costs as much: of several ballots that of the largest initiator comes home. The
// others are dropped, not merged with it, since what they have counted it counts itself.
//
// What crashes ask for is ours. A vote is cast once and kept, whatever its process prefers after a crash.
// Who comes back cannot know whether a ballot was lost at it, so it sends one that nobody drops, whose
// result goes all round, too. A process that crashes and stays away blocks the election.
package preferencering

import "ringleader.example/ringleader/election"

// right is the only port that is sent on.
const right election.Port = 0

// The messages.
const (
	Ballot election.Kind = iota
	Result
)

// Message is BALLOT(initiator, tally) or RESULT(initiator, tally).
type Message struct {
	ID      election.ID
	Recount bool // the initiator is back after a crash
	Tally   election.Tally
}

// Process is the state of one process.
type Process struct {
	ID         election.ID
	Preference election.ID // whom it would vote for; another life may vote otherwise
	Cast       election.ID // whom it has voted for, in this life or an earlier one; 0: not yet
	Initiator  bool
	Joined     bool // has voted, on its own ballot or another's, so that it starts none any more
	Decided    bool
}

// Algorithm is voting on a ring.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "preference-ring",
		Title:  "Election by votes, on a ring",
		Year:   1994,
		Source: "Singh–Kurose 1994; S2",
		About: "Whoever starts sends a ballot round the ring, to which each process adds its vote; a larger initiator drops it. " +
			"The one ballot that comes home has all votes: most win, and of equally many the largest identifier. " +
			"All votes are needed: a process that crashes blocks the election until it is back, with the vote that it cast.",
		Topology: election.Ring,
		OneWay:   true,
		Votes:    true,
		Counts:   election.CountsStartFirst,
		Winner:   election.Voted,
		Survives: election.Recovery,
		Kinds:    []election.MessageKind{{Name: "ballot", Class: election.Election}, {Name: "result", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n(n+1)/2", Source: "as LCR, S2 section 2.2.1, reached by falling identifiers, all start",
				Value: func(n uint64) uint64 { return n * (n + 1) / 2 },
			},
			{
				Of: "election", Case: election.Best, Formula: "n", Source: "reached when one process starts",
				Value: func(n uint64) uint64 { return n },
			},
			{
				Of: "election", Case: election.Average, Formula: "n·H(n)", Source: "as LCR, Chang–Roberts 1979, all start",
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

// New is a process that has a preference and has not voted.
func New(l election.Local) Process { return Process{ID: l.ID, Preference: l.Vote} }

// vote is what the process adds to a tally; it never changes.
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

// Recover sends a ballot that nobody drops.
func (p *Process) Recover(out *election.Out[Message]) {
	p.Initiator = true
	out.Send(right, Ballot, Message{ID: p.ID, Recount: true, Tally: p.vote()})
}

// Receive handles a message. It can come on one port only.
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
	case p.Initiator && m.ID < p.ID && !m.Recount: // ours has its votes, or will have
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
