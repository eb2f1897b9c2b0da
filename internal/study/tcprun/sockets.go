package tcprun

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/program"
)

// DefaultUnit returns the unit of a timed algorithm on a network of that many directed links: far longer than a
// message takes
// on a machine that is not overloaded, even if all links are used at once.
func DefaultUnit(links int) time.Duration {
	return max(100*time.Millisecond, time.Duration(links)*150*time.Microsecond)
}

// DefaultLimit returns the limit of a timed run of n processes, far above the cost of any run that ends. If messages
// take longer than assumed, an election may never end.
func DefaultLimit(n int) uint64 {
	size := uint64(min(n, 1<<20)) // so that 4n³ is below 2⁶⁴
	return max(10_000, 4*size*size*size)
}

// patience is the default limit of a service that is never quiescent, as a multiple of [election.Declaration.Settles].
const patience = 4

// Options are the options of a run. The zero value of each field but Setup is a good start.
type Options struct {
	Setup network.Setup
	Seed  uint64 // of the algorithms' choices

	Initiators []int // positions that start; nil: all live and willing ones
	AnyTime    bool  // each starts at any time, perhaps after messages
	Dead       []int // positions that never run

	// Unit is the unit of time of a timed algorithm; 0 means DefaultUnit. If Patient, a run in which a message takes longer than
	// assumed is repeated with twice the unit. Of a synchronous algorithm it is the least length of a round.
	Unit    time.Duration
	Patient bool

	// Limit is one of deliveries and timeouts. 0: none, but for timed algorithms DefaultLimit, and for services that
	// are never quiescent a time limit, too.
	Limit uint64

	// Spawn begins a processor elsewhere; nil: all run in this process.
	Spawn func(Plan) (Control, error)
}

// Plan is all that a processor gets before it begins.
type Plan struct {
	Algorithm string
	IDs       election.List // by position
	Setup     network.Setup // all but the identifiers
	Position  int
	Seed      uint64
	Dead      []int
	Unit      time.Duration
	Within    time.Duration // the longest delay of a message that does not end the run
	Limit     uint64        // of messages and timeouts of this processor
	Secret    []byte        // of the run
}

// Result is the result of a run. Lost messages were sent to crashed processes.
type Result struct {
	outcome.Outcome
	Decisions  []network.Decision // by position
	Deliveries uint64

	Elapsed Moments       // since the start
	Unit    time.Duration // of a timed run
	Longest time.Duration // timed: the time until the slowest message was handled, with its sender's lateness
	Assumed time.Duration // timed: the longest permitted time
	Rounds  *Rounds       // synchronous: the same moments in rounds
	Markers uint64        // synchronous: of the synchroniser

	Settled bool // the run ended settled, not quiescent: see the package comment
}

// Moments are moments of a run.
type Moments struct {
	Elected time.Duration // the last time that a process became leader
	Decided time.Duration // the last time that a decision changed
	Quiet   time.Duration // when the last message arrived
}

// Rounds are the moments of a synchronous run.
type Rounds struct{ Elected, Decided, Quiet election.Ticks }

// ErrOptions reports that options are incompatible; the text names them, and valid ones.
var ErrOptions = errors.New("cannot run")

// ErrFailed reports that a processor or a link failed; the text names it.
var ErrFailed = errors.New("failed")

// ErrStopped reports that the run was stopped before it had begun.
var ErrStopped = errors.New("stopped before the start")

// Run runs an election between processors of an algorithm, or those that o.Spawn makes.
func Run(ctx context.Context, a program.Program, o Options) (*Result, error) {
	program := process.Opened(a)
	p, err := network.Prepare(program.Declaration, o.Setup)
	if err != nil {
		return nil, err
	}
	if err := o.check(p); err != nil {
		return nil, fmt.Errorf("%w %s over sockets: %w", ErrOptions, program.Name, err)
	}
	for {
		r, err := once(ctx, p, program, &o)
		if err != nil || !o.Patient || r.Longest <= r.Assumed || ctx.Err() != nil {
			return r, err
		}
		o.Unit *= 2
	}
}

