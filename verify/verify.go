package verify

import (
	"cmp"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/reductions"
	"ringleader.example/ringleader/verify/internal/search"
)

// Starts selects the processes that start by themselves, and when. A process that is not selected never starts by
// itself, unless the algorithm declares that every process does: then it starts when the schedule decides.
type Starts uint8

// The start policies.
const (
	AllFirst = Starts(model.AllFirst) // all, in the order of positions, before anything else happens
	AnyTime  = Starts(model.AnyTime)  // the schedule decides when, and of AnyStart algorithms also which: at least one
	EverySet = Starts(model.EverySet) // each non-empty set of processes in turn, before anything else happens
	Each     = Starts(model.Each)     // every process, when the schedule decides, but before its first message
)

func (s Starts) String() string { return [...]string{"all", "any", "every-set", "each"}[s] }

// DefaultMemory is the default limit of memory, in bytes.
const DefaultMemory = 4 << 30

// leastMemory is the smallest limit of memory: the program itself takes some.
const leastMemory = 64 << 20

// Options holds what is explored. Only Setup or Size is required.
type Options struct {
	Setup        network.Setup
	Size         int    // if Setup has no IDs: every order of the identifiers 1 … Size that differs
	Shift        int64  // with Size: added to each of these identifiers
	Orientations bool   // on a ring that need not be oriented: every orientation
	Starts       Starts // ignored with Initiators
	Initiators   []int  // positions that start before anything else happens; nil: see Starts

	// Faults: how many at most. They come at any moment, at any process or link; see the package comment.
	Crashes    int
	Recoveries int  // of processes that have crashed
	Losses     int  // of messages
	Duplicates int  // of messages that arrive twice
	Cuts       int  // of a link, one way or both, or between two sides; each ends sooner or later
	Suspicions int  // of live processes, by mistake
	Commands   int  // of a host that asks its process to resign
	Wardens    bool // a crash ends the work of the process as well, and that is proven to the others at any time
	Unordered  bool // messages on one link may overtake each other

	SafetyOnly bool // ends of runs are not judged, for a model that gives up sooner than the real algorithm
	Delay      int  // timed: messages take 1 … Delay units; 0 is [election.Declaration.LongestDelay]

	// Lazy time, for algorithms with leases: no event is urgent, so that only safety is judged. Clocks err by up to
	// ClockError, below 1. Time passes in steps of ClockError.Of units, or of one unit if clocks do not err.
	Lazy       bool
	ClockError faults.Chance

	// Moment is where runs begin, in lazy time; nil: at the beginning. Pace is the number of units that pass at once in lazy time; 0 is one. With a
	// greater one, events happen only at its multiples, so that fewer schedules are tried, and each of them is possible.
	// After a moment, of a random choice among more than 16 values only the least and the greatest are tried.
	Moment *trace.Moment
	Pace   uint64

	Rotations bool   // on a ring: every order, and not only one of those that are rotations of each other
	MaxStates int    // of one order; 0 is no limit
	MaxDepth  int    // transitions from the beginning to a state; 0 is DefaultDepth
	Memory    uint64 // limit of the whole program, in bytes; 0 is DefaultMemory
	Reduce    Reduction
	Extremes  bool // find Report.Extremes, with no faults
	Exact     bool // keep 128 bits of each fingerprint, however many states there are; see Report.Bits
	Cores     int  // the number of cores to use, from 1 to 4096; no result depends on it

	Progress func(Progress) bool // called now and then, by one goroutine at a time; false ends the exploration; may be nil

	from      *model.Prefix // a run that has begun, in which the search begins; nil: runs begin anew
	confluent bool          // the premises of confluence on a ring hold
	caused    bool          // those of confluence elsewhere hold, except what a run shows
	partial   bool          // those of partial order hold
	alike     bool          // symmetry leaves out orders
	symmetric bool          // its premises hold among the configurations of one order
	times     bool          // the extremes of time are searched
	only      string        // the only property whose violation counts; empty: any
	hasty     bool          // for tests: suspicion may come before the last message
	wide      int           // states of one order up to which 128 bits of each fingerprint are kept; 0 is exactly
	dropped   Assumption    // what Wider does not assume
	most      int           // states of all orders together; 0 is no limit
}

