package election

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Declaration is what an algorithm declares about itself, as data for engines, the command line, the documentation
// and the tests. A zero field makes no claim.
type Declaration struct {
	Name   string // as on the command line: lower case, with hyphens
	Title  string // as in the literature
	Year   int    // of first publication
	Source string // where it is stated: authors and year, or S1 … S5 with the section
	About  string // one or two sentences

	Topology    Topology
	OneWay      bool // on a ring: sends on port 0 only
	Unoriented  bool // on a ring: works with any numbering of each process's two ports
	Timing      Timing
	Identifiers Identifiers
	FromZero    bool // with Computed: identifiers may be 0; a process knows each as one more
	KnowsSize   bool // Local.N
	Willingness bool // Local.Willing
	Votes       bool // Local.Vote
	Priorities  bool // Local.Priority
	FIFO        bool // requires FIFO links
	Starts      Starts
	Counts      Counts

	Task    Task
	Decides Decides
	Winner  Winner
	Leased  bool // leads by LeadUntil only: at most one lease runs, those of dead lives included; terms of successive leaders rise

	Survives Faults // what the task is claimed under

	// Settles is for a service that never becomes quiescent. It returns the time, after the start and after the last
	// fault, within which the service has done its task, so that a simulation can stop. nil means that it becomes
	// quiescent.
	Settles func(n uint64, p Parameters) Ticks

	// Sequence returns the numbers that the parameters define, such as S5's hypotheses on the size of the ring:
	// positive, increasing, up to the first of at least n. The last is nil if it has more than the given number of
	// bits. The error is the reason why no run is possible. Processes read the numbers with [Parameters.Sequence].
	Sequence func(p Parameters, n uint64, bits uint) ([]*big.Int, error)

	// AllowDuplicates is for rings on which identifiers may repeat. Its error is the reason why the algorithm elects
	// no leader with these, clockwise, and a remedy. nil means that identifiers may not repeat.
	AllowDuplicates func(ids Arrangement) error

	Kinds      []MessageKind // at most 16
	Timers     []string      // at most 8
	Parameters []Parameter   // addresses of package variables
	Delay      *Number       // of Parameters: the longest delay of a message, in whole units; nil means one unit
	Bounds     []Bound

	// Checked are values of Parameters, by name, with which every schedule of a few processes can be tried in a minute. They bound
	// what grows for ever otherwise, such as terms. The command verify takes them where no value is given. nil means the defaults.
	Checked map[string]string

	// Adjust changes Starts, Counts, Decides, Winner, Survives and Bounds, which hold for the default parameters,
	// into the claims for these parameters; it replaces Bounds as a whole. nil means that parameters change no claim.
	Adjust func(*Declaration, Parameters)
}

// Timing is the assumption about message delays and clocks: [Asynchronous], [Timed] or [Synchronous].
type Timing uint8

// The assumptions, from the weakest to the strongest.
const (
	Asynchronous Timing = iota // none: delays are finite
	Timed                      // delays have a bound, and clocks run alike
	Synchronous                // lock-step: every delay is one unit
)

// String returns its name in JSON and in texts.
func (t Timing) String() string {
	return [...]string{"asynchronous", "timed", "synchronous"}[t]
}

// Identifiers is the use of identifiers: [Compared], [Computed] or [Anonymous].
type Identifiers uint8

// The uses.
const (
	Compared  Identifiers = iota // comparison-based: any natural numbers below 2⁶⁴
	Computed                     // identifier values used: natural numbers below 2³²
	Anonymous                    // there are none
)

// String returns its name in JSON and in texts.
func (i Identifiers) String() string {
	return [...]string{"compared", "computed with", "none"}[i]
}

// Phrase returns the use in words for people. [Identifiers.String] returns its name in JSON.
func (i Identifiers) Phrase() string {
	return [...]string{"comparison-based", "identifier values used", "none"}[i]
}

// Starts is the set of processes that may start by themselves: [AnyStart], [AllStart] or [Together].
type Starts uint8

