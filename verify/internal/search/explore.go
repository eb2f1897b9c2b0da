package search

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify/internal/model"
)

// Search explores the configurations of one setup, breadth first. A level of states at the same distance is divided
// into pages. Workers expand pages, each into a batch of moves; then, each for its shards, they separate known states
// from new ones; then they number the new states of each batch, in the order in which the moves were made; the little
// that is left is done in that order by one of them. So nothing depends on the number of workers.
type Search struct {
	Options *Options
	Monitor *Monitor
	workers []*worker
	share   *exchange // of the numbers in pages; nil with one worker
	table   *table
	fringe  *frontier
	batches []*batch

	result
	limit     int // of states
	paged     int // states of a page, at most
	blocked   int // states of a block, about
	looked    int // how many there were at the last look at the monitor
	waiting   int // … and how many of them were to be explored
	made      int // bytes of the configurations to which moves have led since
	current   []*page
	following []*page
	free      []*page
	since     uint32 // the number of the first state of the current level
	beyond    uint32 // … and of the following one
	spans     []span // of the states of the current level, in a lean search
	Found     *model.Finding
	tree      discoveries
	graph     graph
	actions   map[model.ActionKey]uint16 // if there are several workers
	lean      bool                       // there are no edges: every move leads to the following level, which shows that there is no cycle
	layered   bool                       // that has been true so far
	strict    bool                       // the search ends if it is not
	levels    levelExtremes
}

// result is the result of a search.
type result struct {
	States, Transitions, Finals, Depth int
	Complete                           bool
	Reached                            limit // if it is not complete
	Bits                               int   // of fingerprints
	Confluent                          int   // 1 if these are of a single schedule
	Partial                            int   // 1 if partial order left out some
	Symmetric                          bool  // symmetry did
}

// page holds consecutive states of one level.
type page struct {
	first  uint32 // the number of the first
	confs  []byte // their configurations, packed
	prints []model.Fingerprint
}

const (
	pageStates  = 64      // of a page, at most
	blockStates = 1024    // of the pages whose moves are kept at a time, or one page
	blockBytes  = 1 << 23 // of these moves, about: a state has one on each link, and each leads to a configuration
)

// explore visits all configurations, and stops at the first level with a violation. If fewer is not negative, it
// searches only for violations after fewer transitions than that.
func (x *Search) explore(fewer int) *model.Finding {
	first := x.workers[0]
	for _, conf := range first.Beginnings() {
		x.begin(first, conf)
	}
	x.tree.roots, x.graph.roots = x.States, x.States
	for depth := 0; len(x.following) > 0 && x.Found == nil && x.goes(); depth++ {
		if fewer >= 0 && depth >= fewer {
			return nil
		}
		if depth == x.Options.MaxDepth {
			x.Complete, x.Reached = false, DepthLimit
			break
		}
		x.Depth = max(x.Depth, depth)
		x.level(depth)
	}
	if x.Found != nil && fewer >= 0 && len(x.Found.Path) >= fewer {
		return nil
	}
	return x.Found
}

// ExactStates is the number of states up to which 128 bits of each fingerprint are kept in any case.
const ExactStates = 10_000_000

// goes reports whether the search continues.
func (x *Search) goes() bool { return x.Complete && (x.layered || !x.strict) && !x.heard() }

// begin adds a beginning.
func (x *Search) begin(w *worker, conf model.Configuration) {
	print := w.identity(conf)
	x.fringe.reserve(fringeOf(print), 1)
	_, spot, isNew := x.fringe.spot(print)
	if !isNew {
		return
	}
	if x.States == x.limit {
		x.Complete, x.Reached = false, StateLimit
		return
	}
	if w.export(conf); x.States%x.paged == 0 {
		x.following = append(x.following, x.page(uint32(x.States), 1))
	}
	x.following[len(x.following)-1].add(w.sent, print)
	spot.number, spot.span = uint32(x.States), span{}
	x.States++
}

