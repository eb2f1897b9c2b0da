package simulate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// Schedule picks, in an asynchronous run, which link delivers its next message.
type Schedule uint8

// The schedules. With AnyTime they also decide when each process starts; the rule is in brackets.
const (
	// FIFO is the link with the oldest message: every delay is one unit, which its clock counts. [At a
	// random time before n.]
	FIFO Schedule = iota

	// LIFO is the link that was written last. [One at quiescence.]
	LIFO

	// Random picks a nonempty link, each with the same probability. [With the same probability as a link.]
	Random

	// RoundRobin serves the links in turn, process by process, a message each. [Before its links.]
	RoundRobin

	// RandomDelay delays each message by a random time of LeastDelay to LongestDelay ticks, which its
	// clock counts. [At a random time before n longest delays.]
	RandomDelay

	// Sweep serves the links of a one-directional ring in turn, each until it is empty. On such a ring every process
	// gets the same messages in the same order under any schedule, so all counts equal those of the other schedules.
	// The part in use fits into a cache. [Before its link.]
	Sweep

	// Tile cuts a ring into tiles and delivers within one, the oldest message first, until no message is under way
	// there; then it continues with the next. Also for rings of two directions. The processes of a tile start, in ring
	// order, at its first turn, so before any message reaches them. [One when its tile is quiescent.]
	Tile

	// MaxMessages is a greedy adversary: the link whose message makes its receiver send the most. [By the
	// same measure.]
	MaxMessages

	// MaxTime is a greedy adversary with a clock: every message takes its full unit. Of messages that are due
	// together, the one that makes its receiver send the most goes first. [At quiescence.]
	MaxTime

	// Burns is the adversary of Burns' lower bound, which keeps one edge of the ring closed.
	Burns
)

// Schedules are the names of the schedules.
var Schedules = []string{
	"fifo", "lifo", "random", "round-robin", "random-delay", "sweep", "tile", "max-messages", "max-time", "burns",
}

func (s Schedule) String() string { return Schedules[s] }

// The delays of RandomDelay, in ticks.
const (
	LeastDelay   = 256
	LongestDelay = 65_536
)

// canOvertake reports whether a schedule may deliver the messages of a link in another order.
func (s Schedule) canOvertake() bool { return s == LIFO || s == Random || s == RandomDelay }

// tries reports whether a schedule tries all possible next events.
func (s Schedule) tries() bool { return s == MaxMessages || s == MaxTime }

// Options are the options of a run. The zero value of each field but Setup is a good start.
type Options struct {
	Setup network.Setup

	// Timing of the run: at least as strong as the algorithm's assumption, which is the default.
	// Asynchronous runs have a Schedule, timed ones a Delay, synchronous ones neither.
	Timing   election.Timing
	Schedule Schedule
	Delay    uint64 // timed: messages take 1 … Delay units; 0 is [election.Declaration.LongestDelay]
	Seed     uint64 // of schedules, delays, choices and faults
	Cores    int    // the number of cores to use where the result does not depend on it; 0: one

	Initiators []int // positions that start, in this order, before any delivery; nil: all willing ones
	AnyTime    bool  // the schedule decides when each initiator starts

	// Wake holds, in a synchronous run, the time at which each position starts by itself, unless it has started before:
	// messages of the same unit come first. [election.Forever]: never. nil: Initiators apply.
	Wake []election.Ticks

	Faults   faults.Script // the faults
	Commands []Command     // of hosts to their processes

	// StopTime is the longest time, in units, in which a host stops the work of a leader when it must; 0: none.
	StopTime uint64
	// Wardens prove to all others, within the longest delay of a message, that a process that crashes is dead, with its work.
	Wardens bool

	SkipPhases bool // do not count by phases, which costs a call for each message

	// Moment is where a session begins; nil: at the beginning. Pace is the number of units of lazy time that pass at once; 0 is one.
	Moment *trace.Moment
	Pace   uint64

	Record   bool                         // record each step, and check the steps
	Recorded int                          // the size in bytes, about, at which a record ends the run, as Limit does; 0: none
	Check    bool                         // make each step twice and compare, which takes about five times as long; see [Violation]
	Values   bool                         // a record has states and messages as values, too, for readers of their fields
	Until    election.Ticks               // with a clock: the run ends then, and is judged; 0: it ends at quiescence, or at [election.Declaration.Settles]
	Limit    uint64                       // of deliveries and timeouts; 0: [DefaultLimit]; [NoLimit]
	Progress func(deliveries uint64) bool // called at intervals; false ends the run

	// Lines returns the number, for readers, of a line of a file in the algorithm's package, which is given by its name without a
	// folder; 0 leaves it out. A record then has the lines that sent, set timers and decided. nil: it has none.
	Lines func(file string, line int) int
}

