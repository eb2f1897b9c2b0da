package count_test

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/network"
)

// played is the result of a run.
type played struct {
	byKind, byPhase         []uint64 // byPhase: election messages only
	leader                  int      // position
	elected, decided, quiet uint64   // for synchronous runs
}

// simulate runs an algorithm on a ring to quiescence, in the simplest way. next picks one of the possible events:
// messages in transit in the order of sending, then processes that have not started. If it is nil, the run is
// synchronous, and all start at 0.
func simulate[S, M any](t property.TB, a *election.Algorithm[S, M], i network.Setup, fifo, startFirst bool, next func(events int) int) played {
	t.Helper()
	ring, err := network.Prepare(&a.Declaration, i)
	if err != nil {
		t.Fatal(err)
	}
	n := ring.Size()
	o := played{byKind: make([]uint64, len(a.Kinds)), leader: -1}
	var c election.Collector[M]
	states := make([]S, n)
	var underWay []election.Sent[M]
	decided, now := 0, uint64(0)
	collect := func(p int) {
		for _, s := range c.Sent() {
			underWay = append(underWay, s)
			o.byKind[s.Kind()]++
			if a.Phase != nil && a.Kinds[s.Kind()].Class == election.Election {
				phase := a.Phase(s.Kind(), s.M)
				o.byPhase = append(o.byPhase, make([]uint64, max(0, phase+1-len(o.byPhase)))...)
				o.byPhase[phase]++
			}
		}
		for _, e := range c.Effects() {
			decided++
			o.decided = now
			if e.Op == election.Lead {
				if o.leader >= 0 {
					t.Fatalf("%d and %d both lead", o.leader, p)
				}
				o.leader, o.elected = p, now
			}
		}
		c.Reset()
	}
	start := func(p int) {
		c.At(ring.Network.First(p))
		a.Start(&states[p], c.Out())
		collect(p)
	}
	deliver := func(m election.Sent[M]) {
		p, port := ring.Network.End(m.On())
		c.At(ring.Network.First(p))
		a.Receive(&states[p], port, m.Kind(), m.M, c.Out())
		collect(p)
	}
	var asleep []int
	for p := range states {
		states[p] = a.New(ring.Local(p))
		asleep = append(asleep, p)
	}
	if next == nil || startFirst {
		for _, p := range asleep {
			start(p)
		}
		asleep = nil
	}
	for len(underWay)+len(asleep) > 0 {
		if next == nil {
			round := underWay
			underWay = nil
			now++
			for _, m := range round {
				deliver(m)
			}
			continue
		}
		k := next(len(underWay) + len(asleep))
		if k -= len(underWay); k >= 0 {
			p := asleep[k]
			asleep = slices.Delete(asleep, k, k+1)
			start(p)
			continue
		}
		k += len(underWay)
		if fifo {
			link := underWay[k].On()
			k = slices.IndexFunc(underWay, func(m election.Sent[M]) bool { return m.On() == link })
		}
		m := underWay[k]
		underWay = slices.Delete(underWay, k, k+1)
		deliver(m)
	}
	if decided != n && (a.With(ring.Parameters).Decides == election.EveryProcess || decided != 1) {
		t.Fatalf("%d of %d decided", decided, n)
	}
	o.quiet = now
	return o
}
