package verify

import (
	"cmp"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
)

// world is everything at one moment, as numbers in the checker's tables: the processes by position,
// then the queues of the directed links, then the rest.
type world []uint32

// member is one process: its own state, and what the world knows about it.
type member struct {
	State    process.State
	Position uint32
	Alive    bool
	Start    start
	Decision election.Decision
	Running  uint8 // the timers that run, as bits
	Timers   [8]election.Deadline
	Lease    election.Deadline // until when it leads
	Suspects uint64            // ports whose process has crashed without the detector saying so yet, as bits
}

const maxSuspects = 64

// start says whether a process is still going to start by itself.
type start uint8

const (
	never start = iota
	first       // before anything else happens
	may         // when the schedule likes; it need not, once another one has
	must        // when the schedule likes
)

// letter is a message without its journey.
type letter struct {
	Kind   election.Kind
	Letter process.Letter
}

// underWay is a message on a link.
type underWay struct {
	Letter uint32
	Age    uint32 // in units of time, where there is a clock
}

// rest is what belongs to no process and no link.
type rest struct {
	Crashes, Recoveries, Commands uint32 // how many may still come
	Disturbed                     bool   // there was a crash or a command
	Begun                         bool   // somebody has started
	Late                          bool   // synchronous: the timers of this unit have begun
	Led                           []tenure
}

// tenure says who has led in a term, ever.
type tenure struct {
	Term     election.Term
	Position uint32
}

// link is a directed link: who sends on it, and where it arrives.
type link struct {
	from, to int
	port     election.Port // of to
}

// checker explores one instance of an algorithm.
type checker struct {
	d     *election.Declaration // with the parameters of the instance
	has   election.Functions
	o     *Options
	p     *election.Prepared
	n     int
	clock bool            // time passes
	best  election.ID     // the right leader, were all alive and all the willing candidates; 0 if any is right
	born  []process.State // by position
	links []link
	into  [][]int // by process and port: the link that arrives there

	values    *process.Values
	processes *table[member]
	letters   *table[letter]
	queues    *table[[]underWay] // number 0 is the empty queue
	rests     *table[rest]

	outcomes map[deed][]outcome
	pushes   map[[2]uint32]uint32 // queue and letter → queue
	pulls    map[[2]uint32]uint32 // queue and place → queue
	ages     map[age]uint32
	costs    map[cost]uint16
	base     world // scratch of a move: before the process's own step
	next     world // after it

	graph graph
}

func newChecker(program *process.Program, o *Options, instance election.Instance) (*checker, error) {
	p, err := program.Prepare(instance)
	if err != nil {
		return nil, err
	}
	c := &checker{
		d: p.Declaration(), has: program.Functions, o: o, p: p, n: p.Size(), clock: program.Timing != election.Asynchronous,
		values: program.NewValues(p), ages: map[age]uint32{},
		outcomes: map[deed][]outcome{}, pushes: map[[2]uint32]uint32{}, pulls: map[[2]uint32]uint32{}, costs: map[cost]uint16{{}: 0}, graph: graph{costs: []cost{{}}}, // what is not a step costs nothing
	}
	if c.processes, err = newTable[member](); err != nil {
		return nil, err
	}
	if c.letters, err = newTable[letter](); err != nil {
		return nil, err
	}
	if c.queues, err = newTable[[]underWay](); err != nil {
		return nil, err
	}
	if c.rests, err = newTable[rest](); err != nil {
		return nil, err
	}
	c.queues.of(&[]underWay{}, election.Ticks{})
	c.links, c.into = make([]link, p.Network.Links()), make([][]int, c.n)
	for from := range c.n {
		c.into[from] = make([]int, p.Network.Degree(from))
	}
	for from := range c.n {
		for port := range p.Network.Degree(from) {
			l := p.Network.First(from) + uint32(port)
			to, at := p.Network.End(l)
			c.links[l] = link{from, to, at}
			c.into[to][at] = int(l)
		}
	}
	size := c.n + len(c.links) + 1
	c.base, c.next = make(world, size), make(world, size)
	c.best = p.Right(p.Willing)
	for q := range c.n {
		if err := c.bear(q); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *checker) bear(q int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("algorithm %q: New panics for %s: %v", c.d.Name, c.p.Name(q), r)
		}
	}()
	c.born = append(c.born, c.values.Born(q))
	return nil
}