// Command is a command of a process's host at a given time.
type Command struct {
	Process int // position
	At      election.Ticks
	election.Command
}

// NoLimit is the limit of a run that may never end.
const NoLimit = math.MaxUint64

// DefaultLimit is the limit of a run of n processes unless Options say otherwise: 100 million deliveries and timeouts, or
// 4n³ if that is more. It is far above the cost of elections of the catalogue. Bully's, when a partition heals, cost
// most, nearly n³. A run that the limit stops is not Complete.
func DefaultLimit(n int) uint64 {
	most := uint64(min(n, 1<<20)) // so that 4n³ is below 2⁶⁴
	return max(100_000_000, 4*most*most*most)
}

// ErrOptions reports that options are incompatible; the text names them, and valid ones.
var ErrOptions = errors.New("cannot simulate")

// clock reports whether the run has a clock.
func (o *Options) clock() bool {
	return o.Timing != election.Asynchronous || o.Schedule == FIFO || o.Schedule == RandomDelay || o.Schedule == MaxTime
}

// check completes the options. It returns an error if they are incompatible.
func (o *Options) check(program *process.Program, p *network.Instance) error {
	o.Timing = max(o.Timing, program.Timing)
	if o.Schedule > Burns {
		return fmt.Errorf("%w: no schedule has number %d", ErrOptions, o.Schedule)
	}
	for _, check := range []func(*process.Program, *network.Instance) error{o.checkTiming, o.checkSchedule, o.checkClock, o.checkFaults, o.checkStart} {
		if err := check(program, p); err != nil {
			return fmt.Errorf("%w %s: %w", ErrOptions, program.Name, err)
		}
	}
	return nil
}

// checkTiming returns an error if the delays do not fit the timing. It sets the longest delay of a timed run.
func (o *Options) checkTiming(program *process.Program, p *network.Instance) error {
	switch {
	case o.Timing != election.Asynchronous && o.Schedule != FIFO:
		return fmt.Errorf("schedule %s is for asynchronous runs; this one is %s and needs none", o.Schedule, o.Timing)
	case o.Timing == election.Synchronous && o.Delay != 0:
		return errors.New("messages of a synchronous run take one unit; leave the delay out")
	case o.Timing == election.Asynchronous && o.Delay != 0:
		return errors.New("a delay is for timed runs, and this one is asynchronous; with timing timed it would do")
	case o.Timing == election.Timed && o.Delay == 0:
		o.Delay = program.LongestDelay(p.Parameters).Lo
	}
	return nil
}

// checkSchedule returns an error if the schedule cannot serve the network.
func (o *Options) checkSchedule(program *process.Program, p *network.Instance) error {
	unordered := o.Faults.Unordered
	switch {
	case o.Timing == election.Synchronous && unordered:
		return errors.New("a synchronous run keeps the order of messages")
	case o.Timing == election.Asynchronous && unordered && !o.Schedule.canOvertake():
		return fmt.Errorf("schedule %s keeps the order of messages; lifo, random and random-delay can leave it", o.Schedule)
	case o.Schedule == Sweep && !program.OneWay:
		return errors.New("schedule sweep is for one-directional rings; on other rings tile keeps memory local, too")
	case o.Schedule == Tile && program.Topology != election.Ring:
		return fmt.Errorf("schedule tile is for rings; on a %s round-robin or random will do", program.Topology.Phrase(0))
	case o.Schedule.tries() && p.Network.Links() > mostLinks:
		return fmt.Errorf("schedule %s tries every message at every step, on at most %d links; here are %d, for which lifo or random will do",
			o.Schedule, mostLinks, p.Network.Links())
	case !o.Faults.Lose.Possible() || !o.Faults.Duplicate.Possible():
		return fmt.Errorf("a chance is some Times Of at least as many, as in {1, 20}, not %v or %v", o.Faults.Lose, o.Faults.Duplicate)
	case o.Schedule == Burns && o.Faults.Lossy():
		return errors.New("schedule burns needs links that neither lose nor duplicate; others can do without")
	case o.Cores < 0:
		return fmt.Errorf("it cannot use %d cores; 0 is one", o.Cores)
	}
	return nil
}

