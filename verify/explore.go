package verify

import (
	"sync"
	"sync/atomic"

	"ringleader.example/ringleader/election"
)

// finding is a breach and the path to it.
type finding struct {
	breach
	root  int   // the index of the beginning
	path  []int // the index of the transition at each configuration
	round int   // how many of the last transitions can repeat for ever
}

// search explores the configurations of one instance, breadth first. A level of states at the same distance is divided
// into pages. Workers expand pages, each into a batch of moves; then the table separates known states from new ones; then
// the moves are taken over in the order of the states that they leave. So nothing depends on the number of workers.
type search struct {
	o       *Options
	meter   *meter
	workers []*worker
	share   *exchange // of the numbers in pages; nil with one worker
	table   *table
	batches []batch

	result
	limit     int // of states
	looked    int // how many there were at the last look at the meter
	ahead     int // … and how many of them were to be explored
	current   []*page
	following []*page
	free      []*page
	beyond    uint32 // the number of the first state of the following level
	found     *finding
	tree      discoveries
	graph     graph
	actions   map[actionKey]uint16 // if there are several workers
	lean      bool                 // there are no edges: every move leads to the following level, which shows that there is no cycle
	layered   bool                 // that has been true so far
	strict    bool                 // the search ends if it is not
	forward   forward
}

// result is the result of a search.
type result struct {
	states, transitions, finals, depth int
	complete                           bool
	bits                               int  // of fingerprints
	confluent                          int  // 1 if these are of a single schedule
	partial                            int  // 1 if partial order left out some
	symmetric                          bool // symmetry did
}

// page holds consecutive states of one level.
type page struct {
	first  uint32   // the number of the first
	confs  []uint32 // their configurations
	prints []fingerprint
	spans  []span // of a lean search
}

const (
	pageStates = 256
	blockPages = 32 // pages whose moves are kept at a time
)

// batch holds the moves out of the states of a page.
type batch struct {
	by    *worker
	page  *page
	exits []exit
	moves []move
	confs []uint32  // where the moves lead that break nothing
	wrong []*breach // of the moves that do
}

// exit is what is known of a state besides its moves.
type exit struct {
	moves   uint32 // in the batch, up to those of this state
	ends    bool   // a run may end here
	settled bool   // … and all is well then; of a service, for every state
	wrong   *breach
}

// move is a transition as the search sees it.
type move struct {
	print  fingerprint
	number uint32 // of the state to which it leads; its place in the table if that state has none yet
	cost   uint16 // by the numbers of the worker
	action uint16 // likewise
	class  class
	to     target
}

// target is what is known of the state to which a move leads.
type target uint8

const (
	known  target = iota
	fresh         // it is the first to lead there
	shared        // an earlier one of the same block leads there
	broken        // it breaks a property, and leads nowhere
)

// explore visits all configurations, and stops at the first level with a violation. If fewer is not negative, it
// searches only for violations after fewer transitions than that.
func (x *search) explore(fewer int) *finding {
	first := x.workers[0]
	for _, conf := range first.beginnings() {
		x.begin(first, conf)
	}
	x.tree.roots, x.graph.roots = x.states, x.states
	for depth := 0; len(x.following) > 0 && x.found == nil && x.goes(); depth++ {
		if fewer >= 0 && depth >= fewer {
			return nil
		}
		x.depth = max(x.depth, depth)
		x.level(depth)
	}
	if x.found != nil && fewer >= 0 && len(x.found.path) >= fewer {
		return nil
	}
	return x.found
}

// exactly is the number of states up to which 128 bits of each fingerprint are kept in any case.
const exactly = 10_000_000

// goes reports whether the search continues.
func (x *search) goes() bool { return x.complete && (x.layered || !x.strict) && !x.heard() }

// begin adds a beginning.
func (x *search) begin(w *worker, conf configuration) {
	print := w.identity(conf)
	x.table.reserve(shardOf(print), 1)
	place, isNew := x.table.add(print)
	if !isNew {
		return
	}
	if x.states == x.limit {
		x.complete = false
		return
	}
	w.export(conf)
	x.table.shards[shardOf(print)].numbers[place] = x.append(w.sent, print)
	if x.lean {
		*x.spanOf(uint32(x.states - 1)) = span{}
	}
}

// append adds a new state to the following level, and returns its number.
func (x *search) append(conf []uint32, print fingerprint) uint32 {
	last := len(x.following) - 1
	if last < 0 || len(x.following[last].prints) == pageStates {
		x.following = append(x.following, x.page(len(conf)))
		last++
	}
	p := x.following[last]
	p.confs, p.prints = append(p.confs, conf...), append(p.prints, print)
	if x.lean {
		p.spans = append(p.spans, span{least: [costs]uint32{unreached}})
	}
	x.states++
	return uint32(x.states - 1)
}