// The start policies.
const (
	AnyStart Starts = iota // any non-empty set; the others join on a message
	AllStart               // every process does at some time
	Together               // every process does at time 0
)

// String returns its name in JSON and in texts.
func (s Starts) String() string {
	return [...]string{"any non-empty set of processes starts", "every process starts", "all start together"}[s]
}

// Phrase returns the policy in words for people. [Starts.String] returns its name in JSON.
func (s Starts) Phrase() string {
	return [...]string{"any non-empty set of processes initiates", "all processes initiate", "all processes initiate at time 0"}[s]
}

// Counts is the dependence of the number of messages of each kind on the schedule: [CountsVary], [CountsAllFirst], [CountsStartFirst] or [CountsFixed].
type Counts uint8

// From no claim to the strongest. Faults void all claims.
const (
	CountsVary       Counts = iota // it may depend
	CountsAllFirst                 // independent if all processes start before the first delivery
	CountsStartFirst               // independent if the initiators start before the first delivery
	CountsFixed                    // independent of start times, too
)

// String returns its name in JSON and in texts.
func (c Counts) String() string {
	return [...]string{
		"may depend on the schedule", "the same under every schedule if all start first",
		"the same under every schedule if those that start do so first", "the same under every schedule, whenever processes start",
	}[c]
}

// Phrase returns the dependence in words for people. [Counts.String] returns its name in JSON.
func (c Counts) Phrase() string {
	return [...]string{
		"may depend on the schedule", "schedule-independent if all processes initiate first",
		"schedule-independent if all initiators initiate first", "schedule-independent",
	}[c]
}

// Task is the result that a run must have: [Once], [Service] or [Groups].
type Task uint8

// The tasks.
const (
	Once    Task = iota // each process decides once, for ever
	Service             // decisions change with faults; after the last one all agree

	// Groups is a Service whose leaders each count their own terms. A name is a leader with a term. The terms of a
	// process may decrease when it changes its leader. No leader leads twice in one term, even after a crash, and no
	// process follows a leader in a term in which it has not led.
	Groups
)

// String returns its name in JSON and in texts.
func (t Task) String() string { return [...]string{"once", "service", "groups"}[t] }

// Decides is the set of processes that decide in the end: [EveryProcess] or [LeaderOnly].
type Decides uint8

// The sets.
const (
	EveryProcess Decides = iota // the leader leads, and all others follow it
	LeaderOnly                  // only the leader learns the result
)

// String returns its name in JSON and in texts.
func (d Decides) String() string { return [...]string{"every process", "the leader only"}[d] }

// Winner is the rule for which process becomes leader: [Unspecified], [Largest], [Smallest] or [Voted].
type Winner uint8

// The rules, among the processes that are live and eligible: willing, or as [Algorithm.Eligible] decides.
const (
	Unspecified Winner = iota
	Largest
	Smallest
	Voted // most votes of all, live or not; with equal votes the largest identifier
)

// String returns its name in JSON and in texts.
func (w Winner) String() string {
	return [...]string{"unspecified", "the largest identifier", "the smallest identifier", "the most votes"}[w]
}

// Faults is a set of faults: [Crash], [Recovery], [Partition], or more of these.
type Faults uint8

// The faults.
const (
	Crash     Faults = 1 << iota
	Recovery         // without Crash: each process that crashes must recover
	Partition        // links that are cut, after the cut has been healed
)

// Class is the purpose of messages: [Election], [Announcement] or [Overhead].
type Class uint8

// The classes. Bounds in the literature mostly count the first.
const (
	Election Class = iota
	Announcement
	Overhead // acknowledgements, leases, heartbeats: never in a total
)

// String returns its name in JSON and in texts.
func (c Class) String() string { return [...]string{"election", "announcement", "overhead"}[c] }

// MessageKind names one kind of message.
type MessageKind struct {
	Name   string // as in the source
	Class  Class
	Latest bool // on a live link, a newer one replaces an older one that has not left yet
}

