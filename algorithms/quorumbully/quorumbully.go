package quorumbully

import (
	"math"
	"math/big"

	"ringleader.example/ringleader/election"
)

// The messages.
const (
	Election election.Kind = iota // Bully stage: how do you stand? It carries facts
	Answer                        // … and this is how
	Claim                         // grant me a lease in a new term; it carries facts
	Renew                         // this term is won: grant me a lease in it
	Grant                         // answers Claim and Renew
	Nack                          // likewise
	Release                       // a tenure or a claim is over
	Offer                         // rule 8: would you lead?
	Ready                         // … yes, and a majority would grant it
)

// The timers.
const (
	Bound    election.Timer = iota // rule 2: the grant given has run out
	Wait                           // rule 4: the wait after a restart is over
	Lapse                          // rule 3: the deadline has come
	Renewal                        // H: the leader asks for its lease again
	StageEnd                       // of the Bully stage: Te, Td, Tc or a pause
	Probing                        // rule 8: members that were probed have not answered in time
	Offering                       // rule 8: the leader looks for a member of higher rank
)

// Message is the content of all messages. Each kind fills in what it needs, and the rest is zero.
type Message struct {
	Sender    Sender
	Request   Request  // Claim and Renew, echoed by Grant and Nack; of Release, Offer and Ready the term
	Standing  Standing // Answer; of Election and Nack the promise
	Facts     []Fact   // Election, Claim
	Successor election.ID
	Episode   uint8 // of Election, echoed by Answer
	Probe     bool  // likewise: it is asked for rule 8
	Reason    Reason
}

// Sender holds what changes about the sender of a message; its identifier is known by the port.
type Sender struct {
	Incarnation uint64
	Weight      uint16
	Able        bool // it could claim, were it free
}

// Request is a request for a lease.
type Request struct {
	Term        election.Term
	Incarnation uint64 // of the member that asks
	Number      uint64 // among the requests of its term; of Offer and Ready among the offers
	Lease       uint64 // how long, in units
}

// Standing is how a member stands, as to grants.
type Standing struct {
	Promise     election.Term // P
	FreeIn      uint64        // how long it may still be bound to another member; 0: it is free
	Holder      election.ID   // of the grant that it has given; 0: none
	Incarnation uint64        // of the holder
	Leads       bool
}

// Reason is why a request is refused.
type Reason uint8

// The reasons.
const (
	_ Reason = iota
	LowTerm
	IsBound
	IsWaiting
	IsFinished
	Misfits // the configuration: the lease is too long, or the term too far away
)

// Fact is a stable fact (rules 5 and 6): what this incarnation had up to this term is over. With the term Dead all that
// it had is, for ever.
type Fact struct {
	Member      election.ID
	Incarnation uint64
	Term        election.Term
}

// Dead is the term of the fact that an incarnation is dead.
const Dead = election.Term(math.MaxUint64)

// Role is what a member is doing about leases of its own.
type Role uint8

// The roles.
const (
	Follower Role = iota
	Candidate
	Leader
	Stopping // it holds its lease, and its work is about to stop
)

// Stage is where a member stands in the Bully stage.
type Stage uint8

// The stages.
const (
	Idle      Stage = iota
	Asking          // for Te it waits for answers
	Waiting         // until a majority is free
	Deferring       // for Td, to a member of higher rank
	Claiming        // for Tc, since its claim
	Pausing         // before it asks again
)

// Kept is what survives a crash.
type Kept struct {
	Incarnation uint64
	Promise     election.Term // P: the highest term ever granted or claimed
	Floor       election.Term // Fd: see F
	Longest     uint64        // the longest lease ever promised, in units
}

// Given is the grant that a member has given; while Holder is not 0 the timer Bound runs.
type Given struct {
	Holder      election.ID
	Incarnation uint64
	Term        election.Term
	Won         bool // the holder leads in that term
}

// Peer is what a member knows about another one, or about itself.
type Peer struct {
	Newest   uint64 // of its incarnations that were heard of
	Finished Fact   // the highest fact about it
	Weight   uint16 // as it said last
	Able     bool   // likewise
}

// Reply is what a member has answered in the Bully stage.
type Reply struct {
	Given  bool
	FreeIn uint64
	Leads  bool
}

// Probe is the question of rule 8, apart from the Bully stage.
type Probe struct {
	Leader      election.ID // 0: there is no probe
	Incarnation uint64
	Term        election.Term
	Number      uint64
	Would       []bool // by member - 1: it would grant, but for that leader
}