// page returns an empty page for the next states.
func (x *search) page(size int) *page {
	if last := len(x.free) - 1; last >= 0 {
		p := x.free[last]
		x.free = x.free[:last]
		*p = page{uint32(x.states), p.confs[:0], p.prints[:0], p.spans[:0]}
		return p
	}
	return &page{first: uint32(x.states), confs: make([]uint32, 0, pageStates*size)}
}

// level explores all states of the last level.
func (x *search) level(depth int) {
	x.current, x.following = x.following, x.current[:0]
	x.beyond = uint32(x.states)
	for at := 0; at < len(x.current) && x.goes(); at += blockPages {
		block := x.current[at:min(at+blockPages, len(x.current))]
		for len(x.batches) < len(block) {
			x.batches = append(x.batches, batch{})
		}
		batches := x.batches[:len(block)]
		x.expand(block, batches)
		x.recognize(batches)
		for i := range batches {
			if x.goes() {
				x.take(&batches[i], depth)
			}
		}
		x.free = append(x.free, block...)
		if x.states > exactly && !x.o.Exact && !x.table.narrow {
			x.table.narrowed()
			x.bits = 64
		}
		x.complete = x.complete && x.meter.goes(x, len(x.current)-at-len(block)+len(x.following))
	}
}

// expand lets the workers make all moves out of some pages.
func (x *search) expand(block []*page, batches []batch) {
	var next atomic.Int64
	x.parallel(len(block), func(worker int) {
		for i := int(next.Add(1)) - 1; i < len(block); i = int(next.Add(1)) - 1 {
			x.workers[worker].expand(block[i], &batches[i])
		}
	})
}

// parallel runs work on each worker, or on the first one alone if there is little of it.
func (x *search) parallel(pieces int, work func(worker int)) {
	parallel(min(len(x.workers), pieces), work)
}

// parallel runs work so many times at once. A panic of one of them is a panic here.
func parallel(times int, work func(number int)) {
	if times == 1 {
		work(0)
		return
	}
	var all sync.WaitGroup
	faults := make([]any, times)
	for number := range times {
		all.Go(func() {
			defer func() { faults[number] = recover() }()
			work(number)
		})
	}
	all.Wait()
	for _, fault := range faults {
		if fault != nil {
			panic(fault)
		}
	}
}

// recognize finds in the table the states to which moves lead, and adds the new ones.
func (x *search) recognize(batches []batch) {
	var more [shards]int
	for i := range batches {
		for k := range batches[i].moves {
			more[shardOf(batches[i].moves[k].print)]++
		}
	}
	x.parallel(len(batches), func(worker int) {
		step := min(len(x.workers), len(batches))
		for s := worker; s < shards; s += step {
			x.table.reserve(s, more[s])
		}
		for i := range batches {
			for k := range batches[i].moves {
				if m := &batches[i].moves[k]; shardOf(m.print)%step == worker && m.to != broken {
					x.table.recognize(m)
				}
			}
		}
	})
}

// recognize finds the state to which a move leads.
func (t *table) recognize(m *move) {
	place, isNew := t.add(m.print)
	switch number := t.shards[shardOf(m.print)].numbers[place]; {
	case isNew:
		m.number, m.to = place, fresh
	case number == unnumbered:
		m.number, m.to = place, shared
	default:
		m.number, m.to = number, known
	}
}

// take takes over the moves of a batch, in order.
func (x *search) take(b *batch, depth int) {
	size, conf, wrong, k := len(b.by.next), 0, 0, uint32(0)
	for i := range b.exits {
		e, state := &b.exits[i], b.page.first+uint32(i)
		x.open()
		for ordinal := 0; k < e.moves; ordinal++ {
			m := &b.moves[k]
			k++
			x.transitions++
			if m.to == broken {
				x.violated(b.wrong[wrong], state, depth+1, ordinal)
				wrong++
				continue
			}
			if to, ok := x.reach(m, b.confs[conf:conf+size], ordinal); ok {
				x.lead(b, i, m, to)
			}
			conf += size
		}
		x.leave(e, state, depth)
		if x.lean {
			x.forward.leave(&b.page.spans[i], e.ends)
		}
		if !x.goes() {
			return
		}
	}
}

// open begins the moves of the next state.
func (x *search) open() {
	x.tree.open()
	if !x.lean {
		x.graph.open()
	}
}

// reach returns the number of the state to which a move leads. It reports false if there is no room for one more.
func (x *search) reach(m *move, conf []uint32, ordinal int) (state uint32, ok bool) {
	if m.to == known {
		return m.number, true
	}
	number := &x.table.shards[shardOf(m.print)].numbers[m.number]
	if *number != unnumbered {
		return *number, true
	}
	if x.states == x.limit {
		x.complete = false
		return 0, false
	}
	*number = x.append(conf, m.print)
	x.tree.add(ordinal)
	return *number, true
}