// begin is a world in which nothing has happened yet.
func (c *checker) begin(starts []start) world {
	w := make(world, len(c.base))
	for q := range c.n {
		newborn := member{State: c.born[q], Position: uint32(q), Alive: true, Start: starts[q]}
		w[q] = c.processes.of(&newborn, election.Ticks{})
	}
	w[len(w)-1] = c.rests.of(&rest{
		Crashes: uint32(c.o.Crashes), Recoveries: uint32(c.o.Recoveries), Commands: uint32(c.o.Commands),
	}, election.Ticks{})
	return w
}

// beginnings are the worlds in which runs begin.
func (c *checker) beginnings() []world {
	starts, others := make([]start, c.n), never
	if c.d.Starts == election.AllStart {
		others = must
	}
	only := func(initiates func(q int) bool) world {
		for q := range starts {
			starts[q] = others
			if initiates(q) {
				starts[q] = first
			}
		}
		return c.begin(starts)
	}
	switch {
	case c.o.Initiators != nil:
		given := map[int]bool{}
		for _, q := range c.o.Initiators {
			given[q] = true
		}
		return []world{only(func(q int) bool { return given[q] })}
	case c.o.Starts == AllFirst:
		return []world{only(func(int) bool { return true })}
	case c.o.Starts == EverySet:
		var worlds []world
		for set := 1; set < 1<<c.n; set++ {
			worlds = append(worlds, only(func(q int) bool { return set>>q&1 == 1 }))
		}
		return worlds
	}
	for q := range starts {
		starts[q] = max(others, may)
	}
	return []world{c.begin(starts)}
}

func (c *checker) process(w world, q int) *member { return &c.processes.values[w[q]] }

func (c *checker) queue(w world, l int) []underWay { return c.queues.values[w[c.n+l]] }

func (c *checker) rest(w world) *rest { return &c.rests.values[w[len(w)-1]] }

func (c *checker) setProcess(w world, p *member) {
	w[p.Position] = c.processes.of(p, election.Ticks{})
}

func (c *checker) setRest(w world, r *rest) {
	w[len(w)-1] = c.rests.of(r, election.Ticks{})
}

// push puts a letter at the end of a link.
func (c *checker) push(w world, l int, letter uint32) {
	at := &w[c.n+l]
	key := [2]uint32{*at, letter}
	longer, found := c.pushes[key]
	if !found {
		old := c.queues.values[*at]
		queue := append(old[:len(old):len(old)], underWay{Letter: letter})
		c.sort(queue)
		longer = c.queues.of(&queue, election.Ticks{})
		c.pushes[key] = longer
	}
	*at = longer
}

// pull takes the message at a place of a link away.
func (c *checker) pull(w world, l, place int) {
	at := &w[c.n+l]
	key := [2]uint32{*at, uint32(place)}
	shorter, found := c.pulls[key]
	if !found {
		old := c.queues.values[*at]
		queue := append(old[:place:place], old[place+1:]...)
		shorter = c.queues.of(&queue, election.Ticks{})
		c.pulls[key] = shorter
	}
	*at = shorter
}

// pass lets time pass everywhere.
func (c *checker) pass(w world, time election.Ticks) {
	for q := range c.n {
		w[q] = c.older(w[q], time)
	}
	for l := range c.links {
		old := c.queue(w, l)
		if len(old) == 0 {
			continue
		}
		queue := make([]underWay, len(old))
		for i, m := range old { // while a message is under way, time passes unit by unit
			queue[i] = underWay{m.Letter, m.Age + uint32(time.Lo)}
		}
		w[c.n+l] = c.queues.of(&queue, election.Ticks{})
	}
	if r := *c.rest(w); r.Late {
		r.Late = false
		c.setRest(w, &r)
	}
}

// age is a process and a time that passes.
type age struct {
	process uint32
	time    election.Ticks
}

// older is a process when some time has passed.
func (c *checker) older(number uint32, time election.Ticks) uint32 {
	key := age{number, time}
	older, found := c.ages[key]
	if !found {
		p := c.processes.values[number]
		p.State = c.values.Age(p.State, time)
		older = c.processes.of(&p, time)
		c.ages[key] = older
	}
	return older
}

// sort brings a queue without an order into the one that stands for all its orders.
func (c *checker) sort(queue []underWay) {
	if c.o.Unordered {
		slices.SortFunc(queue, func(m, n underWay) int {
			return cmp.Or(cmp.Compare(m.Letter, n.Letter), cmp.Compare(m.Age, n.Age))
		})
	}
}