// requests is how many of the latest requests answers count for.
const requests = 8

// Process is the state of one member. All but Kept is as at birth after a crash.
type Process struct {
	ID      election.ID
	Members election.ID `election:"constant"` // they are 1 … Members
	Begun   bool        // before that it takes no part: a grant given before Recover would break rule 4
	Kept    Kept

	Given     Given             // rule 2
	Until     election.Deadline // about when the timer Bound expires
	F         election.Term     // rule 2: the lowest term that a Renew is granted in
	Restarted bool              // rule 4: the timer Wait runs
	WaitsTill election.Deadline // about when it expires

	Role      Role
	Term      election.Term               // of the claim or tenure
	Number    uint64                      // of its newest request
	Sent      [requests]election.Deadline // by number: until when its answer entitles
	Share     []election.Deadline         // by member - 1: until when its newest answer does; nil: none has
	Refused   []bool                      // by member - 1: it has refused the claim
	Work      election.Term               // of the tenure whose work may not have stopped; 0: none
	Successor election.ID                 // of a leader that is stopping

	Peers      []Peer        // by member - 1
	Weight     uint16        // of this member
	MaxPromise election.Term // the highest P heard of
	Stage      Stage
	Episode    uint8
	Replies    []Reply // by member - 1, while asking
	Deferred   bool    // it has deferred once in this episode
	Reclaims   uint8   // how often it has claimed again at once
	Probe      Probe
	Offers     uint64 // the number of the newest offer
	OfferDelay uint64 // until the next one, in units

	Settings Settings `election:"constant"`
}

// Settings are the values of the parameters, in units.
type Settings struct {
	Lease, LongestLease, Entitled uint64 // L, Lmax, D = L(1-ρ)
	Renewal                       uint64 // H
	Answers, Defer, Claim         uint64 // Te, Td, Tc
	Delay                         uint64
	Asks, Preempts                bool
	Preempt                       uint64
	Terms                         election.Term // 0: there is no limit
	Renewals                      uint64        // likewise
}

// The parameters.
var (
	delay = election.Number{
		Name: "delay", Whole: true, Least: 1, Most: 1 << 32, Default: "1",
		About: "the longest time that a message takes, and its handling; only waiting times depend on it, not safety",
	}
	lease = election.Number{
		Name: "lease", Whole: true, Least: 1, Most: 1 << 40, Default: "40·delay",
		About:   "L, how long a grant binds",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 40, 0) },
	}
	longestLease = election.Number{
		Name: "longest-lease", Whole: true, Least: 1, Most: 1 << 40, Default: "lease",
		About:   "Lmax, the longest lease that a member grants",
		Derived: func(p election.Parameters) *big.Rat { return lease.Linear(p, 1, 0) },
	}
	rho = election.Number{
		Name: "rho", Most: 1, Default: "1/20",
		About: "by which part the leader's lease is shorter than the grants; at least 2ε/(1+ε) for clocks within ±ε of the true rate",
	}
	renewal = election.Number{
		Name: "renewal", Whole: true, Least: 1, Most: 1 << 40, Default: "4·delay",
		About:   "H, how often the leader asks for its lease again; at most a quarter of the lease",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 4, 0) },
	}
	answerTimeout = election.Number{
		Name: "answer-timeout", Whole: true, Least: 1, Most: 1 << 31, Default: "2·delay + 1",
		About:   "Te, how long a member waits for answers; also the unit of pauses",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 2, 1) },
	}
	deferral = election.Number{
		Name: "deferral", Whole: true, Least: 1, Most: 1 << 40, Default: "answer-timeout + 4·delay",
		About: "Td, how long a member leaves the claim to one of higher rank, or to the successor named",
		Derived: func(p election.Parameters) *big.Rat {
			td := delay.Linear(p, 4, 0)
			return td.Add(td, answerTimeout.Rational(p))
		},
	}
	claimTimeout = election.Number{
		Name: "claim-timeout", Whole: true, Least: 1, Most: 1 << 40, Default: "2·delay + 1",
		About:   "Tc, how long a claim waits for grants; well below the lease",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 2, 1) },
	}
	asking = election.Choice{
		Name: "asking", Words: []string{"yes", "no"},
		About: "whether a member asks before it claims, as in Bully; no: it claims as soon as it is free, which is safe and slow to agree",
	}
	preemption = election.Choice{
		Name: "preemption", Words: []string{"no", "yes"},
		About: "whether a leader hands over to an able member of higher rank (rule 8)",
	}
	preemptDelay = election.Number{
		Name: "preempt-delay", Whole: true, Least: 1, Most: 1 << 40, Default: "2·lease",
		About:   "how long a leader leads before it offers that, and then between offers, doubled each time up to 8 times this",
		Derived: func(p election.Parameters) *big.Rat { return lease.Linear(p, 2, 0) },
	}
	terms = election.Number{
		Name: "terms", Whole: true, Most: 1 << 40, Default: "0",
		About: "the highest term that is claimed; 0: there is none. With it and renewals there are finitely many states to check",
	}
	renewals = election.Number{
		Name: "renewals", Whole: true, Most: 1 << 40, Default: "0",
		About: "how often a leader renews its lease in a term; 0: as long as it leads",
	}
)

