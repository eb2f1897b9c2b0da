package simulate

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/random"
	"ringleader.example/ringleader/trace"
)

// links runs an asynchronous election message by message: again and again the schedule picks a link that
// is not empty, and the link delivers a message.
type links[S, M any] struct {
	*run[S, M]
	picks    *random.Source
	cells    []cell[M]
	free     uint32   // a list of cells that are not in use
	head     []uint32 // by link: its oldest message; 0 if it is empty
	tail     []uint32 // by link: its newest one
	underWay int      // messages
	busy     []uint32 // lifo: the link of every message, in the order of sending; else the links that are not empty
	place    []uint32 // by link, where in busy it is; nil where busy is not such a set
	turns    turns    // round-robin and sweep; without levels else
	tiles    *tiles   // tile; nil else
	due      []uint32 // max-time: by link, how many of its messages are due now; nil else
	dueNow   int      // … and all together
	sleepers []uint32 // who may start at any time from now on, where neither turns nor tiles know
}

// cell holds a message in the queue of its link.
type cell[M any] struct {
	underway[M]
	next, previous uint32
	lost           bool // it will not arrive
}

func newLinks[S, M any](r *run[S, M]) *links[S, M] {
	l := &links[S, M]{
		run: r, picks: random.New(r.o.Seed, random.Schedule), cells: make([]cell[M], 1, r.p.Size()+1),
		head: make([]uint32, r.net.Links()), tail: make([]uint32, r.net.Links()),
	}
	switch r.o.Schedule {
	case Random, MaxMessages, MaxTime:
		l.place = make([]uint32, r.net.Links())
	case RoundRobin, Sweep:
		l.turns = newTurns(r.net.Links() + r.p.Size())
	case Tile:
		l.tiles = newTiles(r.p.Size())
	}
	if r.o.Schedule == MaxTime {
		l.due = make([]uint32, r.net.Links())
		r.result.Time = &Times{}
	}
	return l
}

func (l *links[S, M]) play() {
	asleep := 0
	for p := range l.initiators {
		switch {
		case l.tiles != nil:
			l.tiles.sleep(p)
			asleep++
		case !l.o.AnyTime && l.o.Schedule == Sweep:
			l.turns.set(l.slot(p, 0))
		case !l.o.AnyTime:
			l.begins(p)
		case l.turns.levels != nil:
			l.turns.set(l.slot(p, 0))
			asleep++
		default:
			l.sleepers = append(l.sleepers, uint32(p))
			asleep++
		}
	}
	if l.tiles != nil {
		for _, tile := range l.tiles.asleep {
			slices.Sort(tile)
		}
	}
	if l.o.Schedule == Sweep && !l.o.AnyTime {
		l.firstLap()
	}
	for l.underWay+asleep > 0 && l.goesOn() {
		if l.next() {
			asleep--
		}
	}
	l.result.Bytes += cap(l.cells)*(l.plans.MessageSize()+24) + 4*(len(l.head)+len(l.tail)+len(l.place)+cap(l.busy)+cap(l.sleepers))
}

// next delivers a message, or lets somebody start and reports true.
func (l *links[S, M]) next() (started bool) {
	switch l.o.Schedule {
	case LIFO:
		return l.lifo()
	case RoundRobin:
		return l.inTurn(l.turns.slot + 1)
	case Sweep:
		return l.inTurn(max(0, l.turns.slot))
	case Tile:
		return l.inTiles()
	case MaxMessages:
		return l.most()
	case MaxTime:
		return l.last()
	}
	return l.random()
}

// lifo delivers from the link that was written last; when all is quiet, the next one starts.
func (l *links[S, M]) lifo() (started bool) {
	last := len(l.busy) - 1
	if last < 0 {
		l.wakes(0)
		return true
	}
	link := l.busy[last]
	l.busy = l.busy[:last]
	if l.o.Unordered {
		l.deliver(link, l.tail[link])
	} else {
		l.deliver(link, l.head[link])
	}
	return false
}

