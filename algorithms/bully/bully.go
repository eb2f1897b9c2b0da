// Package bully elects the live process of highest identifier on a complete graph of known members (Garcia-Molina
// 1982). A process that suspects the coordinator asks all processes of higher identifier; if none answers, it takes
// over.
//
// Source: S4, rules 1-5, cited below; S2 section 2.3.1.
//
// S4 is safe and live only if every message arrives within delay and is handled at once, the failure detector makes
// no mistake, and a suspicion comes after the last message of the crashed process.
//
// Differences from S4 as printed, and the reason for each:
//
//   - A process that hears of a coordinator below itself starts an election: the "bullying" of older versions of S4.
//     Without this rule a premature winner stays for ever.
//   - A process that hears of a coordinator below the one that it follows starts an election, too. Without this rule
//     a deposed coordinator's message that arrives after its successor's is believed for ever. The checker finds this
//     with three processes, delays of 1 to 2, one crash and one recovery.
//   - A coordinator that learns that a suspicion was wrong announces itself again. S4's failure detector is never
//     wrong; a real one is.
//
// bullying=no turns the first two off. That is rule 5 as printed; it tolerates crashes, but no recovery.
//
// Two more parameters decide what S4 leaves open:
//
//   - known-dead=skipped: no process asks those that its failure detector calls dead. With decides, in addition, a
//     process ignores coordinators below the one that it follows, while its failure detector does not call that one
//     dead. Two processes that do not hear each other then do not make those that hear both change sides. A process
//     stops waiting for a higher one when all of them are called dead.
//   - asked-coordinator=tells: a coordinator that is asked announces itself to the asker only. By rule 4 it has "not
//     already started an election", so it starts one. If no process is left to ask, it wins at once and announces
//     itself to all again, once for each question. With N = 5, process 5 known to be dead and process 1 asking first,
//     that takes 9 messages instead of 3 (victory=lower), or 12 instead of 4 (others). The highest process of all
//     does so whatever is known. If a link between two of many processes is cut, two coordinators are contested in
//     turn; then this parameter decides whether the run ends.
//
// Dead processes are told of a victory in every mode: a live process that is called dead must be able to contest it.
//
// The n(n-1) election messages that S4's analysis suggests are no bound, even without faults and with one initiator:
// by rule 4 a process that has heard of the coordinator starts another election for each question that arrives later.
// The checker finds 14 election messages among 4 processes. The number of elections can double from each process to
// the next.
package bully

import (
	"math"
	"math/big"
	"slices"

	"ringleader.example/ringleader/election"
)

// The kinds of message.
const (
	Election election.Kind = iota
	Answer
	Coordinator
)

// The timers.
const (
	AnswerTimeout  election.Timer = iota // T1: no Answer means that no higher process is live
	VictoryTimeout                       // T2: the process that answered has crashed before it won
)

// Message is empty: its kind and its port carry all.
type Message struct{}

type stage uint8

const (
	normal   stage = iota
	electing       // no answer yet: T1 runs
	waiting        // a higher process is live: T2 runs
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
	Dead        []bool         // known-dead=skipped or decides: by member - 1, whether the failure detector calls it dead; else nil
	T1, T2      election.Ticks `election:"constant"`
}