// Reduction selects how much of the state space is explored. The verdict, the violation and the extremes are the same.
type Reduction uint8

// The reductions.
const (
	NoReduction  Reduction = iota
	AnyReduction           // every reduction whose premises hold
	Confluence             // one schedule of each order; an error if the premises do not hold
	PartialOrder           // events of one process first where no other one can interfere; an error if the premises do not hold
	Symmetry               // one of all orders and configurations that are alike; an error if none are
)

func (r Reduction) String() string {
	return [...]string{"none", "auto", "confluence", "partial-order", "symmetry"}[r]
}

// Report is the result of an exploration.
type Report struct {
	Orders      int  // explored orders of identifiers, and orientations
	States      int  // of all orders together
	Transitions int  // of all orders together
	Finals      int  // states in which no event is left
	Depth       int  // the most transitions of a shortest path to a state
	Complete    bool // every order was explored to the end
	Limit       Limit
	Growing     string // a field of a process that seems to grow without end, if a limit was reached; else empty

	Walks   int  // of random walks, instead: how many
	Stopped bool // … and the caller stopped them

	// Confluent is the number of orders of which one schedule decided the verdict on all. Of these orders, States,
	// Transitions, Finals and Depth count that schedule alone.
	Confluent int

	// Partial is the number of orders in which partial order left out states. States, Transitions and Depth are of those explored.
	Partial int

	Symmetry bool // of orders and configurations that are alike, one was explored and is counted

	// States are told apart by fingerprints of 128 bits, or of 64 in an order with more than 10 million states, unless
	// Options.Exact is set. Bits is the smaller number that was used. Miss is an upper bound of the probability that any
	// state was taken for another one.
	Bits int
	Miss float64
	// Coverage has the events without which properties would hold for no good reason, and whether they have happened.
	Coverage []Coverage

	Outside []string // in words, the given faults outside the algorithm's fault model

	// The exact extremes over all complete runs without faults; nil if the exploration is not complete or
	// found a violation. MaxMessages is nil, too, if some run sends messages for ever.
	MaxMessages, MinMessages *Messages

	Extremes *Extremes // if Options.Extremes is set, and MinMessages is not nil; nil if Options.Progress has ended the search for them

	Violation *Violation // nil: every property holds in all explored states
}

// Limit is the limit that ended an exploration.
type Limit uint8

// The limits.
const (
	NoLimit     = Limit(search.NoLimit)     // it is complete, or was stopped by Options.Progress
	StateLimit  = Limit(search.StateLimit)  // Options.MaxStates, or 2^32 states of one order
	MemoryLimit = Limit(search.MemoryLimit) // Options.Memory
	DepthLimit  = Limit(search.DepthLimit)  // Options.MaxDepth
)

// Messages is an extreme number of messages. Each field is an extreme by itself: different runs may reach them.
type Messages struct{ Total, Election, Announcement uint64 }

// Progress is how far an exploration is.
type Progress struct {
	States   int // found so far
	Frontier int // of them, those that are to be explored
	Done     int // orders that are explored
	Orders   int // all orders
}

// Violation is a property that does not hold, and a run that shows it.
type Violation struct {
	Property string       // one of the constants below
	Detail   string       // what is wrong at the end of the run
	Record   trace.Record // a shortest run to it, if Report.Complete; passing time counts as a step, but is not recorded
	Round    int          // of NeverEnds: the first step of those that can repeat for ever, up to the last one
	Outside  []string     // in words, the faults of this run outside the algorithm's fault model
}

