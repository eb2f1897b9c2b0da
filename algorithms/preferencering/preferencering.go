// Package preferencering elects whom most processes of a one-directional ring prefer: a ballot goes round
// once, to which each adds its vote.
//
// Source: S2 names the criterion, "processes in the group can vote for a leader based on a personal
// preference", and the ring topology, and gives no code. The ballot travels as an identifier does in LCR
// (S2 section 2.2), and costs as much: of several ballots that of the largest initiator comes home. The
// others are dropped, not merged with it, since what they have counted it counts itself.
package preferencering

import "ringleader.example/ringleader/election"

// right is the only port that is sent on.
const right election.Port = 0

// The messages.
const (
	Ballot election.Kind = iota
	Result
)

// Message is BALLOT(initiator, tally) or RESULT(winner).
type Message struct {
	ID    election.ID
	Tally election.Tally
}

// Process is the state of one process.
type Process struct {
	ID, Vote  election.ID
	Initiator bool
	Joined    bool // has voted, on its own ballot or another's, so that it starts none any more
	Decided   bool
}

// Algorithm is voting on a ring.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "preference-ring",
		Title:  "Election by votes, on a ring",
		Year:   1994,
		Source: "S2, preference-based; Singh, Kurose 1994",
		About: "Whoever starts sends a ballot round the ring, to which each process adds its vote; a larger initiator drops it. " +
			"The one ballot that comes home has all votes: most win, and of equally many the largest identifier. " +
			"All votes are needed, and a process that crashes blocks the election.",
		Topology: election.Ring,
		OneWay:   true,
		Votes:    true,
		Counts:   election.CountsStartFirst,
		Winner:   election.Voted,
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
				Of: "election", Case: election.Average, Formula: "n·H(n)", Source: "as LCR, Chang and Roberts 1979, all start",
				Mean: func(n uint64) float64 { return float64(n) * election.Harmonic(n) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// New is a process that has not voted.
func New(l election.Local) Process { return Process{ID: l.ID, Vote: l.Vote} }

// Start sends a ballot, unless the process has voted on another one.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Joined {
		p.Initiator, p.Joined = true, true
		out.Send(right, Ballot, Message{p.ID, election.TallyOf(p.Vote)})
	}
}

// Receive handles a message. It can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch {
	case kind == Result:
		p.decide(m.ID, out)
	case m.ID == p.ID: // it is home, with all votes
		p.decide(m.Tally.Winner(), out)
	case p.Initiator && m.ID < p.ID: // ours has its votes, or will have
	default:
		p.Joined = true
		out.Send(right, Ballot, Message{m.ID, m.Tally.Plus(election.TallyOf(p.Vote))})
	}
}

// decide follows the winner, or leads, and passes the result on. Who has decided is the initiator, to whom
// the result comes home.
func (p *Process) decide(winner election.ID, out *election.Out[Message]) {
	if p.Decided {
		return
	}
	p.Decided = true
	out.Send(right, Result, Message{ID: winner})
	if winner == p.ID {
		out.Lead(0)
	} else {
		out.Follow(winner, 0)
	}
}
