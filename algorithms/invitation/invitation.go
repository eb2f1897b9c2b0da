// Package invitation gathers known members of a complete graph into groups, each with a coordinator, and merges
// groups that can reach each other: the second algorithm of Garcia-Molina 1982, which works during partitions.
//
// Source: H. Garcia-Molina, "Elections in a distributed computing system", 1982. Timers, the order of timers and
// messages that are due together, and rules C and D are ours. D is the longest delay. N is the number of members 1 …
// N; a larger identifier has higher priority.
//
//  1. A process that begins, recovers from a crash or loses its coordinator is alone: the coordinator of a new group.
//  2. A coordinator asks all others periodically whether they are coordinators.
//  3. If some are, it waits (N-i)·3D, so that the process of highest priority goes first. Then it invites them and
//     its own members into a new group. An invited coordinator passes the invitation on to its own members.
//  4. An invited process accepts, and waits until the new coordinator is ready.
//  5. A coordinator that has invited collects acceptances for 3D + 1, and informs the processes that accepted that it
//     is ready.
//  6. A member asks its coordinator periodically whether it is still there; if not, rule 1 applies.
//
// A group's name is its coordinator and a counter, which the coordinator keeps through crashes. The only promise at
// all times is about names: no name is ever given to two groups. Processes of different groups need not agree.
//
// That is the source's protocol. It can livelock: if two coordinators begin their merges within D of each other, they ignore
// each other's invitations, and with equal periods they do so for ever. The parameters rule-c=no and stagger=3 show
// it with two processes. So there are two more rules:
//
//   - Rule C: a process that collects acceptances gives in to an invitation of higher priority, and passes it on to
//     the processes that have accepted its own.
//   - Rule D: an acceptance that comes later is not lost. A process that has given in answers it with an invitation
//     to its new group, and a coordinator that is ready admits it. So a process that waits for a coordinator takes
//     another invitation from that coordinator.
//
// Without rule D the processes that the loser under rule C has invited wait in vain, fall back to a group of one, and
// may do so again in each period: four processes that begin at 18, 22, 26 and 29, with D = 1, never form one group.
package invitation

import (
	"math/big"

	"ringleader.example/ringleader/election"
)

// The kinds of message. All carry the name of a group, except the questions of rule 2 and their answers.
const (
	AreYouCoordinator election.Kind = iota
	Coordinator
	NotCoordinator
	Invite
	Accept
	Ready
	AreYouThere
	There
	NotThere
)

// The timers.
const (
	Check      election.Timer = iota // Tc: rule 2
	AnswersDue                       // all live processes have answered rule 2
	Merge                            // rule 3
	AcceptsDue                       // rule 5
	ReadyDue                         // an invited process gives up on its new coordinator
	Poll                             // Tp: rule 6
	ThereDue                         // the coordinator is not there
)

// Group is the name of a group.
type Group struct {
	Coordinator election.ID   `kinds:"invite,accept,ready,are-you-there,there,not-there"`
	Counter     election.Term `kinds:"invite,accept,ready,are-you-there,there,not-there"`
}

// Stage is the stage of a process.
type Stage uint8

// The stages.
const (
	Down       Stage = iota // has not begun
	Normal                  // coordinator or member of its group
	Election                // has invited, and collects acceptances
	Reorganize              // has accepted, and waits until its group is ready
)

// Process is the state of one process.
type Process struct {
	ID      election.ID
	N       election.ID `election:"constant"` // members are 1 … N
	Stage   Stage
	Group   Group
	Counter election.Term // of the groups that it has named; durable
	Members Set           // of a coordinator; in an election, the processes that have accepted
	Answers Set           // the processes that have answered that they are coordinators
	Others  Set           // the answers when they were due: the processes to invite

	RuleC                               bool           `election:"constant"`
	Delay                               election.Ticks `election:"constant"` // D
	FirstCheck, CheckPeriod, PollPeriod election.Ticks `election:"constant"`
}

// The parameters.
var (
	ruleC = election.Choice{
		Name: "rule-c", Words: []string{"yes", "no"},
		About: "whether a process that has invited others accepts an invitation of higher priority; no: two may invite each other for ever",
	}
	delay = election.Number{
		Name: "delay", Whole: true, Least: 1, Most: 1 << 56, Default: "1",
		About: "D, the longest time from sending a message to the end of its handling",
	}
	checkPeriod = election.Number{
		Name: "check-period", Whole: true, Most: 1 << 62, Default: "0",
		About: "Tc, the time between a coordinator's searches for others; 0 means 40·delay, or 3·delay·(n + 1) + 2 if longer, which is enough for a merge by the lowest process",
	}
	pollPeriod = election.Number{
		Name: "poll-period", Whole: true, Least: 1, Most: 1 << 62, Default: "20·delay",
		About:   "Tp, the time between a member's questions to its coordinator",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 20, 0) },
	}
	stagger = election.Number{
		Name: "stagger", Whole: true, Most: 1 << 56, Default: "0",
		About: "process i first looks for others (i - 1)·stagger after its start",
	}
)

