package ringleadertest_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
)

func TestAGroupElectsFailsOverAndRefusesASecondLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		c.Cut([]uint64{1, 2}, []uint64{3})
		c.Await(2)
		c.Heal()
		c.Await(2) // no preemption
		c.Kill(2)
		c.Prove(2)
		c.Await(3)
		c.Start(2)
		c.Await(3)
	})
}

var (
	seed  = flag.Uint64("seed", 1, "of the first chaos run")
	seeds = flag.Int("seeds", 40, "how many chaos runs")
)

// TestChaos makes random faults. A leader must follow within the promised time after the last one, and the judge of the
// cluster must have nothing to say.
func TestChaos(t *testing.T) {
	for i := range *seeds {
		s := *seed + uint64(i)
		if !t.Run(fmt.Sprint(s), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { chaos(t, s) }) }) {
			return
		}
	}
}

func chaos(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	n := uint64(3 + 2*r.IntN(2))
	var ids []uint64
	for id := range n {
		ids = append(ids, id+1)
	}
	config := ringleader.Config{Preempt: r.IntN(2) == 0}
	c := ringleadertest.New(t, config, ids...)
	defer c.Close()
	for _, id := range ids {
		c.Host(id).Clock.Run(0.98 + 0.04*r.Float64()) // within ±2 %, for a drift of 5 %
	}
	c.Start(ids...)
	stopped, slow := map[uint64]bool{}, map[uint64]chan struct{}{}
	release := func(id uint64) {
		if slow[id] != nil {
			close(slow[id])
			delete(slow, id)
			c.Host(id).Disk.Intercept(nil)
		}
	}
	mail := newPost(c, r, ids)
	wait := func() {
		for range r.IntN(400) {
			time.Sleep(time.Millisecond)
			mail.deliver()
		}
	}
	for range 30 {
		id := ids[r.IntN(len(ids))]
		running := c.Member(id) != nil
		switch r.IntN(12) {
		case 0, 1:
			release(id)
			c.Kill(id)
			delete(stopped, id)
			if running && r.IntN(2) == 0 {
				c.Prove(id)
			}
		case 2:
			if !running {
				c.Start(id)
			}
		case 3:
			if running && !stopped[id] {
				c.Stop(id)
				stopped[id] = true
			}
		case 4:
			if stopped[id] {
				c.Continue(id)
				delete(stopped, id)
			}
		case 5:
			var sides [2][]uint64
			for _, member := range ids {
				side := r.IntN(2)
				sides[side] = append(sides[side], member)
			}
			c.Cut(sides[:]...)
		case 6:
			c.Heal()
		case 7:
			c.Host(id).Clock.Suspend(time.Duration(r.IntN(300)) * time.Millisecond)
		case 8:
			if running && slow[id] == nil {
				gate := make(chan struct{})
				slow[id] = gate
				c.Host(id).Disk.Intercept(func([]storage.Record) error { <-gate; return nil })
			} else {
				release(id)
			}
		case 9:
			if running && !stopped[id] {
				c.Member(id).Transfer(ids[r.IntN(len(ids))])
			}
		case 10:
			mail.slow()
		case 11:
			mail.block(ids[r.IntN(len(ids))], ids[r.IntN(len(ids))])
		}
		wait()
	}
	mail.end()
	for _, id := range ids {
		release(id)
		if stopped[id] {
			c.Continue(id)
		}
	}
	c.Heal()
	for _, id := range ids {
		if c.Member(id) == nil {
			c.Start(id)
		}
	}
	healed := time.Now()
	leader := c.AwaitAny()
	if took, most := time.Since(healed), 10*ringleader.Test().Lease; took > most {
		t.Errorf("agreement on %d took %v after the last fault; %v is promised", leader, took, most)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := c.Member(leader).WaitLeader(ctx); err != nil {
		t.Error(err)
	}
}

// post is a bad network: frames are late by any time and overtake each other, some arrive twice or never, and links are
// blocked in one direction.
type post struct {
	c       *ringleadertest.Cluster
	r       *rand.Rand
	ids     []uint64
	quick   float64 // the probability that a waiting frame arrives in a millisecond
	blocked map[[2]uint64]bool
}

func newPost(c *ringleadertest.Cluster, r *rand.Rand, ids []uint64) *post {
	p := &post{c: c, r: r, ids: ids, blocked: map[[2]uint64]bool{}}
	p.slow()
	return p
}

// slow sets another speed.
func (p *post) slow() {
	p.quick = [...]float64{1, 1, 0.5, 0.1, 0.02, 0.005}[p.r.IntN(6)]
	p.hold()
}

// block blocks a link in one direction, or the other links again.
func (p *post) block(from, to uint64) {
	if p.r.IntN(3) == 0 {
		clear(p.blocked)
	}
	p.blocked[[2]uint64{from, to}] = true
	p.hold()
}

func (p *post) hold() {
	all := p.quick < 1
	p.c.Hold(func(f ringleadertest.Frame) bool {
		return p.blocked[[2]uint64{f.From, f.To}] || all && f.Kind != "heartbeat" && f.Kind != "hello" && f.Kind != "end"
	})
}

// deliver lets a millisecond's frames arrive.
func (p *post) deliver() {
	held := p.c.Held()
	for i := len(held) - 1; i >= 0; i-- {
		f := held[i]
		if i >= len(p.c.Held()) { // what arrived ended a connection
			continue
		}
		if p.blocked[[2]uint64{f.From, f.To}] || p.c.Apart(f.From, f.To) || p.r.Float64() >= p.quick {
			continue
		}
		message := f.Kind != "hello" && f.Kind != "end"
		switch chance := p.r.IntN(50); {
		case message && chance == 0:
			p.c.Drop(i)
		case message && chance == 1:
			p.c.Duplicate(i)
			p.c.Deliver(i)
		default:
			p.c.Deliver(i)
		}
	}
}

// end makes the network a good one again.
func (p *post) end() {
	clear(p.blocked)
	p.c.Hold(nil)
}
