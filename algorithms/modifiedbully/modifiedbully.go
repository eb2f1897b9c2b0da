// Package modifiedbully elects the live process of highest identifier on a complete graph of known members, with at
// most 3n messages where Bully needs n² (Mamun, Masum and Mustafa 2004). Higher processes only answer, and start no
// elections.
//
// Source: Mamun, Masum and Mustafa, "Modified Bully algorithm for electing coordinator in distributed systems", 2004,
// in outline:
//
//  1. A process that finds that the coordinator has failed sends ELECTION to all higher processes.
//  2. These answer OK.
//  3. If none does, the asker announces itself. Otherwise, when all live processes have answered, it sends GRANT to
//     the highest of them.
//  4. The granted process sends COORDINATOR.
//
// It assumes what package bully assumes: bounded delays, and a failure detector that makes no mistake.
//
// Read literally, the source is not enough when processes crash and recover. With three processes, one crash, one
// recovery and delays of 1 to 2 the checker finds no violation with all of the following rules, and for each rule a
// violation without it:
//
//   - A process that has answered and knows no coordinator starts an election if none is announced in time: the asker
//     may have crashed.
//   - The asker does so after its grant: the granted process may have crashed.
//   - A coordinator that is asked announces itself to the asker instead of OK: the asker may have forgotten it for a
//     deposed coordinator, and would believe the next message of that one.
//   - A process that knows a coordinator refuses a grant: a higher process may have recovered since.
//   - A process that hears of a coordinator below itself starts an election, as in package bully.
//   - A process that hears of a coordinator below the one that it follows does so, too, as there.
//
// A coordinator that learns that a suspicion was wrong announces itself again, as in package bully.
package modifiedbully

import (
	"math"
	"math/big"

	"ringleader.example/ringleader/election"
)

// The kinds of message.
const (
	Election election.Kind = iota
	OK
	Grant
	Coordinator
)

// The timers.
const (
	AnswerTimeout  election.Timer = iota // T1: all live processes have answered
	VictoryTimeout                       // T2: the process that should announce a coordinator has crashed
)

// Message is empty: its kind and its port carry all.
type Message struct{}

// Stage is what a process waits for.
type Stage uint8

// The stages.
const (
	Normal   Stage = iota
	Electing       // collects answers: T1 runs
	Waiting        // for a coordinator, after a grant or an answer: T2 runs
)

// Process is the state of one process.
type Process struct {
	ID          election.ID
	Members     election.ID `election:"constant"` // they are 1 … Members
	Coordinator election.ID // 0 if not known
	Highest     election.ID // of the processes that have answered; 0 if none has
	Stage       Stage
	LowerOnly   bool           `election:"constant"` // victory=lower
	T1, T2      election.Ticks `election:"constant"`
}

// The parameters.
var (
	victory = election.Choice{
		Name: "victory", Words: []string{"others", "lower"},
		About: "the receivers of a new coordinator's announcement: all others or the lower ones only",
	}
	delay = election.Number{
		Name: "delay", Whole: true, Least: 1, Most: 1 << 60, Default: "1",
		About: "the longest time from sending a message to the end of its handling",
	}
	answerTimeout = election.Number{
		Name: "answer-timeout", Whole: true, Least: 1, Most: 1 << 62, Default: "2·delay + 1",
		About:   "T1, the time for collecting answers; more than 2·delay, or a live process is considered dead",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 2, 1) },
	}
	victoryTimeout = election.Number{
		Name: "victory-timeout", Whole: true, Least: 1, Most: math.MaxInt64, Default: "answer-timeout + 2·delay + 1",
		About: "T2, how long to wait for a coordinator after an answer or a grant",
		Derived: func(p election.Parameters) *big.Rat {
			t2 := delay.Linear(p, 2, 1)
			return t2.Add(t2, answerTimeout.Rational(p))
		},
	}
)

// Algorithm is the modified Bully algorithm.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "modified-bully",
		Title:  "Modified Bully (Mamun, Masum, Mustafa)",
		Year:   2004,
		Source: "Mamun–Masum–Mustafa 2004",
		About: "A process that suspects the coordinator asks all higher ones, which start no elections of their own. It grants the highest " +
			"that answers, which announces itself to the others: at most 3n messages, where Bully has n². There is no quorum.",
		Topology: election.Complete,
		Timing:   election.Timed,
		FIFO:     true,
		Task:     election.Service,
		Winner:   election.Largest,
		Survives: election.Crash | election.Recovery,
		Kinds: []election.MessageKind{
			{Name: "election", Class: election.Election},
			{Name: "ok", Class: election.Election},
			{Name: "grant", Class: election.Election},
			{Name: "coordinator", Class: election.Announcement},
		},
		Timers:     []string{"answer timeout", "victory timeout"},
		Parameters: []election.Parameter{&victory, &delay, &answerTimeout, &victoryTimeout},
		Delay:      &delay,
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "2n - 1, or 0 if n = 1", OneStart: true,
				Source: "n-1 ELECTION, n-1 OK and a GRANT; reached if the lowest initiates",
				Value: func(n uint64) uint64 {
					if n == 1 {
						return 0
					}
					return 2*n - 1
				},
			},
			{
				Of: "total", Case: election.Best, Formula: "n - 1", Source: "the announcement; reached if the highest alone initiates",
				Value: func(n uint64) uint64 { return n - 1 },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Timeout: (*Process).Timeout,
	Recover: (*Process).Start,
	Suspect: (*Process).Suspect,
	Trust:   (*Process).Trust,
}

