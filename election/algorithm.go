package election

// Port is one of a process's links, as the process itself numbers them: 0 .. degree-1. On a ring port 0 leads
// clockwise and port 1 counter-clockwise, unless the ring is not oriented. Among known members port j-1 leads to
// process j; see [To] and [From]. With unknown neighbours no process knows where a port leads.
type Port uint16

// Kind is the kind of a message: an index into the declared Kinds.
type Kind uint8

// Timer is one of a process's timers: an index into the declared Timers.
type Timer uint8

// ID is an identifier as the algorithm sees it; 0 means none. For a comparison-based algorithm it is the rank 1, 2, …
// of the real one (equal ones have equal ranks); for one that uses identifier values it is the value. Engines
// translate ranks back in everything that they show.
type ID uint32

// Term counts the tenures of a service. One-shot algorithms, and services without terms, use 0.
type Term uint64

// To returns the port that leads to a known member.
func To(member ID) Port { return Port(member - 1) }

// From returns the known member that a port leads to.
func From(port Port) ID { return ID(port) + 1 }

// Local is all that a process knows when it is made. A field that the algorithm's declaration does not claim is zero.
type Local struct {
	ID         ID         // own identifier; 0 on an anonymous network
	N          int        // the number of processes; 0 if not known
	Degree     int        // how many ports it has
	Willing    bool       // whether it takes part in an election that others begin; always true unless declared
	Vote       ID         // the candidate that it would vote for now; may change in a crash
	Priority   uint16     // the leader is preferred among members of a higher priority; a member of priority 0 may not lead
	Parameters Parameters // checked against the declaration

	// Incarnation is the number that the host gives to this life: greater than those of all earlier lives, also if the durable
	// state was lost, such as the larger of the stored number plus one and the wall clock in nanoseconds. 0: the host gives
	// none, as in simulations, and an algorithm that needs one counts lives in its durable state.
	Incarnation uint64
}

// Command is a request or a report of a live member's host.
type Command struct {
	Order  Order
	Member ID     // Transfer: to which member; Died, Enlist and Dismiss: of which member
	Number uint64 // Died: the incarnation; Weigh: the weight
}

// Order is the kind of a command: [Resign], [Transfer], [Stopped], [Died], [Weigh], [Confirm], [Enlist] or [Dismiss].
type Order uint8

// The orders. An algorithm ignores those that it does not know.
const (
	Resign   Order = iota // give up leading, in good order
	Transfer              // give up leading, in good order, in favour of Member
	Stopped               // the work that [Out.StopWork] asked to stop has stopped
	Died                  // it is proven that incarnation Number of Member, and all its work, is dead; see [Algorithm]
	Weigh                 // the member now has the weight Number, in place of its priority
	Confirm               // ask the others at once whether this process, which leads, still may; with a Member: repeat the last question to that one
	Enlist                // Member is to have a vote, if this process leads; 0: no change that is not begun is wanted any more
	Dismiss               // Member is to have no vote any more, likewise
)

// Algorithm is an election algorithm: what it declares about itself, and how a process with state S reacts to an
// event. S and M are plain values: numbers, booleans, arrays, structs and slices of these, and [Deadline] in S only;
// no pointer, map, string, function or interface.
//
// New, Start and Receive are obligatory. Any other field may be nil: then that event cannot happen.
type Algorithm[S, M any] struct {
	Declaration

	New      func(Local) S
	Start    func(*S, *Out[M])                // spontaneous; at most once in a life, perhaps after messages
	Receive  func(*S, Port, Kind, M, *Out[M]) // also before Start
	Timeout  func(*S, Timer, *Out[M])
	Recover  func(*S, *Out[M])       // replaces Start after a crash
	Suspect  func(*S, Port, *Out[M]) // the process behind the port seems to have crashed
	Trust    func(*S, Port, *Out[M]) // that suspicion was wrong: the process is live and has not crashed
	Command  func(*S, Command, *Out[M])
	Durable  func(*S) any      // a pointer to the durable part of the state
	Eligible func(*S) bool     // whether it may become leader; nil means if it is willing
	Phase    func(Kind, M) int // the phase that a message belongs to, for statistics only

	// Incarnation returns the number of this life of a member, greater than those of its earlier lives, so that a host can
	// prove to the others that this life, and no other, has died. Nil: it takes no proof of that.
	Incarnation func(*S) uint64

	// Membership returns which members vote, and for how long, for a host to show. Nil: all vote, always.
	Membership func(*S) Membership

	// Enlarge lets a process of a complete graph know that there are more members now: they are 1 … members, and it has as
	// many ports. It is no step. Nil: the number of members is fixed.
	Enlarge func(s *S, members int)
}

// Membership is what a process knows about the members that vote, and about their votes. Version is the number of changes, and Term that of the
// leader that made the last one, or 0.
type Membership struct {
	Term    Term
	Version uint64
	Voters  []ID // in rising order, not to be changed; empty: the first voters
	Kept    int  // how many of them are known to keep it durably, this process included; 0 if this process has not led since

	// Granted has, by member - 1, until when the newest grant of each member entitles this process to lead. It is not to be changed. Nil: this
	// process does not lead.
	Granted []Deadline

	// Confirmed is until when the grants of a majority entitle this process that knew of no higher term when they gave them. Disputed has, by
	// member - 1, those that have told that they know of one; it is not to be changed. Nil: none has.
	Confirmed Deadline
	Disputed  []bool

	// Entitled is how long the lease lasts from the request behind it on, of this process if it leads, and otherwise of the leader that it follows; 0:
	// that is not known, or leases have no lengths of their own.
	Entitled Ticks
}

// Validate reports whether the declaration is complete and agrees with the functions: it returns an error that lists
// all faults. Engines call it before they run anything.
func (a *Algorithm[S, M]) Validate() error {
	return a.validate(a.New != nil && a.Start != nil && a.Receive != nil, a.Functions())
}
