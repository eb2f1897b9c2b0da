package loops

import (
	"ringleader.example/ringleader/outcome"

	"ringleader.example/ringleader/election"
)

// rounds runs everything in transit at once, repeatedly. The messages that the steps of a round send are the next
// round: no message is copied or queued. In the order of sending this is the fifo schedule; by ports it is a
// synchronous run.
//
// Messages lie on pages. A page that has been read is the next to be written on, so that memory holds little more
// than the messages in transit, and written data is in the cache.
type rounds[S, M any] struct {
	run   *Run
	typed *typed[S, M]
	queue [2][][]election.Sent[M] // messages in transit: first those that arrive on port 0 of a ring, if the order matters
	next  [2][][]election.Sent[M] // sent in this round, without the page that is written on
	open  [2][]election.Sent[M]   // the last page of each, which is not full yet, if the order matters
	blank [][]election.Sent[M]
	made  int // the number of messages that fit on all pages

	links []uint32           // the links of the messages that are sorted
	spare []election.Sent[M] // the messages that are sorted, in their old order

	// The order of ports matters in a synchronous run if a process can get several messages at once.
	byPort bool
}

const (
	pageSize = 1 << 11 // messages
	lastRoom = 64      // a page with less room than this is full

	fewMessages   = 16
	fewDeliveries = 1 << 12
)

func (t *typed[S, M]) Rounds() { (&rounds[S, M]{run: t.run, typed: t}).play() }

func (r *rounds[S, M]) play() {
	r.run.Time = &outcome.Times{}
	r.byPort = r.run.Timing == election.Synchronous && !r.run.Declaration.OneWay
	r.typed.collect.Swap(r.page())
	if starts, collect := r.typed.a.Start, r.typed.collect; r.run.Initiators == nil && r.run.Network.Topology == election.Ring {
		for p := range r.typed.states {
			collect.At(uint32(2 * p))
			starts(&r.typed.states[p], collect.Out())
			if p%(lastRoom/4) == 0 {
				r.room()
			}
		}
	} else {
		for p := range r.run.initiators {
			r.typed.a.Start(&r.typed.states[p], r.typed.begin(p))
			r.room()
		}
	}
	r.typed.decisions()
	for r.run.Outcome.Complete && r.waiting()+len(r.typed.collect.Sent()) > 0 {
		if r.waiting() == 0 && len(r.typed.collect.Sent()) <= fewMessages {
			r.few()
			continue
		}
		r.tick()
		r.run.Time.Quiet = r.run.now
		r.turn()
		r.close(0)
		r.close(1)
		r.queue, r.next = r.next, [2][][]election.Sent[M]{r.queue[0][:0], r.queue[1][:0]}
		if r.byPort && r.run.Network.Topology != election.Ring {
			r.sorted()
		}
		for _, pages := range r.queue {
			for _, page := range pages {
				r.deliver(page)
			}
		}
	}
	r.run.finish()
	r.run.Bytes += r.made * sizeOf(election.Sent[M]{})
}

// page returns a page to write on.
func (r *rounds[S, M]) page() []election.Sent[M] {
	if last := len(r.blank) - 1; last >= 0 {
		page := r.blank[last]
		r.blank = r.blank[:last]
		return page[:0]
	}
	size := min(pageSize, 2*r.run.size()+lastRoom)
	r.made += size
	return make([]election.Sent[M], 0, size)
}

// turn turns the page that is written on, unless it is empty.
func (r *rounds[S, M]) turn() {
	if len(r.typed.collect.Sent()) == 0 {
		return
	}
	page := r.typed.collect.Swap(r.page())
	if r.byPort && r.run.Network.Topology == election.Ring {
		r.part(page)
	} else {
		r.next[0] = append(r.next[0], page)
	}
}

// waiting returns the number of pages turned in this round.
func (r *rounds[S, M]) waiting() int {
	return len(r.next[0]) + len(r.next[1]) + len(r.open[0]) + len(r.open[1])
}

