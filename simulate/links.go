package simulate

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/random"
	"ringleader.example/ringleader/trace"
)

// links runs an asynchronous election without a clock: again and again the schedule picks a link that is
// not empty, and the link delivers a message.
type links[S, M any] struct {
	*run[S, M]
	picks    *random.Source
	cells    []cell[M]
	free     uint32   // a list of cells that are not in use
	head     []uint32 // by link: its oldest message; 0 if it is empty
	tail     []uint32 // by link: its newest one
	busy     []uint32 // random: the links that are not empty; lifo: the link of every message, in the order of sending
	place    []uint32 // random: by link, where in busy it is
	sleepers []uint32 // who may start at any time from now on
}

// cell holds a message in the queue of its link.
type cell[M any] struct {
	underway[M]
	next, previous uint32
}

func newLinks[S, M any](r *run[S, M]) *links[S, M] {
	l := &links[S, M]{
		run: r, picks: random.New(r.o.Seed, random.Schedule), cells: make([]cell[M], 1, r.p.Size()+1),
		head: make([]uint32, r.net.Links()), tail: make([]uint32, r.net.Links()),
	}
	if r.o.Schedule == Random {
		l.place = make([]uint32, r.net.Links())
	}
	return l
}

func (l *links[S, M]) play() {
	for p := range l.initiators {
		if l.o.AnyTime {
			l.sleepers = append(l.sleepers, uint32(p))
		} else {
			l.begins(p)
		}
	}
	for len(l.busy)+len(l.sleepers) > 0 && l.goesOn() {
		if l.o.Schedule == LIFO {
			l.lifo()
		} else {
			l.random()
		}
	}
	l.result.Bytes += cap(l.cells)*(l.plans.MessageSize()+24) + 4*(len(l.head)+len(l.tail)+len(l.place)+cap(l.busy)+cap(l.sleepers))
}

// lifo delivers from the link that was written last; when all is quiet, the next one starts.
func (l *links[S, M]) lifo() {
	last := len(l.busy) - 1
	if last < 0 {
		p := l.sleepers[0]
		l.sleepers = l.sleepers[1:]
		l.begins(int(p))
		return
	}
	link := l.busy[last]
	l.busy = l.busy[:last]
	if l.o.Unordered {
		l.deliver(link, l.tail[link])
	} else {
		l.deliver(link, l.head[link])
	}
}

// random delivers from any link, or lets somebody start.
func (l *links[S, M]) random() {
	pick := l.picks.Below(uint64(len(l.busy) + len(l.sleepers)))
	if pick >= uint64(len(l.busy)) {
		i, end := int(pick)-len(l.busy), len(l.sleepers)-1
		p := l.sleepers[i]
		l.sleepers[i] = l.sleepers[end]
		l.sleepers = l.sleepers[:end]
		l.begins(int(p))
		return
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
}

func (l *links[S, M]) begins(p int) {
	l.collect.Reset()
	l.a.Start(&l.states[p], l.begin(p))
	l.after(p, trace.Step{Event: trace.Start, Port: -1})
}

// deliver takes a message off its link and hands it over.
func (l *links[S, M]) deliver(link, which uint32) {
	m := l.cells[which].underway
	l.unlink(link, which)
	to, port := l.net.End(link)
	received := trace.Step{Event: trace.Receive, Port: int(port), Message: m.number}
	l.result.Deliveries++
	if l.isDead(to) {
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
	l.note(p, what)
	for i := range l.collect.Sent() {
		s := &l.collect.Sent()[i]
		l.count(s)
		l.enqueue(s, l.number(i))
	}
	for _, e := range l.collect.Rare() {
		l.decide(p, e)
	}
}

func (l *links[S, M]) enqueue(s *election.Sent[M], number int) {
	c := l.free
	if c != 0 {
		l.free = l.cells[c].next
	} else {
		c = uint32(len(l.cells))
		l.cells = append(l.cells, cell[M]{})
	}
	link := s.On()
	l.cells[c] = cell[M]{underway: underway[M]{*s, number}, previous: l.tail[link]}
	if l.head[link] == 0 {
		l.head[link] = c
	} else {
		l.cells[l.tail[link]].next = c
	}
	l.tail[link] = c
	if l.place == nil {
		l.busy = append(l.busy, link)
	} else if l.head[link] == c {
		l.place[link] = uint32(len(l.busy))
		l.busy = append(l.busy, link)
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
	if l.place != nil && l.head[link] == 0 {
		end := len(l.busy) - 1
		moved := l.busy[end]
		l.busy[l.place[link]] = moved
		l.place[moved] = l.place[link]
		l.busy = l.busy[:end]
	}
}
