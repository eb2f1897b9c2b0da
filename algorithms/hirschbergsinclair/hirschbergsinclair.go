// Package hirschbergsinclair elects the largest identifier on an asynchronous bidirectional ring without common
// orientation (Hirschberg and Sinclair 1980), with messages from, ok and no.
//
// Source: S3 section 3, whose items are cited as
//
//	C1  it checks if it is still a candidate; C2 if so, it sends {from, id, 0, 2^i} to both neighbours
//	C3  {no, id}: it withdraws; C4 two {ok, id}: stage i + 1; C5 {from, id, …} after a full cycle: leader
//	R1  {from, sender, x, y}, sender < id: {no, sender} back
//	R2  sender > id, x + 1 = y: {ok, sender} back; R3 otherwise {from, sender, x + 1, y} is passed on
//	R4  {ok, other} and {no, other} are passed on in the same direction
//
// C5 is missing from S3's list of messages that a processor receives. It must come before R2: where 2^i = n, x + 1 =
// y holds at the origin. It happens on both ports, which makes one leader only.
//
// In S3 only the leader learns the result. Here it sends its identifier once round the ring, out of one port and
// straight on, in n messages that are counted apart. announce=no is S3 as printed.
//
// All initiate. A processor serves others before its start and after its withdrawal, too. With withdraw=answer it
// sends its first two messages even if a greater identifier has passed, so that the counts depend only on the order.
// With withdraw=early, as in the program of S3's author, a candidate withdraws as soon as a greater identifier
// passes, perhaps before it starts: never more messages, but their number depends on the schedule.
package hirschbergsinclair

import (
	"math/bits"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/mean"
)

// The kinds of message.
const (
	From election.Kind = iota
	Ok
	No
	Leader
)

// Message is {from, ID, X, Y}. The others carry the identifier only; answers carry Y for the statistics.
type Message struct {
	ID election.ID
	X  uint32 `kinds:"from"`       // hops made
	Y  uint32 `kinds:"from,ok,no"` // hops to make: 2^stage
}

// Process is the state of one processor.
type Process struct {
	ID        election.ID
	Stage     uint8
	Oks       uint8
	Withdrawn bool // no longer a candidate
	Elected   bool
	Early     bool `election:"constant"` // withdraw=early
	Silent    bool `election:"constant"` // announce=no
}

// The parameters.
var (
	withdraw = election.Choice{
		Name:  "withdraw",
		About: "when a candidate withdraws: answer, on a no, as in S3's text; early, as soon as a greater identifier passes, as in its author's program",
		Words: []string{"answer", "early"},
	}
	announce = election.Choice{
		Name:  "announce",
		About: "whether the leader announces itself: yes, with n more messages; no, as in S3, so that no other process learns the result",
		Words: []string{"yes", "no"},
	}
)

// Algorithm is Hirschberg and Sinclair's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "hirschberg-sinclair",
		Title:  "Hirschberg, Sinclair (from, ok, no)",
		Year:   1980,
		Source: "Hirschberg–Sinclair 1980 (S3)",
		About: "In stage i a candidate asks 2^i neighbours on either side. A greater identifier answers no, " +
			"and the candidate withdraws; two oks let it enter the next stage, and a question that returns to its origin has won.",
		Topology:   election.Ring,
		Unoriented: true,
		Starts:     election.AllStart,
		Counts:     election.CountsFixed,
		Winner:     election.Largest,
		Kinds: []election.MessageKind{
			{Name: "from", Class: election.Election},
			{Name: "ok", Class: election.Election},
			{Name: "no", Class: election.Election},
			{Name: "leader", Class: election.Announcement},
		},
		Parameters: []election.Parameter{&withdraw, &announce},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "4(n + 2⌊n/2⌋ + 4⌊n/3⌋ + 8⌊n/5⌋ + …)", Source: "S3 section 4; never reached",
				Value: most,
			},
			{
				Of: "election", Case: election.Best, Formula: "6n - 8 + 4·2^⌈lg n⌉", Source: "derived: all but the largest send twice only; reached by monotone orders",
				Value: func(n uint64) uint64 { return 6*n + 4<<election.CeilLog(n) - 8 },
			},
			{
				Of: "election", Case: election.Average, Formula: "2n·Σ over stages of the probabilities of continuing - 2n", Source: "derived; equal to the mean over all orders for n up to 8",
				Mean: average,
			},
		},
		Adjust: revise,
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return bits.TrailingZeros32(m.Y) },
}