// add adds a state to a page.
func (p *page) add(conf []uint32, print model.Fingerprint) {
	for _, number := range conf {
		p.confs = binary.AppendUvarint(p.confs, uint64(number))
	}
	p.prints = append(p.prints, print)
}

// page returns an empty page for so many states from a number on.
func (x *Search) page(first uint32, states int) *page {
	p := &page{}
	if last := len(x.free) - 1; last >= 0 {
		p = x.free[last]
		x.free = x.free[:last]
	}
	size := len(x.workers[0].Next) // most numbers take one byte
	*p = page{first, slices.Grow(p.confs[:0], states*size), slices.Grow(p.prints[:0], states)}
	return p
}

// level explores all states of the last level.
func (x *Search) level(depth int) {
	x.current, x.following = x.following, x.current[:0]
	x.since = x.beyond
	x.settle()
	x.beyond = uint32(x.States)
	for rest := x.current; len(rest) > 0 && x.goes(); {
		block := rest[:1]
		for states := 0; len(block) < len(rest) && states < x.blocked; block = rest[:len(block)+1] {
			states += len(block[len(block)-1].prints)
		}
		rest = rest[len(block):]
		for len(x.batches) < len(block) {
			x.batches = append(x.batches, &batch{moves: make([][]move, len(x.workers)), read: make([]int, len(x.workers))})
		}
		batches := x.batches[:len(block)]
		x.expand(block, batches)
		x.recognize(batches)
		x.number(batches)
		for _, b := range batches {
			x.take(b, depth)
			x.made += 4 * b.confs.count * b.confs.size
		}
		x.free = append(x.free, block...)
		if x.States > x.Options.Wide && !x.Options.Exact && !x.table.narrow {
			x.table.narrowed()
			x.Bits = 64
		}
		waiting := x.States - int(x.beyond)
		for _, p := range rest {
			waiting += len(p.prints)
		}
		x.Complete = x.Complete && x.Monitor.goes(x, waiting)
	}
}

// settle enters the states of a level into the table, before it is explored.
func (x *Search) settle() {
	if x.lean {
		x.spans = resized(x.spans, x.States-int(x.since))
	}
	many := x.States-int(x.since) > interval
	x.bySides(len(x.current), func(side int) {
		for shard := range fringes {
			if ownerOf(shard, len(x.workers)) == side {
				x.settleSome(x.fringe.shards[shard].spots)
				if many {
					x.Monitor.Scarce(0) // the lists that were too short are garbage
				}
			}
		}
	})
	x.fringe.next()
}

// settleSome enters the states of a shard of the frontier into the table, in increasing order.
func (x *Search) settleSome(spots []spot) {
	for i := range spots {
		s := &spots[i]
		if s.level != x.fringe.level || s.number < x.since {
			continue
		}
		x.table.add(s.print, s.number)
		if x.lean {
			x.spans[s.number-x.since] = s.span
		}
	}
}

// bySides does some work for each worker's side: its shards of the frontier, and those of the table that hold the same
// states. If there is little work, the first worker does all.
func (x *Search) bySides(pieces int, work func(side int)) {
	step := min(len(x.workers), pieces)
	x.parallel(step, func(worker int) {
		for side := worker; side < len(x.workers); side += step {
			work(side)
		}
	})
}

// expand lets the workers make all moves out of some pages.
func (x *Search) expand(block []*page, batches []*batch) {
	var next atomic.Int64
	x.parallel(len(block), func(worker int) {
		for i := int(next.Add(1)) - 1; i < len(block); i = int(next.Add(1)) - 1 {
			x.workers[worker].expand(block[i], batches[i])
		}
	})
}

// parallel runs work on each worker, or on the first one alone if there is little of it.
func (x *Search) parallel(pieces int, work func(worker int)) {
	Parallel(min(len(x.workers), pieces), work)
}

