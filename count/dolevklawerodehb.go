package count

import (
	"context"
	"slices"

	"ringleader.example/ringleader/election"
)

var _ Func = DolevKlaweRodehB

// DolevKlaweRodehB counts for algorithm dolev-klawe-rodeh-b. In phase p, from 0, the value of an active process is
// 2^p-1 hops past its owner. So its answer place, 2^p hops on, is 2^(p+1)-1 hops past the owner. It has one if the
// next greater identifier comes after that place: no process in between remembers a greater one. If the value is
// greater than the value before it, its TWO goes to that place, where the value is active in the next phase, or ends
// at that greater identifier. The largest, when alone, has 2^p-1 of its n hops behind it.
//
// The ring is read counter-clockwise, so that the next greater identifier has been read already.
func DolevKlaweRodehB(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	if err := distinct(ids); err != nil {
		return nil, err
	}
	n := ids.Len()
	var two [33]uint64 // by phase
	c := chain{row: 2, n: n, rule: func(phase int) rule {
		return func(values, next []value) []value {
			next, hops := withPlace(values, next, uint64(1)<<phase)
			two[phase] += hops
			return next
		}
	}}
	leader := greatest(ids)
	greater := nextGreater{top: run{ID: ids.At(leader), Length: 1}}
	begin := n - leader // after the leader, counter-clockwise
	err := read(ctx, mirrored{ids}, begin%n, 0, n, summed(progress, n), func(_ int, block []uint64) {
		for _, id := range block {
			c.add(value{ID: id, At: greater.distance(id)})
		}
	})
	if err != nil {
		return nil, err
	}
	entered, _ := c.close(1)
	byPhase, ones, twos := []uint64(nil), uint64(0), uint64(0)
	for p := range entered {
		one := uint64(n)
		if p == len(entered)-1 {
			one -= 1<<p - 1
		}
		byPhase = append(byPhase, one+two[p])
		ones, twos = ones+one, twos+two[p]
	}
	return &Result{Messages: messages(uint64(n), ones, twos), ByPhase: byPhase, Entered: entered, Leader: ids.At(leader), Position: leader}, nil
}

// withPlace keeps the values that are greater than the value before and have an answer place within reach, and counts
// the hops of TWO. The values come counter-clockwise; at is the distance from owners to the next greater identifier.
func withPlace(values, next []value, reach uint64) (kept []value, hops uint64) {
	k := len(next)
	here, rest := values[0], values[1:]
	next = next[:k+len(rest)]
	for _, before := range rest {
		next[k] = here
		if here.ID > before.ID {
			left := uint64(here.At) - (reach - 1)
			hops += min(reach, left)
			k += one(left > reach)
		}
		here = before
	}
	return next[:k], hops
}

// mirrored is a ring in the opposite direction.
type mirrored struct{ election.Arrangement }

func (m mirrored) At(position int) uint64 { return m.Arrangement.At(m.Len() - 1 - position) }

// Fill is At for consecutive positions.
func (m mirrored) Fill(ids []uint64, from int) {
	fill(m.Arrangement, ids, m.Len()-from-len(ids))
	slices.Reverse(ids)
}

// nextGreater finds the distances to the nearest greater identifier among those read before, which are kept as a
// stack, as in a scan. The greatest of all is read twice, first and last.
type nextGreater struct {
	stack []run // below top
	top   run
	index uint32
}

func (g *nextGreater) distance(id uint64) uint32 {
	g.index++
	for g.top.ID < id {
		if g.top.Length > 1 {
			g.top = run{g.top.ID + 1, g.top.Last - 1, g.top.Length - 1}
			continue
		}
		g.top = g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
	}
	distance := g.index - g.top.Last
	if g.top.ID-id == 1 && distance == 1 {
		g.top = run{id, g.index, g.top.Length + 1}
	} else {
		g.stack = append(g.stack, g.top)
		g.top = run{id, g.index, 1}
	}
	return distance
}
