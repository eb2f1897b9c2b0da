package quorumbully

import (
	"math"
	"math/big"

	"ringleader.example/ringleader/election"
)

// The messages.
const (
	Election election.Kind = iota // a question of the Bully stage, with facts
	Answer                        // the answer to Election
	Claim                         // a request for a lease in a new term, with facts
	Renew                         // a request for a lease in a term that is won
	Grant                         // the answer to a Claim or Renew that is granted
	Nack                          // the answer to a Claim or Renew that is refused
	Release                       // a claim or a tenure has ended
	Offer                         // rule 8: the leader offers the lead
	Ready                         // rule 8: accepts the offer; a majority would grant the lease
)

// The timers.
const (
	Bound    election.Timer = iota // rule 2: the grant given runs out
	Wait                           // rule 4: the wait after a restart ends
	Lapse                          // rule 3: the deadline passes
	Renewal                        // H: the leader renews its lease
	StageEnd                       // a stage ends: Te, Td, Tc, or a pause
	Probing                        // rule 8: the time for answers to a probe ends
	Offering                       // rule 8: the next offer to a member of higher rank
	Own                            // rule 1: the member grants its own claim, at once
)

// Message is the content of all messages. Each kind sets the fields that it needs. The others are zero.
type Message struct {
	Sender    Sender
	Request   Request     `kinds:"claim,renew,grant,nack,release,offer,ready"` // Grant and Nack echo it; Release, Offer and Ready use it for the term
	Standing  Standing    `kinds:"election,answer,grant,nack"`
	Facts     []Fact      `kinds:"election,claim"`
	Voters    Voters      `kinds:"claim,renew,grant,nack"` // that the sender knows
	Successor election.ID `kinds:"renew,release"`          // 0: none; of Renew: the heir
	Episode   uint8       `kinds:"election,answer"`        // Answer echoes it
	Probe     bool        `kinds:"election,answer"`        // Answer echoes it: the question belongs to rule 8
	Reason    Reason      `kinds:"nack"`
	Varies    bool        `kinds:"claim,renew"` // the requests of this term have different lengths
}

// Sender holds the variable properties of a message's sender. The port determines its identifier.
type Sender struct {
	Incarnation uint64
	Weight      uint16
	Able        bool // it could claim if it were free
}

// Request is a request for a lease.
type Request struct {
	Term        election.Term
	Incarnation uint64 // of the member that asks
	Number      uint64 `kinds:"claim,renew,grant,nack,offer,ready"` // of the request in its term; of Offer and Ready: of the offer
	Lease       uint64 `kinds:"claim,renew,grant,nack"`             // the length, in units
}

// Standing is the state of a member's promises and grants.
type Standing struct {
	Promise     election.Term // P; of Grant: only if it is above the term
	FreeIn      uint64        `kinds:"answer"` // for how many units it may still be bound to another member; 0: it is free
	Holder      election.ID   `kinds:"answer"` // of the grant that it has given; 0: none
	Incarnation uint64        `kinds:"answer"` // of the holder
	Leads       bool          `kinds:"answer"`
}

// Reason is the reason for which a request is refused.
type Reason uint8

// The reasons.
const (
	_ Reason = iota
	LowTerm
	IsBound
	IsWaiting
	IsFinished
	Misfits  // the lease is longer than this member grants, or the term is too far above its promise
	Outdated // rule 9: this member knows newer voters
)

// Fact is a stable fact (rules 5 and 6): all claims and tenures of this incarnation up to this term have ended. With the
// term Dead, the incarnation is dead.
type Fact struct {
	Member      election.ID
	Incarnation uint64
	Term        election.Term
}

// Dead is the term in the fact that an incarnation is dead.
const Dead = election.Term(math.MaxUint64)

// Role is the role of a member.
type Role uint8

// The roles.
const (
	Follower Role = iota
	Candidate
	Leader
	Stopping // a leader that has its lease still, and whose work is about to stop
)

// Stage is a member's part of the Bully stage.
type Stage uint8

// The stages.
const (
	Idle      Stage = iota
	Asking          // waits for answers, for at most Te
	Waiting         // until a majority is free
	Deferring       // to members of higher rank, or to a successor
	Claiming        // waits for grants, for at most Tc
	Pausing         // before the next question
)

// Kept is the durable state.
type Kept struct {
	Incarnation uint64
	Promise     election.Term // P: the highest term ever granted
	Floor       election.Term // F when P was raised last
	Longest     uint64        // the longest lease ever promised, in units
	Voters      Voters        // rule 9: the newest known
}

// Given is the grant that a member has given. The timer Bound runs while Holder is not 0.
type Given struct {
	Holder      election.ID
	Incarnation uint64
	Term        election.Term
	Won         bool // the holder is leader in that term
}

// Peer is what a member knows about another member, or about itself.
type Peer struct {
	Newest   uint64 // the newest known incarnation
	Finished Fact   // the highest fact about it
	Weight   uint16 // in its last message
	Able     bool   // in its last message
}