// Bound is a claim about the cost of a run without faults, with distinct identifiers.
type Bound struct {
	OneStart bool   // holds for runs with a single initiator
	Of       string // "election", "announcement" or "total" messages, or "time" until quiescence, in units of delay
	Case     Case
	Formula  string                 // as in the source, in n
	Source   string                 // where it is stated or proved
	Value    func(n uint64) uint64  // of Worst and Best: exact; math.MaxUint64 if it is larger
	Mean     func(n uint64) float64 // of Average, over all orders
}

// Case is the set of runs that a Bound holds for: [Worst], [Best] or [Average].
type Case uint8

// The cases.
const (
	Worst Case = iota // an upper bound of every run
	Best              // a lower bound of every run
	Average
)

// String returns its name in JSON and in texts.
func (c Case) String() string { return [...]string{"worst", "best", "average"}[c] }

// Bound returns the first declared bound of that case on messages, or nil.
func (d *Declaration) Bound(c Case) *Bound {
	for i := range d.Bounds {
		if b := &d.Bounds[i]; b.Case == c && b.Of != "time" {
			return b
		}
	}
	return nil
}

// validate returns an error that lists what is incomplete or disagrees with the functions; obligatory: the functions
// that every algorithm needs are set.
func (a *Declaration) validate(obligatory bool, has Functions) error {
	var faults []error
	name := a.Name
	if !plain(name, longestName) {
		name = "?"
	}
	must := func(ok bool, fault string) {
		if !ok {
			faults = append(faults, fmt.Errorf("algorithm %q: %s", name, fault))
		}
	}
	if fault := a.wrongText(); fault != "" { // which others would print
		return fmt.Errorf("algorithm %q: %s", name, fault)
	}
	must(a.Name != "", "has no Name")
	must(obligatory, "New, Start and Receive are obligatory")
	must(len(a.Kinds) >= 1 && len(a.Kinds) <= kinds, "declares 1 to 16 Kinds of message")
	must(len(a.Timers) <= 8, "declares at most 8 Timers")
	must((len(a.Timers) > 0) == has.Timeout, "Timers are declared if and only if Timeout is set")
	must(len(a.Timers) == 0 || a.Timing != Asynchronous, "timers mean nothing when Timing is Asynchronous")
	must(a.Survives&Recovery == 0 || has.Recover, "Recovery is declared and Recover is not set")
	must(!has.Durable || has.Recover, "Durable needs Recover")
	must(!has.Trust || has.Suspect, "Trust needs Suspect")
	must(!has.Incarnation || has.Command, "Incarnation needs Command")
	must(!a.OneWay || a.Topology == Ring, "OneWay means something on a Ring only")
	must(!a.Unoriented || a.Topology == Ring && !a.OneWay, "Unoriented means something on a Ring of two ways only")
	must(!a.FromZero || a.Identifiers == Computed, "FromZero means something where identifiers are Computed only")
	must(!a.Votes || a.Identifiers != Anonymous, "Votes need identifiers")
	must(a.AllowDuplicates == nil || a.Topology == Ring && a.Identifiers == Compared, "AllowDuplicates means something on a Ring only, where identifiers are Compared")
	must(a.Votes || a.Winner != Voted, "the Winner is Voted where there are Votes")
	must(a.Winner == Unspecified || a.Identifiers != Anonymous, "Anonymous processes have no Largest and no Smallest")
	a.validateChoices(must)
	a.validateLists(must)
	return errors.Join(faults...)
}

// The largest numbers of characters of names, and of other texts of a declaration.
const (
	longestName  = 64
	longestText  = 256
	longestAbout = 1 << 12
)

// plain reports whether a terminal shows a text as it is, in at most so many characters.
func plain(text string, most int) bool {
	odd := func(r rune) bool { return !strconv.IsGraphic(r) }
	return strings.ToValidUTF8(text, "") == text && !strings.ContainsFunc(text, odd) && len([]rune(text)) <= most
}

