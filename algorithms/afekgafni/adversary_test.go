package afekgafni_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/afekgafni"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// adversary delivers the messages of its choice.
type adversary struct {
	a        algorithm
	net      *network.Network
	states   []afekgafni.Process
	collect  election.Collector[afekgafni.Claim]
	flying   []election.Sent[afekgafni.Claim]
	elects   int // election messages that were sent
	leaders  int
	followed []election.ID
}

// took must be called after each step.
func (v *adversary) took() {
	for _, s := range v.collect.Sent() {
		if v.a.Kinds[s.Kind()].Class == election.Election {
			v.elects++
		}
		v.flying = append(v.flying, s)
	}
	for _, e := range v.collect.Effects() {
		if e.Op == election.Lead {
			v.leaders++
		} else {
			v.followed = append(v.followed, e.ID)
		}
	}
	v.collect.Reset()
}

func (v *adversary) start(p int) {
	v.collect.At(v.net.First(p))
	v.a.Start(&v.states[p], v.collect.Out())
	v.took()
}

// deliver delivers the messages about a candidate until it reaches a level, or none is left.
func (v *adversary) deliver(candidate int, level uint16) {
	for v.states[candidate].Level < level {
		id := v.states[candidate].ID
		i := slices.IndexFunc(v.flying, func(s election.Sent[afekgafni.Claim]) bool { return s.M.ID == id })
		if i < 0 {
			return
		}
		v.deliverAt(i)
	}
}

func (v *adversary) deliverAt(i int) {
	s := v.flying[i]
	v.flying = slices.Delete(v.flying, i, i+1)
	to, port := v.net.End(s.On())
	v.collect.At(v.net.First(to))
	v.a.Receive(&v.states[to], port, s.Kind(), s.M, v.collect.Out())
	v.took()
}

// weakOnes is a run in which many candidates try to capture the same few processes, one after the other. A strong
// candidate kills each before the next comes. It returns the number of election messages.
func weakOnes(t *testing.T, a algorithm, prey, weak int) int {
	t.Helper()
	n := 2*prey + weak + 1
	first := func(from, count int) (positions []int) {
		for p := range count {
			positions = append(positions, from+p)
		}
		return positions
	}
	strong, itsOwn, common, candidates := 0, first(1, prey), first(1+prey, prey), first(1+2*prey, weak)
	ports := make([][]int, n)
	for p := range ports {
		wanted := slices.Concat(common, []int{strong}, itsOwn, candidates)
		if p == strong {
			wanted = slices.Concat(itsOwn, candidates, common)
		}
		for _, q := range wanted {
			if q != p {
				ports[p] = append(ports[p], (q-p-1+n)%n)
			}
		}
	}
	net, err := network.NewUnknownNeighbours(n, ports)
	if err != nil {
		t.Fatal(err)
	}
	v := &adversary{a: a, net: net}
	for p := range n { // the strong one has the largest identifier, and later candidates have larger ones
		id := election.ID(p)
		if p == strong {
			id = election.ID(n)
		}
		v.states = append(v.states, a.New(election.Local{ID: id, N: n, Degree: n - 1}))
	}
	for _, p := range append([]int{strong}, candidates...) {
		v.start(p)
	}
	v.deliver(strong, uint16(prey))
	for i, p := range candidates {
		v.deliver(p, uint16(prey))
		v.deliver(strong, uint16(prey+i+1))
	}
	for len(v.flying) > 0 {
		v.deliverAt(0)
	}
	if other := func(id election.ID) bool { return id != election.ID(n) }; v.leaders != 1 || len(v.followed) != n-1 || slices.ContainsFunc(v.followed, other) {
		t.Errorf("%d lead, and they follow %d", v.leaders, v.followed)
	}
	return v.elects
}

// An exposition lets dead candidates yield to all: that elects one leader, too, but costs quadratically many
// messages.
func TestLosersMustRefuseOrMessagesAreQuadratic(t *testing.T) {
	yielding := mutant(func(p *afekgafni.Process, port election.Port, kind election.Kind, m afekgafni.Claim, out *election.Out[afekgafni.Claim]) bool {
		yields := kind == afekgafni.Ask && !p.Alive
		if yields {
			out.Send(port, afekgafni.Yield, m)
		}
		return yields
	})
	for prey := 20; prey <= 80; prey *= 2 {
		n := uint64(4*prey + 1)
		bound := int(afekgafni.Algorithm.Bound(election.Worst).Value(n))
		if sent := weakOnes(t, afekgafni.Algorithm, prey, 2*prey); sent > bound {
			t.Errorf("n=%d: %d election messages; the bound is %d", n, sent, bound)
		}
		sent := weakOnes(t, yielding, prey, 2*prey)
		if quadratic := 8 * prey * (prey - 1); sent < quadratic || sent <= bound { // four for each capture
			t.Errorf("n=%d: %d election messages if losers yield; want %d, and more than %d", n, sent, quadratic, bound)
		}
		t.Logf("n=%d: %d election messages if losers yield, bound %d", n, sent, bound)
	}
}