// Parallel runs work so many times at once. A panic of one of them is a panic here.
func Parallel(times int, work func(number int)) {
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

// recognize finds the states to which moves lead, and adds the new ones to the frontier.
func (x *Search) recognize(batches []*batch) {
	var lost atomic.Bool
	x.bySides(len(batches), func(side int) {
		for shard := range fringes {
			more := 0
			for _, b := range batches {
				more += int(b.more[shard])
			}
			if ownerOf(shard, len(x.workers)) == side {
				x.fringe.reserve(shard, more)
			}
		}
		for _, b := range batches {
			if !x.recognizeSome(b, side) {
				lost.Store(true)
			}
		}
	})
	if lost.Load() {
		x.layered, x.levels.lost = false, true
	}
}

// recognizeSome finds the states to which some moves of a batch lead. It reports false if the extremes of a lean search
// are lost.
func (x *Search) recognizeSome(b *batch, side int) bool {
	kept, found := true, uint32(0)
	for i := range b.moves[side] {
		m := &b.moves[side][i]
		if m.to == broken {
			continue
		}
		spot := x.meet(m)
		if m.to == fresh {
			found++
		}
		if !x.lean || x.levels.lost {
			continue
		}
		if m.to == known && spot.number < x.beyond || m.class != model.ByFault && !spot.span.reach(x.spanOf(b.page.first+uint32(m.state)), b.by.Costs[m.cost]) {
			kept = false
		}
	}
	if found > 0 {
		b.fresh.Add(found)
	}
	return kept
}

// spanOf returns the span of a state of the current level.
func (x *Search) spanOf(state uint32) *span { return &x.spans[state-x.since] }

// meet finds the state to which a move leads.
func (x *Search) meet(m *move) *spot {
	place, spot, isNew := x.fringe.spot(m.print)
	if isNew {
		if number, found := x.table.find(m.print); found {
			spot.number = number
		}
	}
	switch {
	case spot.number != unnumbered:
		m.number, m.to = spot.number, known
	case isNew:
		m.number, m.to = place, fresh
	default:
		m.number, m.to = place, shared
	}
	return spot
}

// number gives numbers to the new states, in the order of the moves that reached them first.
func (x *Search) number(batches []*batch) {
	found := 0
	for _, b := range batches {
		found += int(b.fresh.Load())
	}
	if x.States+found > x.limit {
		x.Complete, x.Reached = false, StateLimit
		dropAfter(batches, x.limit-x.States)
	}
	for _, b := range batches {
		b.first, b.pages = uint32(x.States), b.pages[:0]
		for more := int(b.fresh.Load()); more > 0; more -= x.paged {
			states := min(more, x.paged)
			b.pages = append(b.pages, x.page(uint32(x.States), states))
			x.States += states
		}
	}
	var next atomic.Int64
	x.parallel(len(batches), func(int) {
		for i := int(next.Add(1)) - 1; i < len(batches); i = int(next.Add(1)) - 1 {
			x.keep(batches[i])
		}
	})
	for _, b := range batches {
		for _, p := range b.pages {
			x.follow(p)
		}
	}
}

// follow adds a page to the following level, or its states to the last page there if they are few.
func (x *Search) follow(p *page) {
	if last := len(x.following) - 1; last >= 0 && len(x.following[last].prints)+len(p.prints) <= x.paged {
		to := x.following[last]
		to.confs, to.prints = append(to.confs, p.confs...), append(to.prints, p.prints...)
		x.free = append(x.free, p)
		return
	}
	x.following = append(x.following, p)
}

// dropAfter drops the new states after some first ones, and the moves of all states after the one that found the first that
// is dropped.
func dropAfter(batches []*batch, room int) {
	full := false
	for _, b := range batches {
		exits, kept, k := b.exits, 0, uint32(0)
		b.rewind()
		b.exits = b.exits[:0]
		for i := 0; i < len(exits) && !full; i++ {
			for ; k < exits[i].moves; k++ {
				switch m := b.next(k); {
				case m.to == fresh && kept == room:
					m.to, full = shared, true
				case m.to == fresh:
					kept++
				}
			}
			b.exits = exits[:i+1]
		}
		room -= kept
		b.fresh.Store(uint32(kept))
	}
}

// keep numbers the new states of a batch, and adds them to its pages.
func (x *Search) keep(b *batch) {
	conf, k, number := 0, uint32(0), b.first
	b.ordinals = b.ordinals[:0]
	b.rewind()
	for i := range b.exits {
		e := &b.exits[i]
		for ordinal := 0; k < e.moves; ordinal++ {
			m := b.next(k)
			k++
			if m.to == fresh {
				x.spotOf(m).number = number
				b.pages[(number-b.first)/uint32(x.paged)].add(b.confs.at(conf), m.print)
				b.ordinals = append(b.ordinals, ordinal)
				e.found++
				number++
			}
			if m.to != broken {
				conf++
			}
		}
	}
}

// spotOf returns the spot of the state to which a move leads that is not known.
func (x *Search) spotOf(m *move) *spot { return &x.fringe.shards[fringeOf(m.print)].spots[m.number] }

// take takes over the moves of a batch, in order.
func (x *Search) take(b *batch, depth int) {
	wrong, found, begin := b.wrong, b.ordinals, uint32(0)
	b.rewind()
	for i := range b.exits {
		e, state := &b.exits[i], b.page.first+uint32(i)
		x.tree.open()
		for _, ordinal := range found[:e.found] {
			x.tree.add(ordinal)
		}
		found = found[e.found:]
		x.Transitions += int(e.moves - begin)
		if !x.lean {
			x.lead(b, begin, e.moves)
		}
		begin = e.moves
		for ; len(wrong) > 0 && wrong[0].state == i; wrong = wrong[1:] {
			x.violated(wrong[0].breach, state, depth+1, wrong[0].ordinal)
		}
		x.leave(e, state, depth)
		if x.lean {
			x.levels.leave(x.spanOf(state), e.ends)
		}
	}
}

// lead adds the edges of the next state, the moves of which have some consecutive numbers.
func (x *Search) lead(b *batch, begin, end uint32) {
	x.graph.open()
	for k := begin; k < end; k++ {
		m := b.next(k)
		if m.to == broken {
			continue
		}
		to := m.number
		if m.to != known {
			if to = x.spotOf(m).number; to == unnumbered { // there was no room for it
				continue
			}
		}
		x.graph.add(edge{to: to, cost: x.costOf(b.by, m.cost), class: m.class})
		if !x.Options.SafetyOnly {
			x.graph.act(x.actionOf(b.by, m.action))
		}
	}
}

// costOf returns the graph's number of a cost of a worker.
func (x *Search) costOf(w *worker, number uint16) uint16 {
	to := look(&w.costNumbers, uint32(number))
	if *to == 0 {
		*to = uint32(x.graph.number(w.Costs[number])) + 1
	}
	return uint16(*to - 1)
}

// actionOf returns the graph's number of an action of a worker.
func (x *Search) actionOf(w *worker, number uint16) uint16 {
	links := len(w.Links)
	if int(number) < links || number == model.MaxActions || len(x.workers) == 1 {
		return number
	}
	key := w.ActionKeys[int(number)-links]
	same, found := x.actions[key]
	if !found {
		same = uint16(min(links+len(x.actions), model.MaxActions))
		x.actions[key] = same
	}
	return same
}

// leave judges a state as one in which a run may end.
func (x *Search) leave(e *exit, state uint32, depth int) {
	if e.ends {
		x.Finals++
	}
	service := x.workers[0].Declaration.Task != election.Once // may end in a cycle
	if x.Options.SafetyOnly || !e.ends && !service {
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
func (x *Search) violated(f *model.Breach, state uint32, length int, last ...int) {
	if x.Options.Only != "" && f.Property != x.Options.Only {
		return
	}
	if x.Found == nil || length < len(x.Found.Path) {
		x.Found = &model.Finding{Breach: *f}
		x.Found.Root, x.Found.Path = x.tree.path(state)
		x.Found.Path = append(x.Found.Path, last...)
	}
}