// random delivers from any link, or lets somebody start.
func (l *links[S, M]) random() (started bool) {
	pick := l.picks.Below(uint64(len(l.busy) + len(l.sleepers)))
	if pick >= uint64(len(l.busy)) {
		i, end := int(pick)-len(l.busy), len(l.sleepers)-1
		p := l.sleepers[i]
		l.sleepers[i] = l.sleepers[end]
		l.sleepers = l.sleepers[:end]
		l.begins(int(p))
		return true
	}
	link := l.busy[pick]
	which := l.head[link]
	if l.o.Unordered {
		length := uint64(1)
		for c := which; l.cells[c].next != 0; c = l.cells[c].next {
			length++
		}
		for skip := l.picks.Below(length); skip > 0; skip-- {
			which = l.cells[which].next
		}
	}
	l.deliver(link, which)
	return false
}

// wakes lets the sleeper at an index start.
func (l *links[S, M]) wakes(i int) {
	p := l.sleepers[i]
	l.sleepers = append(l.sleepers[:i], l.sleepers[i+1:]...)
	l.begins(int(p))
}

func (l *links[S, M]) begins(p int) {
	l.collect.Reset()
	l.a.Start(&l.states[p], l.begin(p))
	l.after(p, trace.Step{Event: trace.Start, Port: -1})
}

// deliver takes a message off its link and hands it over.
func (l *links[S, M]) deliver(link, which uint32) {
	m, lost := l.cells[which].underway, l.cells[which].lost
	l.unlink(link, which)
	to, port := l.net.End(link)
	received := trace.Step{Event: trace.Receive, Port: int(port), Message: m.number}
	if !lost {
		l.result.Deliveries++
		if l.result.Time != nil {
			l.result.Time.Quiet = l.now
		}
	}
	if lost || l.isDead(to) {
		received.Event, received.Port = trace.Lost, -1
		l.note(to, received)
		return
	}
	l.collect.Reset()
	l.a.Receive(&l.states[to], port, m.Kind(), m.M, l.begin(to))
	l.after(to, received)
}

// after makes the effects of a step happen.
func (l *links[S, M]) after(p int, what trace.Step) {
	l.check(p)
	l.draw()
	l.note(p, what)
	for i := range l.collect.Sent() {
		s := &l.collect.Sent()[i]
		l.count(s)
		fate := l.fate(i)
		l.enqueue(s, l.number(i), fate == lost)
		if fate == twice {
			l.enqueue(s, l.number(i), false)
		}
	}
	for _, e := range l.collect.Rare() {
		l.decide(p, e)
	}
}

func (l *links[S, M]) enqueue(s *election.Sent[M], number int, lost bool) {
	c := l.free
	if c != 0 {
		l.free = l.cells[c].next
	} else {
		c = uint32(len(l.cells))
		l.cells = append(l.cells, cell[M]{})
	}
	link := s.On()
	l.cells[c] = cell[M]{underway: underway[M]{*s, number}, previous: l.tail[link], lost: lost}
	if l.head[link] == 0 {
		l.head[link] = c
	} else {
		l.cells[l.tail[link]].next = c
	}
	l.tail[link] = c
	l.underWay++
	switch {
	case l.o.Schedule == LIFO:
		l.busy = append(l.busy, link)
	case l.tiles != nil:
		to, _ := l.net.End(link)
		l.tiles.push(to, link)
	case l.head[link] != c: // it was busy before
	case l.place != nil:
		l.place[link] = uint32(len(l.busy))
		l.busy = append(l.busy, link)
	default:
		l.turns.set(l.slotOf(link))
	}
}

func (l *links[S, M]) unlink(link, c uint32) {
	cell := &l.cells[c]
	if cell.previous == 0 {
		l.head[link] = cell.next
	} else {
		l.cells[cell.previous].next = cell.next
	}
	if cell.next == 0 {
		l.tail[link] = cell.previous
	} else {
		l.cells[cell.next].previous = cell.previous
	}
	cell.next, l.free = l.free, c
	l.underWay--
	switch {
	case l.head[link] != 0:
	case l.place != nil:
		end := len(l.busy) - 1
		moved := l.busy[end]
		l.busy[l.place[link]] = moved
		l.place[moved] = l.place[link]
		l.busy = l.busy[:end]
	case l.turns.levels != nil:
		l.turns.clear(l.slotOf(link))
	}
}
