package simulate

import (
	"reflect"
	"slices"

	"ringleader.example/ringleader/election"
)

// rounds runs everything that is under way at once, again and again. What the steps of a round send is
// the next round: nothing is copied or queued. In the order of sending this is the fifo schedule; by
// ports it is a synchronous run.
func (r *run[S, M]) rounds() {
	perProcess := 2
	if r.a.OneWay {
		perProcess = 1
	}
	r.result.Time = &Times{}
	r.collect.Swap(make([]election.Sent[M], 0, r.p.Size()*perProcess))
	spare := make([]election.Sent[M], 0, r.p.Size())
	for p := range r.initiators {
		r.a.Start(&r.states[p], r.begin(p))
	}
	r.decisions()
	ports := 0 // port order matters in a synchronous run where a process can get several messages at once
	if r.o.Timing == election.Synchronous && !r.a.OneWay {
		ports = 2
	}
	for len(r.collect.Sent()) > 0 && r.result.Complete {
		in := r.collect.Swap(spare)
		r.now = r.now.Add(election.Units(1))
		switch {
		case r.net.Topology != election.Ring:
			if ports > 0 {
				slices.SortStableFunc(in, func(s, t election.Sent[M]) int {
					_, sp := r.net.End(s.On())
					_, tp := r.net.End(t.On())
					return int(sp) - int(tp)
				})
			}
			r.network(in)
		case !r.net.Oriented():
			r.network(in)
		case ports > 0:
			r.ring(in, 1, 0) // port 0 of the receiver is reached from port 1 of the sender
			r.ring(in, 1, 1)
		default:
			r.ring(in, 0, 0)
		}
		for i := range in {
			r.count(&in[i])
		}
		r.result.Deliveries += uint64(len(in))
		r.result.Time.Quiet = r.now
		r.decisions()
		if r.o.Limit != 0 && r.result.Deliveries > r.o.Limit ||
			r.o.Progress != nil && !r.o.Progress(r.result.Deliveries) {
			r.result.Complete = false
		}
		spare = in
	}
	size := int(reflect.TypeFor[election.Sent[M]]().Size())
	r.result.Bytes += (cap(spare) + cap(r.collect.Sent())) * size
}

// ring delivers on an oriented ring the messages whose sender's port, masked, is that; mask 0 is all.
func (r *run[S, M]) ring(in []election.Sent[M], mask, port uint32) {
	receive, states, out, collect := r.a.Receive, r.states, r.collect.Out(), r.collect
	n := uint32(len(states))
	for i := range in {
		m := &in[i]
		link := m.On()
		if link&mask != port^mask {
			continue
		}
		direction := link & 1 // link 2p leads to p+1, link 2p+1 to p-1
		to := link>>1 + 1 - 2*direction
		if to >= n {
			to = (to + n) % n
		}
		collect.At(2 * to)
		receive(&states[to], election.Port(1-direction), m.Kind(), m.M, out)
	}
}

// network delivers on any network.
func (r *run[S, M]) network(in []election.Sent[M]) {
	for i := range in {
		m := &in[i]
		to, port := r.net.End(m.On())
		r.collect.At(r.net.First(to))
		r.a.Receive(&r.states[to], port, m.Kind(), m.M, r.collect.Out())
	}
}

// decisions makes the decisions of a round.
func (r *run[S, M]) decisions() {
	for _, e := range r.collect.Rare() {
		r.decide(r.net.Owner(e.Link), e)
	}
	r.collect.ResetRare()
}
