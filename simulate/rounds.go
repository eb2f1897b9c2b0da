package simulate

import (
	"reflect"
	"slices"

	"ringleader.example/ringleader/election"
)

// rounds runs everything that is under way at once, again and again. What the steps of a round send is
// the next round: no message is copied or queued. In the order of sending this is the fifo schedule; by
// ports it is a synchronous run.
//
// Messages lie on pages. A page that has been read is the next to be written on, so that memory holds
// what is under way and hardly more, and what is written is in the cache.
type rounds[S, M any] struct {
	*run[S, M]
	queue [][]election.Sent[M] // what is under way
	next  [][]election.Sent[M] // what was sent in this round, but for the page that is written on
	held  [][]election.Sent[M] // what comes on port 1 and waits until port 0 is done
	blank [][]election.Sent[M]
	made  int // how many messages fit on all pages
}

const (
	pageSize = 1 << 11 // messages
	lastRoom = 64      // a page with less room than this is full

	fewMessages = 16
)

func (r *rounds[S, M]) play() {
	r.result.Time = &Times{}
	r.collect.Swap(r.page())
	for p := range r.initiators {
		r.a.Start(&r.states[p], r.begin(p))
		r.room()
	}
	r.decisions()
	// The order of ports matters in a synchronous run where a process can get several messages at once.
	byPort := r.o.Timing == election.Synchronous && !r.a.OneWay
	for r.result.Complete && len(r.next)+len(r.collect.Sent()) > 0 {
		if len(r.next) == 0 && len(r.collect.Sent()) <= fewMessages {
			r.few(byPort)
			continue
		}
		r.tick()
		r.turn()
		r.queue, r.next = r.next, r.queue[:0]
		if byPort {
			r.ports()
		} else {
			for _, page := range r.queue {
				r.deliver(page)
			}
		}
	}
	r.result.Bytes += r.made * int(reflect.TypeFor[election.Sent[M]]().Size())
}

// page is a page to write on.
func (r *rounds[S, M]) page() []election.Sent[M] {
	if last := len(r.blank) - 1; last >= 0 {
		page := r.blank[last]
		r.blank = r.blank[:last]
		return page[:0]
	}
	size := min(pageSize, 2*r.p.Size()+lastRoom)
	r.made += size
	return make([]election.Sent[M], 0, size)
}

// turn turns the page that is written on, if anything is on it.
func (r *rounds[S, M]) turn() {
	if len(r.collect.Sent()) > 0 {
		r.next = append(r.next, r.collect.Swap(r.page()))
	}
}

// room is for how many messages there is room on the page that is written on; there always is some. Who
// sends more in one step makes the page grow.
func (r *rounds[S, M]) room() int {
	if sent := r.collect.Sent(); cap(sent)-len(sent) >= lastRoom {
		return cap(sent) - len(sent)
	}
	r.turn()
	return cap(r.collect.Sent())
}

// tick begins the next round.
func (r *rounds[S, M]) tick() {
	r.now = r.now.Add(election.Units(1))
	r.collect.Clock(r.now)
	r.result.Time.Quiet = r.now
}

// few runs rounds as long as they have few messages. Most rounds have: of the phases of Hirschberg and
// Sinclair, the last ones alone take half of the time, and the leader alone is in them.
func (r *rounds[S, M]) few(byPort bool) {
	oriented := r.net.Topology == election.Ring && r.net.Oriented()
	spare := r.page()
	for r.result.Complete && len(r.collect.Sent()) > 0 && len(r.collect.Sent()) <= fewMessages {
		r.tick()
		in := r.collect.Swap(spare)
		if byPort && len(in) > 1 {
			r.sort(in)
		}
		if oriented {
			r.ring(in)
		} else {
			r.network(in)
		}
		r.done(in)
		spare = in
	}
	r.blank = append(r.blank, spare)
}

// sort brings messages into the order of the receivers' ports.
func (r *rounds[S, M]) sort(in []election.Sent[M]) {
	if len(in) == 2 && r.port(&in[0]) <= r.port(&in[1]) {
		return
	}
	slices.SortStableFunc(in, func(s, t election.Sent[M]) int { return r.port(&s) - r.port(&t) })
}