// Algorithm is the invitation algorithm.
var Algorithm = election.Algorithm[Process, Group]{
	Declaration: election.Declaration{
		Name:   "invitation",
		Title:  "Invitation (Garcia-Molina)",
		Year:   1982,
		Source: "Garcia-Molina 1982",
		About: "Processes form groups, each with a coordinator, and coordinators that find each other merge their groups. It tolerates partitions: " +
			"each side has a coordinator, and agreement is guaranteed within a group only.",
		Topology: election.Complete,
		Timing:   election.Timed,
		Starts:   election.AllStart,
		Task:     election.Groups,
		Survives: election.Crash | election.Recovery | election.Partition,
		Settles:  settles,
		Kinds: []election.MessageKind{
			{Name: "are-you-coordinator", Class: election.Overhead},
			{Name: "coordinator", Class: election.Overhead},
			{Name: "not-coordinator", Class: election.Overhead},
			{Name: "invite", Class: election.Election},
			{Name: "accept", Class: election.Election},
			{Name: "ready", Class: election.Announcement},
			{Name: "are-you-there", Class: election.Overhead},
			{Name: "there", Class: election.Overhead},
			{Name: "not-there", Class: election.Overhead},
		},
		Timers:     []string{"check", "answers due", "merge", "accepts due", "ready due", "poll", "there due"},
		Parameters: []election.Parameter{&ruleC, &delay, &checkPeriod, &pollPeriod, &stagger},
		Delay:      &delay,
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Best, Formula: "2(n - 1)", Source: "all but one are invited and accept; reached if all initiate together",
				Value: func(n uint64) uint64 { return 2 * (n - 1) },
			},
			{
				Of: "announcement", Case: election.Best, Formula: "n - 1", Source: "all but one are told that their group is ready; reached if all initiate together",
				Value: func(n uint64) uint64 { return n - 1 },
			},
		},
		Adjust: revise,
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Timeout: (*Process).Timeout,
	Recover: (*Process).Start,
	Durable: func(p *Process) any { return &p.Counter },
}

// revise changes the declaration for rule-c=no, which claims that processes merge only if all start together.
func revise(d *election.Declaration, p election.Parameters) {
	if ruleC.Is(p, "no") {
		d.Starts = election.Together
		d.Survives = 0
	}
}

// period returns Tc.
func period(n uint64, p election.Parameters) election.Ticks {
	given, d := checkPeriod.Ticks(p), delay.Ticks(p)
	if !given.IsZero() {
		return given
	}
	usual, lowest := d.Times(40), d.Times(3*(n+1)).Add(election.Units(2))
	if usual.Less(lowest) {
		return lowest
	}
	return usual
}

// settles returns a time longer than any random fault script in the tests has taken to settle.
func settles(n uint64, p election.Parameters) election.Ticks {
	return period(n, p).Times(5).Add(pollPeriod.Ticks(p))
}

// New returns a process that has not begun.
func New(l election.Local) Process {
	return Process{
		ID: l.ID, N: election.ID(l.Degree),
		RuleC:       ruleC.Is(l.Parameters, "yes"),
		Delay:       delay.Ticks(l.Parameters),
		FirstCheck:  stagger.Ticks(l.Parameters).Times(uint64(l.ID - 1)),
		CheckPeriod: period(uint64(l.Degree), l.Parameters),
		PollPeriod:  pollPeriod.Ticks(l.Parameters),
	}
}

// delays returns times·D + more.
func (p *Process) delays(times, more uint64) election.Ticks {
	return p.Delay.Times(times).Add(election.Units(more))
}

// Start makes a process that begins or recovers a group of one.
func (p *Process) Start(out *election.Out[Group]) {
	p.single(out)
	out.After(Check, p.FirstCheck)
	out.After(Poll, p.PollPeriod)
}

// single applies rule 1.
func (p *Process) single(out *election.Out[Group]) {
	p.forget(out)
	p.Stage = Normal
	p.name()
	out.Lead(p.Counter)
}

// name gives a name to a new group.
func (p *Process) name() {
	p.Counter++
	p.Group = Group{p.ID, p.Counter}
}

// forget ends all that belongs to the group that the process leaves.
func (p *Process) forget(out *election.Out[Group]) {
	p.Members, p.Answers, p.Others = nil, nil, nil
	for _, timer := range []election.Timer{AnswersDue, Merge, AcceptsDue, ReadyDue, ThereDue} {
		out.Stop(timer)
	}
}