// checkClock returns an error if options with times are given without a clock.
func (o *Options) checkClock(program *process.Program, p *network.Instance) error {
	clock := o.Timing != election.Asynchronous || o.Schedule == FIFO || o.Schedule == RandomDelay
	switch {
	case (o.Faults.Timed() || len(o.Commands) > 0) && !clock:
		return fmt.Errorf("faults that come at a time, and commands, need a clock, which schedule %s does not have; fifo and random-delay do, and timed and synchronous runs", o.Schedule)
	case !o.Until.IsZero() && !clock:
		return fmt.Errorf("until is a time, and schedule %s has no clock; fifo and random-delay do, and timed and synchronous runs", o.Schedule)
	case len(o.Commands) > 0 && !program.Functions.Command:
		return errors.New("it obeys no commands")
	case o.Wardens && !program.Functions.Incarnation:
		return errors.New("it takes no proofs of death, so wardens mean nothing")
	}
	for _, r := range o.Commands {
		if r.Process < 0 || r.Process >= p.Size() {
			return fmt.Errorf("there is no position %d to command", r.Process)
		}
	}
	return nil
}

// checkFaults returns an error if the faults are impossible, and draws the random ones.
func (o *Options) checkFaults(program *process.Program, p *network.Instance) error {
	detects := program.Functions.Suspect
	if err := o.Faults.Check(p, detects); err != nil {
		return err
	}
	return o.Faults.Draw(p, detects, o.Seed)
}

// checkStart returns an error if the run cannot begin, and sets the initiators.
func (o *Options) checkStart(_ *process.Program, p *network.Instance) error {
	if err := o.checkWake(p.Size()); err != nil {
		return err
	}
	if o.Initiators == nil && o.Wake == nil {
		o.Initiators = p.Initiators(o.Faults.Dead)
	}
	if err := p.CheckStart(o.starters(), o.Faults.Dead, o.AnyTime); err != nil {
		return err
	}
	if p.Declaration().Starts == election.Together && slices.ContainsFunc(o.Wake, func(at election.Ticks) bool { return !at.IsZero() }) {
		return errors.New("all processes initiate at time 0; none wakes at another time")
	}
	return nil
}

// checkWake returns an error if the wake-up times are impossible.
func (o *Options) checkWake(n int) error {
	switch {
	case o.Wake == nil:
		return nil
	case o.Timing != election.Synchronous:
		return fmt.Errorf("times to wake are for synchronous runs, and this one is %s; with timing synchronous it would do", o.Timing)
	case o.Initiators != nil || o.AnyTime:
		return errors.New("wake times set which process initiates and when; leave out initiators and any time")
	case len(o.Wake) != n:
		return fmt.Errorf("each position has a time to wake, or never wakes by itself; %d have %[1]d, not %d", n, len(o.Wake))
	case !slices.ContainsFunc(o.Wake, wakes):
		return errors.New("no process wakes spontaneously; at least one must")
	}
	return nil
}

func wakes(at election.Ticks) bool { return at != election.Forever }

// starters returns the positions that start by themselves; nil: all.
func (o *Options) starters() []int {
	if o.Wake == nil || !slices.Contains(o.Wake, election.Forever) {
		return o.Initiators
	}
	starters := []int{}
	for p, at := range o.Wake {
		if wakes(at) {
			starters = append(starters, p)
		}
	}
	return starters
}
