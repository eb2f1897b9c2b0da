package simulate

import (
	"reflect"
	"slices"
	"sort"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate/internal/queues"
	"ringleader.example/ringleader/simulate/internal/steps"
	"ringleader.example/ringleader/trace"
)

// links runs an asynchronous election message by message: the schedule repeatedly picks a link that is not empty, and
// the link delivers a message.
type links struct {
	*run
	picks    *random.Source
	cells    []cell
	remarks  []remark // by cell; nil if there is neither a record nor a fate to draw
	plain    bool     // there are no faults, no record and no checked steps
	free     uint32   // a list of free cells
	queues   []link
	underWay int           // messages
	busy     []uint32      // lifo: the link of every message, in the order of sending; else the links that are not empty
	turns    queues.Turns  // round-robin and sweep; without levels else
	tiles    *queues.Tiles // tile; nil else
	due      []uint32      // max-time: by link, how many of its messages are due now; nil else
	dueNow   int           // … and all together
	scratch  int           // the slot in which steps are tried
	sleepers []uint32      // processes that may still start at any time, unless turns or tiles hold them
}

// link is the queue of a link.
type link struct {
	head  uint32 // its oldest message; 0 if it is empty
	tail  uint32 // its newest one
	place uint32 // its index in busy, if busy is the links that are not empty
}

// cell holds a message in the queue of its link.
type cell struct {
	queues.Letter
	next, previous uint32
}

// remark holds per-message data needed only when recording or when links lose messages.
type remark struct {
	number uint32 // in the record
	lost   bool   // it will not arrive
}

func newLinks(r *run) *links {
	r.processes()
	l := &links{
		run: r, picks: random.New(r.o.Seed, random.Schedule), cells: make([]cell, 1, r.Instance.Size()+1),
		queues: make([]link, r.Network.Links()),
	}
	if r.Record != nil || r.Luck != nil {
		l.remarks = make([]remark, 1)
	}
	l.plain = l.remarks == nil && !r.Checks && r.Dead == nil && r.Drifts == nil && !r.Flawed()
	if r.o.Schedule.tries() {
		l.scratch = r.Processes.Grow(1)
	}
	switch r.o.Schedule {
	case RoundRobin, Sweep:
		l.turns = queues.NewTurns(r.Network.Links() + r.Instance.Size())
	case Tile:
		l.tiles = queues.NewTiles(r.Instance.Size())
	}
	if r.o.Schedule == MaxTime {
		l.due = make([]uint32, r.Network.Links())
		r.Time = &outcome.Times{}
	}
	return l
}

func (l *links) play() {
	asleep := 0
	for p := range l.initiators {
		switch {
		case l.tiles != nil:
			l.tiles.Sleep(p)
			asleep++
		case !l.o.AnyTime && l.o.Schedule == Sweep:
			l.turns.Set(l.slot(p, 0))
		case !l.o.AnyTime:
			l.begins(p)
		case l.turns.Levels != nil:
			l.turns.Set(l.slot(p, 0))
			asleep++
		default:
			l.sleepers = append(l.sleepers, uint32(p))
			asleep++
		}
	}
	if l.tiles != nil {
		for _, tile := range l.tiles.Asleep {
			slices.Sort(tile)
		}
	}
	if l.o.Schedule == Sweep && !l.o.AnyTime {
		l.firstLap()
	}
	for next := l.scheduler(); l.underWay+asleep > 0 && l.MayContinue(); {
		if next() {
			asleep--
		}
	}
	l.result.Bytes += cap(l.cells)*int(reflect.TypeFor[cell]().Size()) + 8*cap(l.remarks) + 12*len(l.queues) +
		4*(cap(l.busy)+cap(l.sleepers)+len(l.due))
}

// scheduler returns the function that delivers a message, or starts a process and reports true.
func (l *links) scheduler() func() (started bool) {
	switch l.o.Schedule {
	case LIFO:
		return l.lifo
	case RoundRobin:
		return func() bool { return l.inTurn(l.turns.Last + 1) }
	case Sweep:
		return func() bool { return l.inTurn(max(0, l.turns.Last)) }
	case Tile:
		return l.inTiles
	case MaxMessages:
		return l.most
	case MaxTime:
		return l.last
	}
	return l.random
}

