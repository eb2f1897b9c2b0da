// Package bully elects the live process of highest identifier among known members, after Garcia-Molina:
// who suspects the coordinator asks all higher ones, and whoever hears no answer takes over.
//
// Source: S4, its rules 1-5, cited below; S2 section 2.3.1. Added to S4 as printed, and why:
//
//   - A process that hears of a coordinator below itself holds an election: the "bullying" of older
//     statements of S4. Without it a premature winner stays for ever.
//   - So does one that hears of a coordinator below the one that it follows. Without it the message of
//     a deposed coordinator that comes after its successor's is believed for ever: the checker finds
//     this with three processes, delays of 1 to 2, one crash and one recovery.
//   - A coordinator that learns that a suspicion was wrong presents itself again: S4's failure detector
//     is never wrong, a real one is.
//
// The first two are off with bullying=no, which is rule 5 as printed: it survives crashes, but no recovery.
//
// S4 is safe and live only if every message arrives within delay and is handled at once, if the failure
// detector is right, and if a suspicion comes after the last message of the dead.
//
// Two more parameters say what S4 leaves open. With known-dead=skipped nobody asks those whom its failure
// detector calls dead. With known-dead=decides, moreover, a process that follows a coordinator, which its failure
// detector does not call dead, ignores those below it: two that do not hear each other then do not make those who
// hear both change sides. The dead are told of a victory all the same: who is called dead and lives must be able to
// contest it. And a coordinator that is asked has, to rule 4, "not already started an election", so it holds
// one. If nobody is left to ask, it wins again at once and tells everybody, for each that asks: with N = 5, of
// whom 5 is known to be dead, and 1 asking first, 9 messages instead of 3 (victory=lower), 12 instead of 4
// (others). So it goes for the highest of all, whatever is known. With asked-coordinator=tells it tells only the one
// that asked. Under a cut between two of many, where two coordinators are contested in turn, that is the difference
// between an end and none.
//
// The n(n-1) election messages that S4's analysis suggests are no bound, even if all live and one process starts:
// by rule 4 a process that has heard of the coordinator holds another election for each question that comes
// later. The checker finds 14 of them among 4 processes. Elections can double from each process to the next.
package bully

import (
	"math"
	"math/big"
	"slices"

	"ringleader.example/ringleader/election"
)

// The messages.
const (
	Election election.Kind = iota
	Answer
	Coordinator
)

// The timers.
const (
	AnswerTimeout  election.Timer = iota // T1: no Answer means that no higher process lives
	VictoryTimeout                       // T2: who answered has died before it won
)

// Message is empty: the kind says all, and the port who sent it.
type Message struct{}

type stage uint8

const (
	normal   stage = iota
	electing       // no answer yet: T1 runs
	waiting        // somebody higher is alive: T2 runs
)

// Process is the state of one process.
type Process struct {
	ID          election.ID
	Members     uint32      `election:"constant"` // they are 1 … Members
	Coordinator election.ID // 0 if not known
	Stage       stage
	LowerOnly   bool           `election:"constant"` // victory=lower
	Believes    bool           `election:"constant"` // bullying=no: every coordinator
	Tells       bool           `election:"constant"` // asked-coordinator=tells
	Loyal       bool           `election:"constant"` // known-dead=decides
	Dead        []bool         // known-dead=skipped or decides: by member - 1, whom the failure detector calls dead; else nil
	T1, T2      election.Ticks `election:"constant"`
}