// mostDoubled is how many times its first value the time between offers can become.
const mostDoubled = 8

// Algorithm is quorum-bully.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "quorum-bully",
		Title:  "Bully with a quorum of leases",
		Year:   2026,
		Source: "Garcia-Molina 1982 (S4); Gray–Cheriton 1989; Ongaro–Ousterhout 2014",
		About: "A member leads while a majority has granted it a lease, one leader a term. As in Bully, the highest rank that is able leads, " +
			"but by asking first, and deposing a leader only by handing over. Two sides of a partition have one leader at most.",
		Topology:   election.Complete,
		Timing:     election.Timed,
		Starts:     election.AllStart,
		Priorities: true,
		Task:       election.Service,
		Leased:     true,
		Survives:   election.Crash | election.Recovery | election.Partition,
		Settles:    settles,
		Kinds: []election.MessageKind{
			{Name: "election", Class: election.Election},
			{Name: "answer", Class: election.Election},
			{Name: "claim", Class: election.Election},
			{Name: "renew", Class: election.Overhead},
			{Name: "grant", Class: election.Overhead},
			{Name: "nack", Class: election.Overhead},
			{Name: "release", Class: election.Overhead},
			{Name: "offer", Class: election.Overhead},
			{Name: "ready", Class: election.Overhead},
		},
		Timers: []string{"bound", "wait", "lapse", "renewal", "stage", "probe", "offer"},
		Parameters: []election.Parameter{
			&delay, &lease, &longestLease, &rho, &renewal, &answerTimeout, &deferral, &claimTimeout, &asking, &preemption, &preemptDelay, &terms, &renewals,
		},
		Delay: &delay,
	},
	New:         New,
	Start:       (*Process).Start,
	Receive:     (*Process).Receive,
	Timeout:     (*Process).Timeout,
	Recover:     (*Process).Recover,
	Suspect:     (*Process).Suspect,
	Command:     (*Process).Command,
	Durable:     func(p *Process) any { return &p.Kept },
	Eligible:    func(p *Process) bool { return p.Weight > 0 },
	Incarnation: func(p *Process) uint64 { return p.Kept.Incarnation },
}

// settles is longer than any of the random scripts of faults in the tests has taken.
func settles(n uint64, p election.Parameters) election.Ticks {
	wait := longestLease.Ticks(p).Times(6).Add(answerTimeout.Ticks(p).Times(8 * n))
	if preemption.Is(p, "yes") {
		return wait.Add(preemptDelay.Ticks(p).Times(mostDoubled + 1))
	}
	return wait
}

// New is a member that has not begun.
func New(l election.Local) Process {
	p, units := l.Parameters, func(n *election.Number) uint64 { return n.Ticks(l.Parameters).Lo }
	// What entitles is rounded down, L - ⌈L·ρ⌉.
	shorter := new(big.Rat).Sub(big.NewRat(1, 1), rho.Rational(p))
	shorter.Mul(shorter, lease.Rational(p))
	return Process{
		ID: l.ID, Members: election.ID(l.Degree), Weight: l.Priority,
		Kept: Kept{Incarnation: 1}, Peers: make([]Peer, l.Degree),
		Settings: Settings{
			Lease: units(&lease), LongestLease: units(&longestLease),
			Entitled: new(big.Int).Quo(shorter.Num(), shorter.Denom()).Uint64(),
			Renewal:  units(&renewal),
			Answers:  units(&answerTimeout), Defer: units(&deferral), Claim: units(&claimTimeout),
			Delay:    units(&delay),
			Asks:     asking.Is(p, "yes"),
			Preempts: preemption.Is(p, "yes"), Preempt: units(&preemptDelay),
			Terms: election.Term(units(&terms)), Renewals: units(&renewals),
		},
	}
}