// close puts a page that is not full behind the others.
func (r *rounds[S, M]) close(side int) {
	if len(r.open[side]) > 0 {
		r.next[side] = append(r.next[side], r.open[side])
		r.open[side] = nil
	}
}

// part separates messages that arrive on port 0 of a ring from those that arrive on port 1. Most messages of one port
// continue and arrive on that port again, so that a page usually has one sort only.
func (r *rounds[S, M]) part(page []election.Sent[M]) {
	oriented, side, same := r.run.Network.Oriented(), r.run.port(page[0].On()), 1
	for same < len(page) && (page[same].Link^page[0].Link)&(1<<4) == 0 {
		same++
	}
	if oriented && same == len(page) {
		r.close(side)
		r.next[side] = append(r.next[side], page)
		return
	}
	for in := page; len(in) > 0; {
		now := len(in)
		for side := range r.open {
			if cap(r.open[side])-len(r.open[side]) < lastRoom {
				r.close(side)
				r.open[side] = r.page()
			}
			now = min(now, cap(r.open[side])-len(r.open[side]))
		}
		// Each message is written to both pages, and one of the two counts it: no branch to mispredict.
		low, high := len(r.open[0]), len(r.open[1])
		first, second := r.open[0][:low+now], r.open[1][:high+now]
		for i := range in[:now] {
			m := &in[i]
			side := int(^m.Link >> 4 & 1)
			if !oriented {
				side = r.run.port(m.On())
			}
			first[low], second[high] = *m, *m
			low, high = low+1-side, high+side
		}
		r.open = [2][]election.Sent[M]{first[:low], second[:high]}
		in = in[now:]
	}
	r.blank = append(r.blank, page)
}

// room returns for how many messages there is room on the page that is written on; there always is some. A process
// that sends more in one step makes the page grow.
func (r *rounds[S, M]) room() int {
	if sent := r.typed.collect.Sent(); cap(sent)-len(sent) >= lastRoom {
		return cap(sent) - len(sent)
	}
	r.turn()
	return cap(r.typed.collect.Sent())
}

// tick begins the next round.
func (r *rounds[S, M]) tick() {
	r.run.now = r.run.now.Add(election.Units(1))
	r.typed.collect.Clock(r.run.now)
}

// few runs rounds while they have few messages. Most rounds have few: of the phases of Hirschberg and Sinclair, the
// last ones alone take half of the time, with only the leader in them. The cost per round matters here, so deliveries
// are added up only from time to time.
func (r *rounds[S, M]) few() {
	oriented := r.run.oriented()
	collect, spare, deliveries := r.typed.collect, r.page(), 0
	for deliveries < fewDeliveries && len(collect.Sent()) > 0 && len(collect.Sent()) <= fewMessages {
		if oriented && len(collect.Sent()) == 1 {
			deliveries += r.token(fewDeliveries - deliveries)
			continue
		}
		r.tick()
		in := collect.Swap(spare)
		if r.byPort {
			r.sort(in)
		}
		if oriented {
			r.ring(in)
		} else {
			r.network(in)
		}
		if r.run.Phases {
			r.typed.phases(in)
		}
		if len(collect.Effects()) > 0 {
			r.typed.decisions()
		}
		deliveries += len(in)
		spare = in
	}
	r.run.Time.Quiet = r.run.now
	r.blank = append(r.blank, spare)
	r.run.countDeliveries(deliveries)
}

// token follows a message that is alone on an oriented ring until it does not continue alone, or after most deliveries.
// It returns the number of deliveries.
func (r *rounds[S, M]) token(most int) (deliveries int) {
	receive, states, collect, sent, phase := r.typed.a.Receive, r.typed.states, r.typed.collect, &r.run.Sent, r.typed.phase()
	n := uint32(len(states))
	for ; deliveries < most && len(collect.Sent()) == 1; deliveries++ {
		m := &collect.Sent()[0]
		link, message := m.Link, m.M
		collect.Reset()
		direction, kind := link>>4&1, election.Kind(link&15)
		to := link>>5 + 1 - 2*direction
		if to >= n {
			to = (to + n) % n
		}
		sent[kind]++
		if phase != nil && r.run.elects>>kind&1 != 0 {
			r.run.phase(phase(kind, message))
		}
		r.tick()
		collect.At(2 * to)
		receive(&states[to], election.Port(1-direction), kind, message, collect.Out())
		if len(collect.Effects()) > 0 {
			r.typed.decisions()
		}
	}
	return deliveries
}