// The properties that can be violated.
const (
	BrokeContract = model.BrokeContract
	Panicked      = model.Panicked
	Irrevocable   = model.Irrevocable
	WrongTerm     = model.WrongTerm
	TwoLeaders    = model.TwoLeaders
	TwoInTerm     = model.TwoInTerm
	TwoLeases     = model.TwoLeases
	Revived       = model.Revived
	Unpaired      = model.Unpaired
	WrongLeader   = model.WrongLeader
	Undecided     = model.Undecided
	NoLeader      = model.NoLeader
	Disagreement  = model.Disagreement
	NeverEnds     = model.NeverEnds
	BoundBroken   = model.BoundBroken
	CountsVary    = model.CountsVary
)

// ErrOptions reports options that do not go together; the text names them and a remedy.
var ErrOptions = model.ErrOptions

// ErrLimit reports a step with more choices than the checker tries: more than 65536 values of one choice, more than 64 choices, or more than 2¹⁸
// vectors of values. The text names the step. Or it reports a limit that Options have for the search for runs that attain an extreme, or for the
// states of which probabilities are computed. There is no verdict then.
var ErrLimit = model.ErrLimit

// Run explores every schedule of an algorithm. A wrong algorithm is no error but a Violation.
func Run[S, M any](a election.Algorithm[S, M], o Options) (*Report, error) {
	program, err := process.Of(&a)
	if err != nil {
		return nil, err
	}
	return Program(program, o)
}

// Program is [Run] for an algorithm whose types are hidden.
func Program(a program.Program, o Options) (report *Report, err error) {
	program := process.Opened(a)
	return guarded(program, &o, func() (*Report, error) {
		if err := o.check(program.Declaration, program.Functions); err != nil {
			return nil, err
		}
		if err := o.reduce(program); err != nil {
			return nil, err
		}
		if err := o.begins(program); err != nil {
			return nil, err
		}
		return newExploration(program, &o).whole()
	})
}

// reduce finds out which reductions apply.
func (o *Options) reduce(program *process.Program) error {
	if o.Reduce == NoReduction || o.Moment != nil { // the premises are about runs from the beginning on
		return nil
	}
	p, err := network.Prepare(program.Declaration, o.Setup)
	if err != nil {
		return err
	}
	d, eligible := p.Declaration(), program.Functions.Eligible
	m := o.model()
	uncaused, unordered, unalike := reductions.Uncaused(m, d, eligible), reductions.Unordered(m, d, eligible), reductions.Unalike(m, d)
	o.caused, o.confluent = uncaused == "", reductions.Unconfluent(m, d, eligible) == ""
	o.partial, o.symmetric = unordered == "", unalike == ""
	wrong := func(text string) error { return fmt.Errorf("%w %s: %s", ErrOptions, program.Name, text) }
	switch o.Reduce {
	case Confluence:
		o.partial, o.symmetric = false, false
		if uncaused != "" {
			return wrong("confluence decides nothing here: " + uncaused)
		}
		return nil
	case PartialOrder:
		o.caused, o.confluent, o.symmetric = false, false, false
		if unordered != "" {
			return wrong("partial order leaves out nothing here: " + unordered)
		}
		return nil
	case Symmetry:
		o.caused, o.confluent, o.partial = false, false, false
	}
	alike, err := o.pairs(program)
	if err != nil || alike || o.Reduce != Symmetry {
		return err
	}
	c, err := model.NewChecker(program, m, firstSetup(d, o))
	if err == nil && (!o.symmetric || reductions.Symmetries(c) == nil) {
		err = wrong("symmetry leaves out nothing here: " + cmp.Or(unalike, "no two processes and no two orders are alike but for rotations of a ring, of which one is explored in any case"))
	}
	return err
}

// begins returns an error if runs cannot begin at the moment.
func (o *Options) begins(program *process.Program) error {
	if o.Moment == nil {
		return nil
	}
	c, err := model.NewChecker(program, o.model(), o.Setup)
	if err != nil {
		return err
	}
	return c.Begins()
}

// nothing returns the record of a run without steps.
func (o *Options) nothing(d *election.Declaration) (r trace.Record) {
	if p, err := network.Prepare(d, o.Setup); err == nil {
		r.Header = trace.NewHeader(d, p)
		r.Timing = d.Timing.String()
	}
	return r
}