// coordinates reports whether the process is the coordinator of a group that is ready.
func (p *Process) coordinates() bool { return p.Stage == Normal && p.Group.Coordinator == p.ID }

// Timeout handles a timer.
func (p *Process) Timeout(timer election.Timer, out *election.Out[Group]) {
	switch timer {
	case Check:
		out.After(Check, p.CheckPeriod)
		if p.coordinates() {
			p.check(out)
		}
	case AnswersDue:
		if p.coordinates() && p.Answers != nil {
			p.Others = p.Answers
			out.After(Merge, p.Delay.Times(3*uint64(p.N-p.ID)))
		}
	case Merge:
		if p.coordinates() {
			p.merge(out)
		}
	case AcceptsDue:
		p.ready(out)
	case Poll:
		out.After(Poll, p.PollPeriod)
		if p.Stage == Normal && p.Group.Coordinator != p.ID {
			out.Send(election.To(p.Group.Coordinator), AreYouThere, p.Group)
			out.After(ThereDue, p.delays(2, 1))
		}
	case ReadyDue, ThereDue:
		p.single(out)
	}
}

// check applies rule 2.
func (p *Process) check(out *election.Out[Group]) {
	p.Answers = nil
	for j := election.ID(1); j <= p.N; j++ {
		if j != p.ID {
			out.Send(election.To(j), AreYouCoordinator, Group{})
		}
	}
	out.After(AnswersDue, p.delays(2, 1))
}

// merge applies rule 3.
func (p *Process) merge(out *election.Out[Group]) {
	p.name()
	p.Stage = Election
	for j := election.ID(1); j <= p.N; j++ {
		if p.Others.Has(j) || p.Members.Has(j) {
			out.Send(election.To(j), Invite, p.Group)
		}
	}
	p.Members = nil
	out.After(AcceptsDue, p.delays(3, 1))
	out.NoLeader()
}

// ready applies rule 5.
func (p *Process) ready(out *election.Out[Group]) {
	p.Stage = Normal
	for j := election.ID(1); j <= p.N; j++ {
		if p.Members.Has(j) {
			out.Send(election.To(j), Ready, p.Group)
		}
	}
	out.Lead(p.Group.Counter)
}

// Receive handles a message.
func (p *Process) Receive(port election.Port, kind election.Kind, group Group, out *election.Out[Group]) {
	j := election.From(port)
	answer := func(is bool, yes, no election.Kind) {
		if is {
			no = yes
		}
		out.Send(port, no, group)
	}
	switch kind {
	case AreYouCoordinator:
		answer(p.coordinates(), Coordinator, NotCoordinator)
	case Coordinator:
		p.Answers = p.Answers.With(j)
	case Invite:
		if p.takes(group, j) {
			p.join(group, out)
		}
	case Accept:
		p.accepted(group, j, out)
	case Ready:
		if p.Stage == Reorganize && p.Group == group {
			p.Stage = Normal
			out.Stop(ReadyDue)
			out.Follow(group.Coordinator, group.Counter)
		}
	case AreYouThere:
		answer(p.coordinates() && p.Group == group && p.Members.Has(j), There, NotThere)
	case There:
		if p.Group == group {
			out.Stop(ThereDue)
		}
	case NotThere:
		if p.Stage == Normal && p.Group == group {
			p.single(out)
		}
	}
}

// takes reports whether the process takes an invitation from j.
func (p *Process) takes(group Group, j election.ID) bool {
	switch {
	case !p.RuleC:
		return p.Stage == Normal
	case p.Stage == Election:
		return group.Coordinator > p.ID
	case p.Stage == Reorganize: // rule D
		return j == p.Group.Coordinator
	}
	return p.Stage == Normal
}

// accepted applies rules 5 and D.
func (p *Process) accepted(group Group, j election.ID, out *election.Out[Group]) {
	switch {
	case p.Stage == Election && p.Group == group:
		p.Members = p.Members.With(j)
	case !p.RuleC || p.Stage == Down:
	case p.Stage == Normal && p.Group == group:
		p.Members = p.Members.With(j)
		out.Send(election.To(j), Ready, group)
	case p.Group.Coordinator != p.ID:
		out.Send(election.To(j), Invite, p.Group)
	}
}

// join applies rule 4. The process's own members, or those that have accepted its own invitation, come with it.
func (p *Process) join(group Group, out *election.Out[Group]) {
	for j := election.ID(1); j <= p.N; j++ {
		if p.Members.Has(j) {
			out.Send(election.To(j), Invite, group)
		}
	}
	p.forget(out)
	p.Stage = Reorganize
	p.Group = group
	out.Send(election.To(group.Coordinator), Accept, group)
	out.After(ReadyDue, p.delays(6, 3))
	out.NoLeader()
}