// sort puts messages into the order of the receivers' ports.
func (r *rounds[S, M]) sort(in []election.Sent[M]) {
	if r.run.oriented() { // they usually are in order
		i := 1
		for i < len(in) && in[i].Link>>4&1 <= in[i-1].Link>>4&1 {
			i++
		}
		if i >= len(in) {
			return
		}
	}
	r.links = r.links[:0]
	for i := range in {
		r.links = append(r.links, in[i].On())
	}
	r.spare = append(r.spare[:0], in...)
	for i, from := range r.run.byPorts(r.links) {
		in[i] = r.spare[uint32(from)]
	}
}

// sorted sorts all messages in transit.
func (r *rounds[S, M]) sorted() {
	var all []election.Sent[M]
	for _, page := range r.queue[0] {
		all = append(all, page...)
	}
	r.sort(all)
	for _, page := range r.queue[0] {
		all = all[copy(page, all):]
	}
}

// deliver delivers the messages on a page, counts them, and clears the page. It delivers at most as many at a time as
// there is room for an answer to each.
func (r *rounds[S, M]) deliver(page []election.Sent[M]) {
	oriented := r.run.oriented()
	for in := page; len(in) > 0; {
		now := in
		if room := r.room(); len(in) > room-room/8 {
			now = in[:room-room/8]
		}
		if oriented {
			r.ring(now)
		} else {
			r.network(now)
		}
		in = in[len(now):]
	}
	r.done(page)
	r.blank = append(r.blank, page)
}

// done counts the deliveries, and applies the decisions.
func (r *rounds[S, M]) done(in []election.Sent[M]) {
	if r.run.Phases {
		r.typed.phases(in)
	}
	if len(r.typed.collect.Effects()) > 0 {
		r.typed.decisions()
	}
	r.run.countDeliveries(len(in))
}

// ring delivers on an oriented ring: link 2p leads to p+1, and link 2p+1 to p-1.
func (r *rounds[S, M]) ring(in []election.Sent[M]) {
	if r.run.Declaration.OneWay {
		r.circle(in)
		return
	}
	receive, states, collect, sent := r.typed.a.Receive, r.typed.states, r.typed.collect, &r.run.Sent
	for i := range in {
		m := &in[i]
		direction, kind := m.Link>>4&1, m.Link&15
		to := m.Link>>5 + 1 - 2*direction
		if int(to) >= len(states) { // one past either end
			to = uint32(len(states)-1) * direction
		}
		sent[kind]++
		collect.At(2 * to)
		receive(&states[to], election.Port(1-direction), election.Kind(kind), m.M, collect.Out())
	}
}

// circle is ring without messages from the other side.
func (r *rounds[S, M]) circle(in []election.Sent[M]) {
	receive, states, collect, sent := r.typed.a.Receive, r.typed.states, r.typed.collect, &r.run.Sent
	for i := range in {
		link := in[i].Link
		to, kind := link>>5+1, link&15
		if int(to) >= len(states) {
			to = 0
		}
		sent[kind]++
		collect.At(2 * to)
		receive(&states[to], 1, election.Kind(kind), in[i].M, collect.Out())
	}
}

// network delivers on any network.
func (r *rounds[S, M]) network(in []election.Sent[M]) {
	for i := range in {
		m := &in[i]
		to, port := r.run.Network.End(m.On())
		r.run.Sent[m.Kind()]++
		r.typed.collect.At(r.run.Network.First(to))
		r.typed.a.Receive(&r.typed.states[to], port, m.Kind(), m.M, r.typed.collect.Out())
	}
}