// Reply is the answer of a member in the Bully stage.
type Reply struct {
	Given  bool
	FreeIn uint64
	Leads  bool
}

// Lengths are those of the requests of a claim or tenure, if they vary.
type Lengths struct {
	Lease   uint64                      // of the newest request
	Between uint64                      // the time from the last renewal to the newest one, if no timer had been late; 0: there was only one
	Sent    [requests]election.Deadline // as Process.Sent, if the requests were for L
	Shares  []election.Deadline         // as Process.Share, likewise
}

// Probe is a question of rule 8, outside the Bully stage.
type Probe struct {
	Leader      election.ID // 0: no probe is under way
	Incarnation uint64
	Term        election.Term
	Number      uint64
	Would       []bool // by member - 1: it would grant a lease but for that leader
}

// requests is the number of the latest requests to which answers still count.
const requests = 8

// Process is the state of one member. A crash resets all of it except Kept.
type Process struct {
	ID      election.ID
	Members election.ID `election:"constant"` // they are 1 … Members; only Enlarge changes it, between steps
	Begun   bool        // after Start or Recover: a grant given before Recover would violate rule 4
	Life    uint64      `election:"constant"` // the number that the host gives to this life; 0: none
	Kept    Kept

	Given     Given             // rule 2
	Until     election.Deadline // approximately when the timer Bound expires
	Asked     uint64            // the number of the newest request that the grant answers, if lengths vary
	Granted   uint64            // its length, likewise
	Heir      election.ID       // rule 6: the one that claims if the leader that it follows dies; 0: none is known
	Late      uint64            // by how much something of a lease was late, if lengths vary: the worst, which fades
	F         election.Term     // rule 2: the highest term that this member knows to be won; after a restart P
	Restarted bool              // rule 4: the timer Wait runs
	WaitsTill election.Deadline // approximately when the timer Wait expires

	Role      Role
	Term      election.Term               // of the claim or tenure
	Number    uint64                      // of its newest request
	Lengths   Lengths                     // of its requests; empty: all are for L
	Sent      [requests]election.Deadline // by number modulo requests: until when answers to it count
	Share     []election.Deadline         // by member - 1: until when its newest answer counts; nil: neither candidate nor leader
	Refused   []bool                      // by member - 1: it has refused the claim
	Disputed  []bool                      // by member - 1: it has granted with a P above Term; nil: none has
	Keeps     []bool                      // rule 9, by member - 1: it keeps the leader's Voters; nil: the leader has made none
	Change    Change                      // rule 9: what the host of the leader wants
	Work      election.Term               // of the tenure whose work may not have stopped yet; 0: none
	Successor election.ID                 // of a leader that is stopping; 0: none

	Peers      []Peer        // by member - 1
	Weight     uint16        // of this member
	MaxPromise election.Term // the highest known P of another member
	Stage      Stage
	Episode    uint8
	Replies    []Reply // by member - 1, while asking and in the pause after that
	Deferred   bool    // it has deferred once in this episode
	Reclaims   uint8   // how often it has claimed again at once, with a higher term
	Tries      uint8   // how often the times of the stage have doubled
	Probe      Probe
	Offers     uint64 // the number of the newest offer
	OfferDelay uint64 // the time until the next offer, in units

	Settings Settings `election:"constant"`
}

// Settings are the values of the parameters, in units.
type Settings struct {
	Lease, LongestLease, Entitled uint64 // L, Lmax, D = L(1-ρ)
	Shortest                      uint64 // Lmin; 0: L
	Fall                          uint64 // a length falls by at most one unit in so many of time
	Renewal                       uint64 // H
	Answers, Defer, Claim         uint64 // Te, Td, Tc
	Delay                         uint64
	Asks, Preempts                bool
	Preempt                       uint64
	Terms                         election.Term // 0: there is no limit
	Renewals                      uint64        // likewise
	First                         election.ID   // rule 9: the first voters are 1 … First
}