// lifo delivers from the link that was written last; at quiescence, the next process starts.
func (l *links) lifo() (started bool) {
	last := len(l.busy) - 1
	if last < 0 {
		l.wakes(0)
		return true
	}
	link := l.busy[last]
	l.busy = l.busy[:last]
	if l.o.Faults.Unordered {
		l.deliver(link, l.queues[link].tail)
	} else {
		l.deliver(link, l.queues[link].head)
	}
	return false
}

// random delivers from any link, or starts a process.
func (l *links) random() (started bool) {
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
	which := l.queues[link].head
	if l.o.Faults.Unordered {
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

// wakes starts the sleeper at an index.
func (l *links) wakes(i int) {
	p := l.sleepers[i]
	l.sleepers = append(l.sleepers[:i], l.sleepers[i+1:]...)
	l.begins(int(p))
}

func (l *links) begins(p int) {
	l.Happens(p, process.Event{What: process.Started})
	l.Check(p)
	l.Draw()
	l.Note(p, trace.Step{Event: trace.Start, Port: -1})
	l.effects(p)
}

// deliver takes a message off its link and delivers it.
func (l *links) deliver(number, which uint32) {
	if !l.plain {
		l.deliverChecked(number, which)
		return
	}
	m := l.cells[which].Letter
	l.unlink(number, which)
	to, port := l.Network.End(number)
	l.Deliveries++
	if l.Time != nil {
		l.Time.Quiet = l.Now
	}
	l.Effects = l.Processes.Receive(to, to, port, m.Kind(), m.Message, l.Now)
	l.Check(to)
	for i := range l.Effects.Sent {
		s := &l.Effects.Sent[i]
		l.Count(s)
		l.enqueue(s, i)
	}
	for _, e := range l.Effects.Other {
		l.Decide(to, e)
	}
	l.Processes.Release(m.Message)
}

// deliverChecked is deliver with a record, with checked steps, or with faults.
func (l *links) deliverChecked(number, which uint32) {
	m, about := l.cells[which].Letter, remark{}
	if l.remarks != nil {
		about = l.remarks[which]
	}
	l.unlink(number, which)
	to, port := l.Network.End(number)
	if !about.lost {
		l.Deliveries++
		if l.Time != nil {
			l.Time.Quiet = l.Now
		}
	}
	if about.lost || l.IsDead(to) {
		l.Note(to, trace.Step{Event: trace.Lost, Port: -1, Message: int(about.number)})
		l.Processes.Release(m.Message)
		return
	}
	if l.Checks {
		l.Delivers(int(about.number))
		l.Happens(to, process.Event{What: process.Received, Port: port, Kind: m.Kind(), Message: m.Message})
	} else {
		l.Effects = l.Processes.Receive(to, to, port, m.Kind(), m.Message, l.Local(to))
	}
	l.Check(to)
	l.Draw()
	if l.Record != nil {
		l.Note(to, trace.Step{Event: trace.Receive, Port: int(port), Message: int(about.number)})
	}
	l.effects(to)
	l.Processes.Release(m.Message)
}

// effects applies the effects of a step.
func (l *links) effects(p int) {
	sent, other := l.Effects.Sent, l.Effects.Other
	for i := range sent {
		s := &sent[i]
		l.Count(s)
		l.enqueue(s, i)
		if l.Fate(i) == steps.Twice {
			l.Processes.Hold(s.Message)
			l.enqueue(s, i)
		}
	}
	for i := range other {
		l.Decide(p, other[i])
	}
}

// enqueue puts the i-th message of a step on its link.
func (l *links) enqueue(s *process.Sent, i int) {
	c := l.free
	if c == 0 {
		c = uint32(len(l.cells))
		l.cells = append(l.cells, cell{})
	}
	number, cell := s.On(), &l.cells[c]
	q := &l.queues[number]
	l.free = cell.next
	cell.Link, cell.Message, cell.next, cell.previous = s.Link, s.Message, 0, q.tail
	if l.remarks != nil {
		l.remark(c, remark{uint32(l.Number(i)), l.Fate(i) == steps.Lost})
	}
	wasBusy := q.head != 0
	if wasBusy {
		l.cells[q.tail].next = c
	} else {
		q.head = c
	}
	q.tail = c
	l.underWay++
	switch l.o.Schedule {
	case LIFO:
		l.busy = append(l.busy, number)
	case Tile:
		to, _ := l.Network.End(number)
		l.tiles.Push(to, number)
	case RoundRobin, Sweep:
		l.turns.Set(l.slotOf(number))
	default:
		if !wasBusy {
			q.place = uint32(len(l.busy))
			l.busy = append(l.busy, number)
		}
	}
}

// remark stores the remark of the message in a cell.
func (l *links) remark(c uint32, about remark) {
	if int(c) == len(l.remarks) {
		l.remarks = append(l.remarks, about)
	}
	l.remarks[c] = about
}

func (l *links) unlink(number, c uint32) {
	q, cell := &l.queues[number], &l.cells[c]
	previous, next := cell.previous, cell.next
	if previous == 0 {
		q.head = next
	} else {
		l.cells[previous].next = next
	}
	if next == 0 {
		q.tail = previous
	} else {
		l.cells[next].previous = previous
	}
	cell.next, l.free = l.free, c
	l.underWay--
	if q.head != 0 {
		return
	}
	switch l.o.Schedule {
	case LIFO, Tile:
	case RoundRobin, Sweep:
		l.turns.Clear(l.slotOf(number))
	default:
		end := len(l.busy) - 1
		moved := l.busy[end]
		l.busy[q.place] = moved
		l.queues[moved].place = q.place
		l.busy = l.busy[:end]
	}
}

// slot returns the slot of the k-th link of the process at p, from 1, or with 0 of its start.
func (l *links) slot(p, k int) int { return int(l.Network.First(p)) + p + k }

func (l *links) slotOf(link uint32) int { return int(link) + l.Network.Owner(link) + 1 }

// inTurn serves the first slot with something to serve, from this one on.
func (l *links) inTurn(least int) (started bool) {
	slot := l.turns.From(least)
	l.turns.Last = slot
	p := slot / 3 // on a ring, each process has two links and a start
	if l.Network.Topology != election.Ring {
		p = sort.Search(l.Instance.Size(), func(q int) bool { return l.slot(q, 0) > slot }) - 1
	}
	if slot == l.slot(p, 0) {
		l.turns.Clear(slot)
		l.begins(p)
		return true
	}
	link := uint32(slot - p - 1)
	l.deliver(link, l.queues[link].head)
	return false
}

// firstLap makes the first lap of a sweep, in which processes start before any message reaches them.
func (l *links) firstLap() {
	for p := 0; p < l.Instance.Size() && l.result.Complete; p++ {
		if start := l.slot(p, 0); l.turns.Has(start) {
			l.turns.Clear(start)
			l.begins(p)
		}
		for p > 0 && l.queues[l.Network.First(p-1)].head != 0 && l.MayContinue() {
			l.deliver(l.Network.First(p-1), l.queues[l.Network.First(p-1)].head)
		}
	}
	l.turns.Last = l.slot(l.Instance.Size()-1, 1)
}

// inTiles starts the processes of a tile when its turn comes, delivers the messages there, the oldest first, and goes
// on to the next tile at quiescence. If processes start at any time, one starts when its tile is quiescent.
func (l *links) inTiles() (started bool) {
	for t := l.tiles; ; t.Now = (t.Now + 1) % len(t.Queues) {
		q, asleep := &t.Queues[t.Now], &t.Asleep[t.Now]
		waiting := q.Done < len(q.Links)
		switch {
		case len(*asleep) > 0 && (!l.o.AnyTime || !waiting):
			p := (*asleep)[0]
			*asleep = (*asleep)[1:]
			l.begins(int(p))
			return true
		case waiting:
			link := q.Links[q.Done]
			q.Done++
			l.deliver(link, l.queues[link].head)
			return false
		}
	}
}