// New returns a process that knows no coordinator.
func New(l election.Local) Process {
	return Process{
		ID: l.ID, Members: election.ID(l.Degree),
		LowerOnly: victory.Is(l.Parameters, "lower"),
		T1:        answerTimeout.Ticks(l.Parameters),
		T2:        victoryTimeout.Ticks(l.Parameters),
	}
}

// Start starts an election; the process finds no coordinator, at the beginning or after its own recovery.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Stage == Normal {
		p.elect(out)
	}
}

// Suspect handles the failure detector's suspicion of the process behind a port.
func (p *Process) Suspect(port election.Port, out *election.Out[Message]) {
	if election.From(port) == p.Coordinator {
		p.doubt(true, out)
		p.Start(out)
	}
}

// doubt forgets the coordinator if there is reason to.
func (p *Process) doubt(reason bool, out *election.Out[Message]) {
	if reason && p.Coordinator != 0 {
		p.Coordinator = 0
		out.NoLeader()
	}
}

// Trust comes after a pause or a partition: each side may have a coordinator.
func (p *Process) Trust(port election.Port, out *election.Out[Message]) {
	switch {
	case p.Coordinator != p.ID: // our coordinator will announce itself
	case election.From(port) < p.ID:
		out.Send(port, Coordinator, Message{})
	default: // a higher process is back
		p.Start(out)
	}
}

// elect applies step 1.
func (p *Process) elect(out *election.Out[Message]) {
	if p.ID == p.Members {
		p.win(out)
		return
	}
	for j := p.ID + 1; j <= p.Members; j++ {
		out.Send(election.To(j), Election, Message{})
	}
	p.Highest = 0
	p.Stage = Electing
	out.After(AnswerTimeout, p.T1)
}

// win announces the process itself.
func (p *Process) win(out *election.Out[Message]) {
	p.settle(p.ID, out)
	for j := election.ID(1); j <= p.Members; j++ {
		if j < p.ID || j > p.ID && !p.LowerOnly {
			out.Send(election.To(j), Coordinator, Message{})
		}
	}
	out.Lead(0)
}

// settle ends the waiting of a process.
func (p *Process) settle(coordinator election.ID, out *election.Out[Message]) {
	p.Stage = Normal
	p.Coordinator = coordinator
	p.Highest = 0
	out.Stop(AnswerTimeout)
	out.Stop(VictoryTimeout)
}

// wait waits for a coordinator.
func (p *Process) wait(out *election.Out[Message]) {
	p.Stage = Waiting
	p.Highest = 0
	out.After(VictoryTimeout, p.T2)
}

// Timeout applies step 3, and starts an election if no coordinator was announced.
func (p *Process) Timeout(timer election.Timer, out *election.Out[Message]) {
	switch {
	case timer == VictoryTimeout:
		p.elect(out)
	case p.Highest == 0: // no higher process is live
		p.win(out)
	default:
		out.Send(election.To(p.Highest), Grant, Message{})
		p.wait(out)
	}
}

// Receive handles a message.
func (p *Process) Receive(port election.Port, kind election.Kind, _ Message, out *election.Out[Message]) {
	j := election.From(port)
	switch kind {
	case Election: // j < p.ID
		if p.Coordinator == p.ID {
			out.Send(port, Coordinator, Message{})
			return
		}
		out.Send(port, OK, Message{}) // step 2
		if p.Stage == Normal && p.Coordinator == 0 {
			p.wait(out)
		}
	case OK:
		if p.Stage == Electing {
			p.Highest = max(p.Highest, j)
		}
	case Grant: // step 4
		if p.Coordinator == 0 {
			p.win(out)
		}
	case Coordinator:
		if j < p.ID || j < p.Coordinator { // a premature winner, or a deposed one
			p.doubt(p.Coordinator != p.ID, out)
			p.Start(out)
			return
		}
		p.settle(j, out)
		out.Follow(j, 0)
	}
}