// The parameters.
var (
	victory = election.Choice{
		Name: "victory", Words: []string{"others", "lower"},
		About: "the receivers of a new coordinator's announcement: all others (S4 rule 2) or the lower ones only (S2 figure 2.8(e))",
	}
	bullying = election.Choice{
		Name: "bullying", Words: []string{"yes", "no"},
		About: "whether a process that hears of a coordinator below itself, or below the one that it follows, starts an election; " +
			"no: it follows every coordinator (S4 rule 5 as printed)",
	}
	knownDead = election.Choice{
		Name: "known-dead", Words: []string{"asked", "skipped", "decides"},
		About: "asked: processes also ask suspected ones; skipped: they do not; decides: in addition, a process " +
			"that follows a coordinator ignores lower ones until it suspects its own, and no process waits for a suspected one",
	}
	askedCoordinator = election.Choice{
		Name: "asked-coordinator", Words: []string{"elects", "tells"},
		About: "what a coordinator that is asked does besides answering; elects: it starts an election (S4 rule 4), " +
			"which it may win at once and announce to all; tells: it announces itself to the asker only",
	}
	delay = election.Number{
		Name: "delay", Whole: true, Least: 1, Most: 1 << 62, Default: "1",
		About: "the longest time from sending a message to the end of its handling",
	}
	answerTimeout = election.Number{
		Name: "answer-timeout", Whole: true, Least: 1, Default: "2·delay + 1",
		About:   "T1, how long to wait for an answer; more than 2·delay, or a live process is considered dead",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 2, 1) },
	}
	victoryTimeout = election.Number{
		Name: "victory-timeout", Whole: true, Least: 1, Default: "answer-timeout + 2·delay + 1",
		About: "T2, how long to wait for the victory of a process that answered",
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
		About: "A process that suspects the coordinator asks all higher ones. If one answers, it waits; if none does, it becomes " +
			"coordinator and announces that to all others. There is no quorum: each side of a partition has its own coordinator.",
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
				Source: "S4 rule 4: an election for each question, so process j > 1 starts at most 2^(j-2); n(n-1) if no process " +
					"hears of the coordinator before the last question",
				Value: func(n uint64) uint64 { return power(n, 2) },
			},
			{
				Of: "election", Case: election.Worst, Formula: "2^(n+1) - 2n - 2",
				Source: "as with one initiator, but process j starts at most 2^(j-1) elections",
				Value:  func(n uint64) uint64 { return power(n+1, 2*n+2) },
			},
			{
				Of: "total", Case: election.Best, Formula: "n - 1", Source: "the announcement; reached if the highest alone initiates",
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

// power returns 2ⁿ - less, or the largest number if that is larger. less is not 0.
func power(n, less uint64) uint64 {
	if n > 64 {
		return math.MaxUint64
	}
	return 1<<n - less // 1<<64 is 0, which is 2⁶⁴ here
}

// New returns a process that knows no coordinator.
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

// Start starts an election; the process finds no coordinator, at the beginning or after its own recovery.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Stage == normal {
		p.elect(out)
	}
}

// Suspect handles "the failure detector indicates that the current coordinator has failed".
func (p *Process) Suspect(port election.Port, out *election.Out[Message]) {
	p.learn(election.From(port), true)
	if election.From(port) == p.Coordinator {
		p.doubt(true, out)
		p.Start(out)
	}
	if p.Loyal && p.Stage != normal && p.highestAlive() {
		out.Stop(AnswerTimeout)
		out.Stop(VictoryTimeout)
		p.win(out)
	}
}

// highestAlive reports whether all higher members are known to be dead: no answer and no victory can come.
func (p *Process) highestAlive() bool { return !slices.Contains(p.Dead[p.ID:], false) }

// doubt forgets the coordinator if there is reason to.
func (p *Process) doubt(reason bool, out *election.Out[Message]) {
	if reason && p.Coordinator != 0 {
		p.Coordinator = 0
		out.NoLeader()
	}
}

// learn records that a member is dead or alive, if the parameters need that.
func (p *Process) learn(member election.ID, dead bool) {
	if p.Dead != nil && p.Dead[member-1] != dead {
		p.Dead = slices.Clone(p.Dead) // copies of the state share it
		p.Dead[member-1] = dead
	}
}

// Trust comes after a pause or a partition, which S4 does not have. Each side may have a coordinator.
func (p *Process) Trust(port election.Port, out *election.Out[Message]) {
	p.learn(election.From(port), false)
	switch {
	case p.Coordinator != p.ID: // our coordinator will announce itself
	case election.From(port) < p.ID:
		out.Send(port, Coordinator, Message{})
	default: // a higher process is back
		p.Start(out)
	}
}

// highest returns the member of highest identifier.
func (p *Process) highest() election.ID { return election.ID(p.Members) }

// elect starts an election: rule 1.
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

// win ends rules 1 and 2.
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

// Timeout applies rule 2, and the parenthesis of rule 3.
func (p *Process) Timeout(timer election.Timer, out *election.Out[Message]) {
	switch timer {
	case AnswerTimeout:
		p.win(out)
	case VictoryTimeout:
		p.elect(out)
	}
}

// Receive applies rules 3, 4 and 5.
func (p *Process) Receive(port election.Port, kind election.Kind, _ Message, out *election.Out[Message]) {
	j := election.From(port)
	p.learn(j, false) // any message comes from the present life
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