// The parameters.
var (
	delay = election.Number{
		Name: "delay", Whole: true, Least: 1, Most: 1 << 32, Default: "1",
		About: "the longest time that a message and its handling take; only waiting times depend on it, not safety",
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
	shortestLease = election.Number{
		Name: "shortest-lease", Whole: true, Least: 1, Most: 1 << 40, Default: "lease",
		About:   "Lmin, the shortest lease that a leader asks for; it asks for longer ones, up to the lease, as far as answers are late",
		Derived: func(p election.Parameters) *big.Rat { return lease.Linear(p, 1, 0) },
	}
	rho = election.Number{
		Name: "rho", Most: 1, Default: "1/20",
		About: "the fraction by which the leader's lease is shorter than the grants; at least 2ε/(1+ε) for clocks within ±ε of the true rate",
	}
	renewal = election.Number{
		Name: "renewal", Whole: true, Least: 1, Most: 1 << 40, Default: "4·delay",
		About:   "H, the time between renewals of the leader's lease; at most a quarter of the lease",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 4, 0) },
	}
	answerTimeout = election.Number{
		Name: "answer-timeout", Whole: true, Least: 1, Most: 1 << 31, Default: "2·delay + 1",
		About:   "Te, how long a member waits for answers; also the unit of pauses",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 2, 1) },
	}
	deferral = election.Number{
		Name: "deferral", Whole: true, Least: 1, Most: 1 << 40, Default: "answer-timeout + 4·delay",
		About: "Td, how long a member defers to a member of higher rank, or to a successor",
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
		About: "whether a member asks before it claims, as in Bully; no: it claims as soon as it is free, which is safe, but agreement takes longer",
	}
	preemption = election.Choice{
		Name: "preemption", Words: []string{"no", "yes"},
		About: "whether a leader hands over to an able member of higher rank (rule 8)",
	}
	preemptDelay = election.Number{
		Name: "preempt-delay", Whole: true, Least: 1, Most: 1 << 40, Default: "2·lease",
		About:   "the time until a leader's first offer; later ones follow after twice the time, up to 8 times this",
		Derived: func(p election.Parameters) *big.Rat { return lease.Linear(p, 2, 0) },
	}
	terms = election.Number{
		Name: "terms", Whole: true, Most: 1 << 40, Default: "0",
		About: "the highest term that is claimed; 0: no limit. With terms and renewals limited, there are finitely many states to check",
	}
	renewals = election.Number{
		Name: "renewals", Whole: true, Most: 1 << 40, Default: "0",
		About: "the largest number of renewals of a lease in a term; 0: no limit",
	}
	standby = election.Number{
		Name: "standby", Whole: true, Most: 1 << 14, Default: "0",
		About: "how many members, those with the largest identifiers, do not vote at first (rule 9); if none votes, none ever leads",
	}
)

// mostDoubled is the largest ratio of the time between offers to its first value.
const mostDoubled = 8

// Algorithm is quorum-bully.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "quorum-bully",
		Title:  "Bully with a quorum of leases",
		Year:   2026,
		Source: "Garcia-Molina 1982 (S4); Gray–Cheriton 1989; Ongaro–Ousterhout 2014",
		About: "A member is leader while a majority has granted it a lease, with at most one leader in a term. As in Bully, the able member of highest rank becomes " +
			"leader, but it asks first, and it replaces a leader only if that hands over. At most one side of a partition has a leader.",
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
			{Name: "renew", Class: election.Overhead, Latest: true},
			{Name: "grant", Class: election.Overhead, Latest: true},
			{Name: "nack", Class: election.Overhead},
			{Name: "release", Class: election.Overhead},
			{Name: "offer", Class: election.Overhead},
			{Name: "ready", Class: election.Overhead},
		},
		Timers: []string{"bound", "wait", "lapse", "renewal", "stage", "probe", "offer", "own-grant"},
		Parameters: []election.Parameter{
			&delay, &lease, &longestLease, &shortestLease, &rho, &renewal, &answerTimeout, &deferral, &claimTimeout, &asking, &preemption, &preemptDelay, &terms, &renewals, &standby,
		},
		Delay: &delay,
		Checked: map[string]string{
			"terms": "2", "renewals": "1", "lease": "6", "rho": "0", "renewal": "2", "answer-timeout": "1", "deferral": "1", "claim-timeout": "2", "asking": "no",
		},
	},
	New:         New,
	Start:       (*Process).Start,
	Receive:     (*Process).Receive,
	Timeout:     (*Process).Timeout,
	Recover:     (*Process).Recover,
	Suspect:     (*Process).Suspect,
	Command:     (*Process).Command,
	Durable:     func(p *Process) any { return &p.Kept },
	Eligible:    func(p *Process) bool { return p.Weight > 0 && p.votes(p.ID) },
	Incarnation: func(p *Process) uint64 { return p.Kept.Incarnation },
	Membership:  (*Process).membership,
	Enlarge:     enlarge,
}

// settles is longer than any random fault script of the tests has taken.
func settles(n uint64, p election.Parameters) election.Ticks {
	wait := longestLease.Ticks(p).Times(6).Add(answerTimeout.Ticks(p).Times(8 * n))
	if preemption.Is(p, "yes") {
		return wait.Add(preemptDelay.Ticks(p).Times(mostDoubled + 1))
	}
	return wait
}

// New returns a member before Start or Recover.
func New(l election.Local) Process {
	p, units := l.Parameters, func(n *election.Number) uint64 { return n.Ticks(l.Parameters).Lo }
	// The leader's lease is rounded down: L - ⌈L·ρ⌉.
	shorter := new(big.Rat).Sub(big.NewRat(1, 1), rho.Rational(p))
	shorter.Mul(shorter, lease.Rational(p))
	process := Process{
		ID: l.ID, Members: election.ID(l.Degree), Weight: l.Priority, Life: l.Incarnation,
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
			First: election.ID(max(0, l.Degree-int(units(&standby)))),
		},
	}
	if shortest := units(&shortestLease); shortest < process.Settings.Lease {
		process.Settings.Shortest, process.Settings.Fall = shortest, fall
	}
	return process
}