// once is one run, with one unit.
func once(ctx context.Context, p *network.Instance, program *process.Program, o *Options) (*Result, error) {
	d, n := p.Declaration(), p.Size()
	c := &conductor{p: p, o: o, limit: o.Limit, assumed: process.Never, within: process.Never, dead: make([]bool, n), controls: make([]Control, n)}
	if d.Timing == election.Timed {
		c.assume()
	}
	if c.limit == 0 {
		c.limit = math.MaxUint64
	}
	plan := Plan{
		Algorithm: d.Name, IDs: make([]uint64, n), Setup: o.Setup, Seed: o.Seed, Dead: o.Dead, Unit: o.Unit,
		Within: process.Never, Limit: c.limit, Secret: make([]byte, secretSize),
	}
	if o.Patient {
		plan.Within = c.assumed
	}
	rand.Read(plan.Secret) // never fails
	plan.Setup.IDs = nil
	for i := range plan.IDs {
		plan.IDs[i] = o.Setup.IDs.At(i)
	}
	for _, q := range o.Dead {
		c.dead[q] = true
	}
	defer c.close()
	var err error
	for q := range n {
		if c.dead[q] {
			continue
		}
		if ctx.Err() != nil {
			return nil, ErrStopped
		}
		plan.Position = q
		if o.Spawn != nil {
			c.controls[q], err = o.Spawn(plan)
		} else {
			c.controls[q], err = begin(p, program, plan)
		}
		if err != nil {
			return nil, c.failed(fmt.Errorf("%s cannot start: %w", c.p.Name(q), err))
		}
	}
	r, err := c.conduct(ctx)
	if err != nil {
		return nil, c.failed(err)
	}
	return r, nil
}

// assume sets what a timed algorithm assumes, and values derived from that.
func (c *conductor) assume() {
	d, n := c.p.Declaration(), c.p.Size()
	c.assumed = process.Moment(0, d.LongestDelay(c.p.Parameters), c.o.Unit)
	if c.limit > 0 {
		return
	}
	c.limit = DefaultLimit(n)
	if d.Settles != nil {
		c.within = process.Moment(0, d.Settles(uint64(n), c.p.Parameters).Times(patience), c.o.Unit)
	}
}

// check returns an error for an impossible run, and sets defaults.
func (o *Options) check(p *network.Instance) error {
	d, n := p.Declaration(), p.Size()
	if o.Initiators == nil {
		o.Initiators = p.Initiators(o.Dead)
	}
	if err := p.CheckStart(o.Initiators, o.Dead, o.AnyTime); err != nil {
		return err
	}
	switch {
	case d.Leased:
		return errors.New("its leases expire, so its elections never end; a simulation with a limit can run it")
	case o.Unit < 0:
		return fmt.Errorf("a unit is a duration above 0, such as %s, not %s", DefaultUnit(1), o.Unit)
	case o.Unit > 0 && d.Timing == election.Asynchronous:
		return errors.New("it has no timers, so a unit has no effect")
	case o.Unit == 0 && d.Timing == election.Timed:
		o.Unit = DefaultUnit(p.Network.Links())
	}
	if o.Spawn != nil {
		return enough(n, d.Topology, filesOfConductor, "each process", mayOpen())
	}
	return enough(n, d.Topology, files, "this process", mayOpen())
}

// enough returns an error, with a possible size, if n processes need more files than may be open.
func enough(n int, t election.Topology, need func(election.Topology, int) int, where string, may int) error {
	if need(t, n) <= may {
		return nil
	}
	most := n
	for most > 0 && need(t, most) > may {
		most--
	}
	would := "use at most " + amount.Of(most, "process") + ", or a higher limit"
	if most == 0 {
		would = fmt.Sprintf("use a limit of %d", need(t, n))
	}
	return fmt.Errorf("%d processes on a %s need %d open files, and %s may have %d; %s (ulimit -n)", n, t.Phrase(0), need(t, n), where, may, would)
}

// spare is the number of other open files of a process.
const spare = 64

// connections returns the number of connections of n processes: one for each pair of links, there and back.
func connections(t election.Topology, n int) int {
	switch t {
	case election.Ring:
		return n
	case election.Complete:
		return n*(n-1)/2 + n // and one to itself
	case election.UnknownNeighbours:
		return n * (n - 1) / 2
	}
	return n - 1
}

// files returns the number of open files of a process that runs all processors: both ends of each connection, and a
// listener each.
func files(t election.Topology, n int) int { return spare + 2*connections(t, n) + n }

// filesOfConductor returns the number of open files of the process that runs a process for each processor, two pipes
// to each. Those have fewer, except on a star.
func filesOfConductor(_ election.Topology, n int) int { return spare + 2*n }