// lead notes that a move leads from state i of a page to another one.
func (x *search) lead(b *batch, i int, m *move, to uint32) {
	if !x.lean {
		x.graph.add(edge{to: to, cost: x.costOf(b.by, m.cost), class: m.class})
		if !x.o.SafetyOnly {
			x.graph.act(x.actionOf(b.by, m.action))
		}
		return
	}
	if x.forward.lost {
		return
	}
	if to < x.beyond || m.class != byFault && !x.spanOf(to).reach(&b.page.spans[i], b.by.costs[m.cost]) {
		x.layered, x.forward.lost = false, true
	}
}

// costOf returns the graph's number of a cost of a worker.
func (x *search) costOf(w *worker, number uint16) uint16 {
	to := look(&w.costNumbers, uint32(number))
	if *to == 0 {
		*to = uint32(x.graph.number(w.costs[number])) + 1
	}
	return uint16(*to - 1)
}

// actionOf returns the graph's number of an action of a worker.
func (x *search) actionOf(w *worker, number uint16) uint16 {
	links := len(w.links)
	if int(number) < links || number == crowd || len(x.workers) == 1 {
		return number
	}
	key := w.actionKeys[int(number)-links]
	same, found := x.actions[key]
	if !found {
		same = uint16(min(links+len(x.actions), crowd))
		x.actions[key] = same
	}
	return same
}

// spanOf returns the span of a state of the following level.
func (x *search) spanOf(state uint32) *span {
	at := state - x.following[0].first
	return &x.following[at/pageStates].spans[at%pageStates]
}

// leave judges a state as one in which a run may end.
func (x *search) leave(e *exit, state uint32, depth int) {
	if e.ends {
		x.finals++
	}
	service := x.workers[0].d.Task != election.Once // may end in a cycle
	if x.o.SafetyOnly || !e.ends && !service {
		return
	}
	if service && !x.lean {
		x.graph.settled = append(x.graph.settled, e.settled)
	}
	if e.ends && !e.settled {
		x.violated(e.wrong, state, depth)
	}
}

// violated keeps a violation if no shorter path to one is known: the path to a state, and one more transition if any.
func (x *search) violated(f *breach, state uint32, length int, last ...int) {
	if x.o.only != "" && f.Property != x.o.only {
		return
	}
	if x.found == nil || length < len(x.found.path) {
		x.found = &finding{breach: *f}
		x.found.root, x.found.path = x.tree.path(state)
		x.found.path = append(x.found.path, last...)
	}
}

// worker expands states.
type worker struct {
	*checker
	exchange    *exchange
	numbers     [parts]translation
	costNumbers []uint32      // by number of a cost: one more than the graph's number of it; 0: none yet
	here        configuration // the state that is being expanded
	print0      fingerprint   // its fingerprint
	sent        []uint32      // a configuration by shared numbers
	out         *batch
	ends        bool
	lean        bool // no actions are asked for
	visitor     visitor
}

func newWorker(c *checker, e *exchange) *worker {
	w := &worker{checker: c, exchange: e}
	w.visitor = w.visit
	return w
}

// expand makes all moves out of the states of a page.
func (w *worker) expand(p *page, b *batch) {
	*b = batch{w, p, b.exits[:0], b.moves[:0], b.confs[:0], b.wrong[:0]}
	w.out = b
	size := len(w.next)
	for i := range p.prints {
		w.ends, w.print0 = true, p.prints[i]
		w.load(p.confs[i*size : (i+1)*size])
		if w.silent != nil {
			w.narrow(w.here)
		}
		w.transitions(w.here, w.visitor)
		e := exit{moves: uint32(len(b.moves)), ends: w.ends}
		if !w.o.SafetyOnly && (w.ends || w.d.Task != election.Once) {
			e.wrong = w.settled(w.here)
			e.settled = e.wrong == nil
		}
		b.exits = append(b.exits, e)
	}
}

func (w *worker) visit(t *transition, next configuration) {
	w.ends = w.ends && t.class != due
	if w.silent != nil {
		w.hears(t)
	}
	m := move{class: t.class}
	if t.outcome != nil {
		m.cost = t.outcome.cost
	}
	if !w.lean && !w.o.SafetyOnly {
		m.action = w.action(t, w.here)
	}
	if t.breach != nil {
		m.to = broken
		w.out.wrong = append(w.out.wrong, t.breach)
	} else {
		if w.alike != nil {
			m.print = w.orbit(next)
		} else {
			m.print = w.printAfter(w.print0, w.here, next)
		}
		w.export(next)
		w.out.confs = append(w.out.confs, w.sent...)
	}
	w.out.moves = append(w.out.moves, m)
}