// revise changes the declaration for the other parameter values.
func revise(d *election.Declaration, p election.Parameters) {
	if announce.Is(p, "no") {
		d.Decides = election.LeaderOnly
	}
	if withdraw.Is(p, "early") {
		d.Counts = election.CountsVary
		d.Bounds = []election.Bound{d.Bounds[0], {
			Of: "election", Case: election.Best, Formula: "2n - 4 + 4·2^⌈lg n⌉", Source: "derived: the cost of the largest alone; reached if the others start last",
			Value: func(n uint64) uint64 { return 2*n + 4<<election.CeilLog(n) - 4 },
		}}
	}
}

// New returns a candidate that has not started.
func New(l election.Local) Process {
	return Process{ID: l.ID, Early: withdraw.Is(l.Parameters, "early"), Silent: announce.Is(l.Parameters, "no")}
}

// Start begins stage 0.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Withdrawn { // C1
		p.ask(out)
	}
}

// ask applies C2.
func (p *Process) ask(out *election.Out[Message]) {
	from := Message{ID: p.ID, Y: 1 << p.Stage}
	out.Send(0, From, from)
	out.Send(1, From, from)
}

// Receive handles a message.
func (p *Process) Receive(port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch {
	case kind == From:
		p.answer(port, m, out)
	case kind == Leader:
		if m.ID != p.ID {
			out.Send(1-port, Leader, m)
			out.Follow(m.ID, 0)
		}
	case m.ID != p.ID: // R4
		out.Send(1-port, kind, m)
	case kind == No: // C3
		p.Withdrawn = true
	default: // C4. The count is of two, since the other answer may be a no.
		if p.Oks++; p.Oks == 2 && !p.Withdrawn {
			p.Oks = 0
			p.Stage++
			p.ask(out)
		}
	}
}

// answer handles {from, …}.
func (p *Process) answer(port election.Port, m Message, out *election.Out[Message]) {
	switch {
	case m.ID == p.ID: // C5
		p.win(out)
		return
	case m.ID < p.ID: // R1
		out.Send(port, No, Message{ID: m.ID, Y: m.Y})
		return
	case m.X+1 == m.Y: // R2
		out.Send(port, Ok, Message{ID: m.ID, Y: m.Y})
	default: // R3
		out.Send(1-port, From, Message{m.ID, m.X + 1, m.Y})
	}
	p.Withdrawn = p.Withdrawn || p.Early
}

// win makes the processor leader, once: its second message returns, too.
func (p *Process) win(out *election.Out[Message]) {
	if p.Elected {
		return
	}
	p.Elected = true
	out.Lead(0)
	if !p.Silent {
		out.Send(0, Leader, Message{ID: p.ID})
	}
}

// most returns S3's bound. A candidate in stage i > 0 has at least 2^(i-1) smaller identifiers on either side, so
// there are at most n/(2^(i-1) + 1) of them. Each causes at most 4·2^i messages.
func most(n uint64) uint64 {
	sum := n
	for side := uint64(1); side+1 <= n; side *= 2 {
		sum += 2 * side * (n / (side + 1))
	}
	return 4 * sum
}

// average returns the exact mean over all orders. All messages but the leader's last two, of n hops each, are
// answered over the same distance.
func average(n uint64) float64 {
	probes, _ := mean.Probes(n)
	return 2*probes - 2*float64(n)
}