// The parameters.
var (
	victory = election.Choice{
		Name: "victory", Words: []string{"others", "lower"},
		About: "whom a new coordinator tells: all others (S4 rule 2) or the lower ones only (S2 figure 2.8(e))",
	}
	bullying = election.Choice{
		Name: "bullying", Words: []string{"yes", "no"},
		About: "whether who hears of a coordinator below itself, or below the one that it follows, holds an election; " +
			"no: it believes every one (S4 rule 5 as printed)",
	}
	knownDead = election.Choice{
		Name: "known-dead", Words: []string{"asked", "skipped", "decides"},
		About: "whether processes are asked that the failure detector calls dead; decides: they are not, and a process that " +
			"follows a coordinator ignores those below it until that one is called dead",
	}
	askedCoordinator = election.Choice{
		Name: "asked-coordinator", Words: []string{"elects", "tells"},
		About: "what a coordinator does that is asked, besides answering: it holds an election (S4 rule 4), " +
			"which it may win at once and announce to all, or tells the one that asked",
	}
	delay = election.Number{
		Name: "delay", Whole: true, Least: 1, Most: 1 << 62, Default: "1",
		About: "the longest time that a message takes, and its handling",
	}
	answerTimeout = election.Number{
		Name: "answer-timeout", Whole: true, Least: 1, Default: "2·delay + 1",
		About:   "T1, how long to wait for an answer; more than 2·delay, or a live process is taken for dead",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 2, 1) },
	}
	victoryTimeout = election.Number{
		Name: "victory-timeout", Whole: true, Least: 1, Default: "answer-timeout + 2·delay + 1",
		About: "T2, how long to wait for the victory of one that answered",
		Derived: func(p election.Parameters) *big.Rat {
			t2 := delay.Linear(p, 2, 1)
			return t2.Add(t2, answerTimeout.Rational(p))
		},
	}
)

// Algorithm is the Bully algorithm.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "bully",
		Title:  "Bully (Garcia-Molina)",
		Year:   1982,
		Source: "Garcia-Molina 1982 (S4); S2 section 2.3.1",
		About: "A process that suspects the coordinator asks all higher ones. An answer silences it; silence makes it the " +
			"coordinator, and it tells all others. Two sides of a partition have a coordinator each: there is no quorum.",
		Topology: election.Complete,
		Timing:   election.Timed,
		FIFO:     true,
		Task:     election.Service,
		Winner:   election.Largest,
		Survives: election.Crash | election.Recovery,
		Kinds: []election.MessageKind{
			{Name: "election", Class: election.Election},
			{Name: "answer", Class: election.Election},
			{Name: "coordinator", Class: election.Announcement},
		},
		Timers:     []string{"answer timeout", "victory timeout"},
		Parameters: []election.Parameter{&victory, &bullying, &knownDead, &askedCoordinator, &delay, &answerTimeout, &victoryTimeout},
		Delay:      &delay,
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "2^n - 2", OneStart: true,
				Source: "S4 rule 4: an election for each question, so process j > 1 holds at most 2^(j-2); n(n-1) if nobody " +
					"hears of the coordinator before the last question",
				Value: func(n uint64) uint64 { return power(n, 2) },
			},
			{
				Of: "election", Case: election.Worst, Formula: "2^(n+1) - 2n - 2",
				Source: "likewise if any may start: process j holds at most 2^(j-1) elections",
				Value:  func(n uint64) uint64 { return power(n+1, 2*n+2) },
			},
			{
				Of: "total", Case: election.Best, Formula: "n - 1", Source: "the announcement; reached if the highest alone starts",
				Value: func(n uint64) uint64 { return n - 1 },
			},
		},
		Adjust: func(d *election.Declaration, p election.Parameters) {
			if bullying.Is(p, "no") {
				d.Survives = election.Crash
			}
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

// power is 2ⁿ - less, or the largest number if that is larger. less is not 0.
func power(n, less uint64) uint64 {
	if n > 64 {
		return math.MaxUint64
	}
	return 1<<n - less // 1<<64 is 0, which is 2⁶⁴ here
}

// New is a process that knows no coordinator.
func New(l election.Local) Process {
	p := Process{
		ID: l.ID, Members: uint32(l.Degree),
		LowerOnly: victory.Is(l.Parameters, "lower"),
		Believes:  bullying.Is(l.Parameters, "no"),
		Tells:     askedCoordinator.Is(l.Parameters, "tells"),
		Loyal:     knownDead.Is(l.Parameters, "decides"),
		T1:        answerTimeout.Ticks(l.Parameters),
		T2:        victoryTimeout.Ticks(l.Parameters),
	}
	if p.Loyal || knownDead.Is(l.Parameters, "skipped") {
		p.Dead = make([]bool, p.Members)
	}
	return p
}

// Start is for one who finds no coordinator, at the beginning or after its own recovery.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Stage == normal {
		p.elect(out)
	}
}