// wrongText returns which text of the declaration is long or has characters without a form, without that text; empty if none is.
func (a *Declaration) wrongText() string {
	wrong := func(which, text string, most int) string {
		if plain(text, most) {
			return ""
		}
		return fmt.Sprintf("%s is longer than %d characters, or has some that a terminal does not show, such as escapes", which, most)
	}
	text := cmp.Or(wrong("Name", a.Name, longestName), wrong("Title", a.Title, longestText), wrong("Source", a.Source, longestText), wrong("About", a.About, longestAbout))
	for i, k := range a.Kinds {
		text = cmp.Or(text, wrong(fmt.Sprintf("the Name of Kinds[%d]", i), k.Name, longestName))
	}
	for i, timer := range a.Timers {
		text = cmp.Or(text, wrong(fmt.Sprintf("Timers[%d]", i), timer, longestName))
	}
	for i, b := range a.Bounds {
		text = cmp.Or(text, wrong(fmt.Sprintf("the Formula of Bounds[%d]", i), b.Formula, longestText), wrong(fmt.Sprintf("the Source of Bounds[%d]", i), b.Source, longestText))
	}
	for i, p := range a.Parameters {
		if p != nil {
			text = cmp.Or(text, wrong(fmt.Sprintf("the name of Parameters[%d]", i), p.String(), longestName))
		}
	}
	return text
}

// validateChoices checks the fields whose values are constants.
func (a *Declaration) validateChoices(must func(ok bool, fault string)) {
	must(a.Topology <= UnknownNeighbours, "Topology is none of the declared constants")
	must(a.Timing <= Synchronous, "Timing is none of the declared constants")
	must(a.Identifiers <= Anonymous, "Identifiers is none of the declared constants")
	must(a.Starts <= Together, "Starts is none of the declared constants")
	must(a.Counts <= CountsFixed, "Counts is none of the declared constants")
	must(a.Task <= Groups, "Task is none of the declared constants")
	must(a.Decides <= LeaderOnly, "Decides is none of the declared constants")
	must(a.Winner <= Voted, "Winner is none of the declared constants")
}

// validateLists checks the kinds, bounds and parameters.
func (a *Declaration) validateLists(must func(ok bool, fault string)) {
	for i, k := range a.Kinds {
		must(k.Name != "", fmt.Sprintf("Kinds[%d] has no Name", i))
		must(k.Name == "" || !slices.ContainsFunc(a.Kinds[:i], func(other MessageKind) bool { return other.Name == k.Name }), "two Kinds are called "+k.Name)
		must(k.Class <= Overhead, fmt.Sprintf("the Class of Kinds[%d] is none of the declared constants", i))
	}
	must(!slices.Contains(a.Timers, ""), "a timer of Timers has no name")
	for _, b := range a.Bounds {
		must(b.Case <= Average, "the Case of a Bound is none of the declared constants: "+b.Formula)
		must(slices.Contains([]string{"election", "announcement", "total", "time"}, b.Of), fmt.Sprintf("a Bound is Of %q", b.Of))
		must((b.Case == Average) == (b.Mean != nil) && (b.Case == Average) != (b.Value != nil),
			"a Bound has a Mean if it is an Average and a Value otherwise: "+b.Formula)
	}
	must(a.Delay == nil || a.Timing == Timed && slices.Contains(a.Parameters, Parameter(a.Delay)) && a.Delay.Whole && a.Delay.Least >= 1,
		"Delay is one of the Parameters, a whole number of at least 1, and means something when Timing is Timed only")
	for i, p := range a.Parameters {
		must(!slices.ContainsFunc(a.Parameters[:i], func(q Parameter) bool { return q.String() == p.String() }), "declares parameter "+p.String()+" twice")
		if err := p.validate(); err != nil {
			must(false, err.Error())
			return
		}
	}
	_, err := a.Set(a.Checked)
	must(err == nil, fmt.Sprintf("Checked: %v", err))
}
