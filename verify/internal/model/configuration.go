package model

import (
	"cmp"
	"encoding/binary"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

// Configuration is the whole state at one moment, as numbers of the checker's interners: the processes by position,
// then the queues of the directed links, then the rest.
type Configuration []uint32

// ProcessState is one process: its own state, and the checker's data about it.
type ProcessState struct {
	State    process.State
	Position uint32
	ID       election.ID // its identifier, because the outcome of a step depends on it
	Alive    bool
	Start    start
	Decision network.Decision
	Running  uint8 // the timers that run, as bits
	Timers   [8]election.Deadline
	Anchored uint8             // those of the timers that are set at a deadline, as bits; for lazy time
	Lease    election.Deadline // until when it is leader
	Orphan   election.Deadline // until when work that its ended lives began under a lease may continue
	Stopping bool              // its host is to stop its work, and has not
	Suspects uint64            // ports, as bits: the process has crashed, and the detector has not reported it yet
	// Suspected are the ports whose process the detector has reported as suspected, as bits. Trust withdraws it.
	Suspected uint64
	Proofs    []death // the proven deaths that have not been reported to it
}

// MaxSuspects is the maximum number of processes of which some may be suspected: they are bits.
const MaxSuspects = 64

// start is whether a process may still start by itself.
type start uint8

// The values of start.
const (
	NeverStarts start = iota
	StartsFirst       // before any other event
	mayStart          // at any time; it need not, once another one has
	MustStart         // at any time
)

// message is a message without its journey.
type message struct {
	Kind election.Kind
	Body process.Body
}

// underWay is a message on a link.
type underWay struct {
	Message uint32
	Age     uint32 // in units of time, with a clock
}

// Global holds what belongs to no process and no link.
type Global struct {
	Crashes, Recoveries, Commands        uint32   // how many may still come
	Losses, Duplicates, Cuts, Suspicions uint32   // likewise
	Cut                                  []uint16 // the cuts in force, by number
	Disturbed                            bool     // there was a fault or a command
	Begun                                bool     // a process has started
	Late                                 bool     // synchronous: the timers of this unit have begun
	Led                                  []Tenure
}

// Tenure holds the processes that have led in a term so far.
type Tenure struct {
	Term     election.Term
	Position uint32
}

// link is a directed link: its sender, its receiver and the receiver's port.
type link struct {
	From, To int
	Port     election.Port // of to
}

// Checker makes the transitions of one setup at a time. What it computed once serves all setups that differ only
// in the order of identifiers.
type Checker struct {
	program     *process.Program
	Declaration *election.Declaration // with the parameters of the setup
	Functions   election.Functions
	Options     *Options
	Network     *network.Instance
	N           int
	clock       bool            // time passes
	faultless   bool            // no process can be suspected, cut off or commanded
	Best        election.ID     // the right leader if all processes are live and all willing ones are candidates; 0 if any is right
	Born        []process.State // by position
	Links       []link
	Into        [][]int // by process and port: the link that arrives there
	Places      []int   // by link: its place in a configuration; -1 if it never carries a message
	Keys        []placeKey
	Cuts        []cut // those that may come

	Commands []election.Command // what hosts ask or tell: resign, stopped, and then the proofs of death so far

	Random bool // a step has made a random choice, in any order of identifiers so far

	Values    *process.Values
	Processes *interner[ProcessState]
	Messages  *interner[message]
	Queues    *interner[[]underWay] // number 0 is the empty queue
	Globals   *interner[Global]

	Look   func() error // called now and then amid a step with many outcomes or messages; an error ends the search by a [Halt]; may be nil
	effort int          // since the last look

	known    memo        // from a stepKey to an index of outcomes
	steps    [][]Outcome // what steps do
	pushes   memo        // queue and message → queue
	pulls    memo        // queue and place → queue
	waits    memo        // queue and time → queue
	deaths   memo        // state and position → the state after a crash
	ages     map[age]uint32
	Base     Configuration  // scratch of a transition: before the process's own step
	Next     Configuration  // after it
	taken    Transition     // the transition that is being visited
	selector *EventSelector // of a walk, which makes one event only; nil: all are made

	Low, High int                 // the processes whose events are visited: all, unless partial order leaves out some
	Narrow    func(Configuration) // with partial order: leaves out processes whose events need not be visited in a configuration; else nil

	Costs      []Cost // of steps, by number; what is not a step has cost 0
	numbers    map[Cost]uint16
	actions    map[ActionKey]uint16
	ActionKeys []ActionKey // by number, after the links
	Seen       uint32      // the sights so far, as bits
}

// NewChecker returns a checker for a setup. The error is that of [network.Prepare], or a [process.Fault].
func NewChecker(program *process.Program, o *Options, setup network.Setup) (c *Checker, err error) {
	defer Halted(&err)
	c = &Checker{
		program: program, Functions: program.Functions, Options: o, ages: map[age]uint32{}, Costs: []Cost{{}}, numbers: map[Cost]uint16{{}: 0},
		actions: map[ActionKey]uint16{}, Commands: []election.Command{resign: {Order: election.Resign}, stopped: {Order: election.Stopped}},
	}
	if c.Processes, err = newInterner[ProcessState](); err != nil {
		return nil, err
	}
	if c.Messages, err = newInterner[message](); err != nil {
		return nil, err
	}
	if c.Queues, err = newInterner[[]underWay](); err != nil {
		return nil, err
	}
	if c.Globals, err = newInterner[Global](); err != nil {
		return nil, err
	}
	c.faultless = o.Crashes+o.Commands+o.Cuts+o.Suspicions == 0
	c.Processes.portable, c.Messages.portable, c.Queues.portable = c.portableProcess, c.portableMessage, c.portableQueue
	c.Queues.Number(&[]underWay{}, election.Ticks{})
	return c, c.On(setup)
}

// On turns the checker to a setup.
func (c *Checker) On(setup network.Setup) error {
	p, err := network.Prepare(c.program.Declaration, setup)
	if err != nil {
		return err
	}
	c.Declaration, c.Network, c.N, c.clock = p.Declaration(), p, p.Size(), c.program.Timing != election.Asynchronous || c.Options.Times
	if c.Values == nil {
		c.Values = c.program.NewValues(p)
	}
	c.Values.On(p)
	c.deaths = memo{} // newborn processes depend on the network
	c.connect()
	if c.Options.Cuts > 0 {
		c.Cuts = c.possibleCuts()
	}
	c.Best, c.Seen, c.Low, c.High = p.Right(p.Willing), 0, 0, c.N
	c.Born = c.Born[:0]
	for q := range c.N {
		c.Born = append(c.Born, c.Values.Born(q))
	}
	return nil
}

// connect reads the links of the network, and lays out the configurations.
func (c *Checker) connect() {
	w := c.Network.Network
	c.Links, c.Into, c.Places = make([]link, w.Links()), make([][]int, c.N), make([]int, w.Links())
	for from := range c.N {
		c.Into[from] = make([]int, w.Degree(from))
	}
	place := c.N
	for from := range c.N {
		for port := range w.Degree(from) {
			l := w.First(from) + uint32(port)
			to, at := w.End(l)
			c.Links[l] = link{from, to, at}
			c.Into[to][at] = int(l)
			if c.Declaration.OneWay && port != 0 {
				c.Places[l] = -1
				continue
			}
			c.Places[l] = place
			place++
		}
	}
	c.Base, c.Next = make(Configuration, place+1), make(Configuration, place+1)
	if len(c.Keys) != place+1 {
		c.Keys = placeKeys(place + 1)
	}
}

// begin returns a configuration before any event.
func (c *Checker) begin(starts []start) Configuration {
	conf := make(Configuration, len(c.Base))
	for q := range c.N {
		newborn := ProcessState{State: c.Born[q], Position: uint32(q), ID: c.Network.ID(q), Alive: true, Start: starts[q]}
		conf[q] = c.Processes.Number(&newborn, election.Ticks{})
	}
	conf[len(conf)-1] = c.Globals.Number(c.Options.Unused(), election.Ticks{})
	return conf
}

// Beginnings returns the configurations in which the search begins.
func (c *Checker) Beginnings() []Configuration {
	if r := c.resumed(); r != nil { // at one place
		return []Configuration{r.Last}
	}
	return c.initial()
}

// resumed returns the recorder of a run that has begun, at its end, or at a moment; nil if runs begin anew.
func (c *Checker) resumed() *recorder {
	resume := c.Resume
	switch {
	case c.Options.Moment != nil:
		resume = c.begun
	case c.Options.Prefix == nil:
		return nil
	}
	r, err := resume()
	if err != nil {
		panic(err) // it was made before
	}
	return r
}

// initial returns the configurations in which runs begin.
func (c *Checker) initial() []Configuration {
	starts, others := make([]start, c.N), NeverStarts
	if c.Declaration.Starts == election.AllStart {
		others = MustStart
	}
	only := func(initiates func(q int) bool) Configuration {
		for q := range starts {
			starts[q] = others
			if initiates(q) {
				starts[q] = StartsFirst
			}
		}
		return c.begin(starts)
	}
	switch {
	case c.Options.Initiators != nil:
		given := map[int]bool{}
		for _, q := range c.Options.Initiators {
			given[q] = true
		}
		return []Configuration{only(func(q int) bool { return given[q] })}
	case c.Options.Starts == AllFirst:
		return []Configuration{only(func(int) bool { return true })}
	case c.Options.Starts == EverySet:
		var configurations []Configuration
		for set := 1; set < 1<<c.N; set++ {
			configurations = append(configurations, only(func(q int) bool { return set>>q&1 == 1 }))
		}
		return configurations
	}
	if c.Options.Starts == Each {
		others = MustStart
	}
	for q := range starts {
		starts[q] = max(others, mayStart)
	}
	return []Configuration{c.begin(starts)}
}

// Process returns a process of a configuration.
func (c *Checker) Process(conf Configuration, q int) *ProcessState {
	return &c.Processes.Values[conf[q]]
}

// Queue returns the messages on a link, the oldest first.
func (c *Checker) Queue(conf Configuration, l int) []underWay {
	if c.Places[l] < 0 {
		return nil
	}
	return c.Queues.Values[conf[c.Places[l]]]
}

// Global returns what belongs to no process and no link.
func (c *Checker) Global(conf Configuration) *Global { return &c.Globals.Values[conf[len(conf)-1]] }

// SetProcess changes a process of a configuration.
func (c *Checker) SetProcess(conf Configuration, p *ProcessState) {
	conf[p.Position] = c.Processes.Number(p, election.Ticks{})
}

// SetGlobal changes what belongs to no process and no link.
func (c *Checker) SetGlobal(conf Configuration, g *Global) {
	conf[len(conf)-1] = c.Globals.Number(g, election.Ticks{})
}

// push puts a message at the end of a link.
func (c *Checker) push(conf Configuration, l int, message uint32) {
	at := &conf[c.Places[l]]
	longer, found := c.pushes.get(uint64(*at), uint64(message))
	if !found {
		old := c.Queues.Values[*at]
		c.look(len(old))
		queue := append(old[:len(old):len(old)], underWay{Message: message})
		c.sort(queue)
		longer = c.Queues.Number(&queue, election.Ticks{})
		c.pushes.put(uint64(*at), uint64(message), longer)
	}
	*at = longer
}

// pull removes the message at a place of a link.
func (c *Checker) pull(conf Configuration, l, place int) {
	at := &conf[c.Places[l]]
	shorter, found := c.pulls.get(uint64(*at), uint64(place))
	if !found {
		old := c.Queues.Values[*at]
		c.look(len(old))
		queue := append(old[:place:place], old[place+1:]...)
		shorter = c.Queues.Number(&queue, election.Ticks{})
		c.pulls.put(uint64(*at), uint64(place), shorter)
	}
	*at = shorter
}

// pass lets time pass for all processes and links.
func (c *Checker) pass(conf Configuration, time election.Ticks) {
	for q := range c.N {
		conf[q] = c.older(conf[q], time)
	}
	for _, place := range c.Places {
		if place >= 0 && conf[place] != 0 && !c.Options.Lazy { // in lazy time the age of a message does not matter
			conf[place] = c.later(conf[place], time.Lo) // while a message is under way, time passes unit by unit
		}
	}
	if g := *c.Global(conf); g.Late {
		g.Late = false
		c.SetGlobal(conf, &g)
	}
}

// later returns the number of a queue after some time.
func (c *Checker) later(number uint32, time uint64) uint32 {
	later, found := c.waits.get(uint64(number), time)
	if !found {
		queue := slices.Clone(c.Queues.Values[number])
		c.look(len(queue))
		for i := range queue {
			queue[i].Age += uint32(time)
		}
		later = c.Queues.Number(&queue, election.Ticks{})
		c.waits.put(uint64(number), time, later)
	}
	return later
}

// age is a process and a passing time.
type age struct {
	process uint32
	time    election.Ticks
}

// older returns the number of a process after some time.
func (c *Checker) older(number uint32, time election.Ticks) uint32 {
	key := age{number, time}
	older, found := c.ages[key]
	if !found {
		p := c.Processes.Values[number]
		if c.Options.Lazy {
			c.ageLazily(&p, time)
			time = election.Ticks{}
		}
		p.State = c.Values.Age(p.State, time)
		older = c.Processes.Number(&p, time)
		c.ages[key] = older
		c.lapses(number, older)
	}
	return older
}

// lapses notes leases that run out while a process grows older.
func (c *Checker) lapses(young, old uint32) {
	before, after := &c.Processes.Values[young], &c.Processes.Values[old]
	if before.Decision.Role == network.Leader && !remaining(before.Lease).IsZero() && remaining(after.Lease).IsZero() {
		c.saw(sawLapse)
	}
	if !remaining(before.Orphan).IsZero() && remaining(after.Orphan).IsZero() {
		c.saw(sawOrphan)
	}
}

// sort puts an unordered queue into a canonical order, which does not depend on numbers.
func (c *Checker) sort(queue []underWay) {
	if c.Options.Unordered {
		portable := func(m underWay) string { return string(c.portableMessage(nil, &c.Messages.Values[m.Message])) }
		slices.SortFunc(queue, func(m, n underWay) int {
			return cmp.Or(cmp.Compare(portable(m), portable(n)), cmp.Compare(m.Age, n.Age))
		})
	}
}

// portableProcess appends the encoding of a process, by its state instead of the number of that.
func (c *Checker) portableProcess(dst []byte, p *ProcessState) []byte {
	plain := *p
	plain.State = 0
	return c.Values.AppendState(c.Processes.encode(dst, &plain), p.State)
}

func (c *Checker) portableMessage(dst []byte, m *message) []byte {
	return c.Values.AppendBody(append(dst, byte(m.Kind)), m.Body)
}

// portableQueue appends the encoding of a queue, with the length before each message.
func (c *Checker) portableQueue(dst []byte, queue *[]underWay) []byte {
	for _, m := range *queue {
		dst = binary.LittleEndian.AppendUint32(dst, m.Age)
		start := len(dst)
		dst = c.portableMessage(append(dst, 0, 0, 0, 0), &c.Messages.Values[m.Message])
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	}
	return dst
}