// Suspect: "the failure detector indicates that the current coordinator has failed".
func (p *Process) Suspect(port election.Port, out *election.Out[Message]) {
	p.learn(election.From(port), true)
	if election.From(port) == p.Coordinator {
		p.doubt(true, out)
		p.Start(out)
	}
}

// doubt forgets the coordinator, if there is reason to.
func (p *Process) doubt(reason bool, out *election.Out[Message]) {
	if reason && p.Coordinator != 0 {
		p.Coordinator = 0
		out.NoLeader()
	}
}

// learn remembers that a member is dead, or lives, if that matters.
func (p *Process) learn(member election.ID, dead bool) {
	if p.Dead != nil && p.Dead[member-1] != dead {
		p.Dead = slices.Clone(p.Dead) // copies of the state share it
		p.Dead[member-1] = dead
	}
}

// Trust comes after a pause or a partition, which S4 does not know: each side may have a coordinator.
func (p *Process) Trust(port election.Port, out *election.Out[Message]) {
	p.learn(election.From(port), false)
	switch {
	case p.Coordinator != p.ID: // the one who leads us will say so
	case election.From(port) < p.ID:
		out.Send(port, Coordinator, Message{})
	default: // somebody higher is back
		p.Start(out)
	}
}

// highest is the member of highest identifier.
func (p *Process) highest() election.ID { return election.ID(p.Members) }

// elect is rule 1.
func (p *Process) elect(out *election.Out[Message]) {
	asks := false
	for j := p.ID + 1; j <= p.highest(); j++ {
		if p.Dead == nil || !p.Dead[j-1] {
			out.Send(election.To(j), Election, Message{})
			asks = true
		}
	}
	if !asks { // it "has the highest process ID"
		p.win(out)
		return
	}
	p.Stage = electing
	out.After(AnswerTimeout, p.T1)
}

// win is the end of rules 1 and 2.
func (p *Process) win(out *election.Out[Message]) {
	p.Stage = normal
	p.Coordinator = p.ID
	for j := election.ID(1); j <= p.highest(); j++ {
		if j < p.ID || j > p.ID && !p.LowerOnly {
			out.Send(election.To(j), Coordinator, Message{})
		}
	}
	out.Lead(0)
}

// Timeout is rule 2, and the parenthesis of rule 3.
func (p *Process) Timeout(timer election.Timer, out *election.Out[Message]) {
	switch timer {
	case AnswerTimeout:
		p.win(out)
	case VictoryTimeout:
		p.elect(out)
	}
}

// Receive is rules 3, 4 and 5.
func (p *Process) Receive(port election.Port, kind election.Kind, _ Message, out *election.Out[Message]) {
	j := election.From(port)
	p.learn(j, false) // whatever it was: this is a new life's
	switch kind {
	case Answer: // rule 3
		if p.Stage == electing {
			p.Stage = waiting
			out.Stop(AnswerTimeout)
			out.After(VictoryTimeout, p.T2)
		}
	case Election: // rule 4: j < p.ID
		out.Send(port, Answer, Message{})
		if p.Tells && p.Coordinator == p.ID {
			out.Send(port, Coordinator, Message{})
			return
		}
		p.Start(out)
	case Coordinator:
		if p.Loyal && p.Coordinator != p.ID && j < p.Coordinator {
			return
		}
		if !p.Believes && (j < p.ID || j < p.Coordinator) { // bullying, which is not in rule 5 as printed
			p.doubt(p.Coordinator != p.ID, out)
			p.Start(out)
			return
		}
		p.Stage = normal // rule 5
		p.Coordinator = j
		out.Stop(AnswerTimeout)
		out.Stop(VictoryTimeout)
		out.Follow(j, 0)
	}
}