// ports delivers in the order of the receivers' ports.
func (r *rounds[S, M]) ports() {
	if r.net.Topology != election.Ring {
		all := slices.Concat(r.queue...)
		r.sort(all)
		for _, page := range r.queue {
			n := copy(page, all)
			r.deliver(page)
			all = all[n:]
		}
		return
	}
	wait, oriented := r.page(), r.net.Oriented()
	for _, page := range r.queue {
		due := 0
		for in := page; len(in) > 0; {
			waiting := len(wait)
			if cap(wait)-waiting < lastRoom {
				r.held, wait = append(r.held, wait), r.page()
				waiting = 0
			}
			now := in[:min(len(in), cap(wait)-waiting)]
			wait = wait[:waiting+len(now)]
			// Each message is written to both lists, and one of the two counts it: no branch to mispredict.
			for i := range now {
				m := &now[i]
				port := int(^m.Link >> 4 & 1)
				if !oriented {
					port = r.port(m)
				}
				wait[waiting] = *m
				page[due] = *m
				due, waiting = due+1-port, waiting+port
			}
			wait, in = wait[:waiting], in[len(now):]
		}
		r.deliver(page[:due])
	}
	for _, page := range append(r.held, wait) {
		r.deliver(page)
	}
	r.held = r.held[:0]
}

// port is the port on which a message arrives.
func (r *rounds[S, M]) port(m *election.Sent[M]) int {
	if r.net.Topology == election.Ring && r.net.Oriented() {
		return 1 - int(m.On()&1)
	}
	_, port := r.net.End(m.On())
	return int(port)
}

// deliver delivers what is on a page, counts it, and makes the page blank.
func (r *rounds[S, M]) deliver(page []election.Sent[M]) {
	oriented := r.net.Topology == election.Ring && r.net.Oriented()
	for in := page; len(in) > 0; {
		now := in
		if room := r.room() / 2; len(in) > room {
			now = in[:room]
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

// done counts what has been delivered, and decides what was decided.
func (r *rounds[S, M]) done(in []election.Sent[M]) {
	if r.a.Phase != nil {
		r.phases(in)
	}
	if len(r.collect.Rare()) > 0 {
		r.decisions()
	}
	r.reckon(len(in))
}

// ring delivers on an oriented ring: link 2p leads to p+1, and link 2p+1 to p-1.
func (r *rounds[S, M]) ring(in []election.Sent[M]) {
	receive, states, out, collect, sent := r.a.Receive, r.states, r.collect.Out(), r.collect, &r.sent
	n := uint32(len(states))
	for i := range in {
		m := &in[i]
		direction, kind := m.Link>>4&1, m.Link&15
		to := m.Link>>5 + 1 - 2*direction
		if to >= n {
			to = (to + n) % n
		}
		sent[kind]++
		collect.At(2 * to)
		receive(&states[to], election.Port(1-direction), election.Kind(kind), m.M, out)
	}
}

// network delivers on any network.
func (r *rounds[S, M]) network(in []election.Sent[M]) {
	for i := range in {
		m := &in[i]
		to, port := r.net.End(m.On())
		r.sent[m.Kind()]++
		r.collect.At(r.net.First(to))
		r.a.Receive(&r.states[to], port, m.Kind(), m.M, r.collect.Out())
	}
}

// phases counts election messages by their phases.
func (r *run[S, M]) phases(in []election.Sent[M]) {
	phase, elects, byPhase := r.a.Phase, uint32(r.elects), &r.byPhase
	for i := range in {
		m := &in[i]
		kind := m.Link & 15
		if elects>>kind&1 == 0 {
			continue
		}
		if of := uint(phase(election.Kind(kind), m.M)); of < uint(len(byPhase)) {
			byPhase[of]++
		} else {
			r.phase(int(of))
		}
	}
}

// decisions makes the decisions of some steps of one moment.
func (r *run[S, M]) decisions() {
	for i := range r.collect.Rare() {
		e := &r.collect.Rare()[i]
		if p := r.net.Owner(e.Link); !r.follows(p, e) {
			r.decide(p, *e)
		}
	}
	r.collect.ResetRare()
}
