package ringleadertest_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
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

// The scheduler of goroutines does not decide who leads at first: no member answers before all have asked.
func TestMembersBeginTogether(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
			defer c.Close()
			var frames []string // of one instant
			c.Hold(func(f ringleadertest.Frame) bool { frames = append(frames, f.Kind); return false })
			c.Start(1, 2, 3)
			c.Await(3)
			answered := slices.Index(frames, "answer")
			asked := 0
			for _, kind := range frames[:answered] {
				if kind == "election" {
					asked++
				}
			}
			if asked != 6 {
				t.Fatalf("%d questions before the first answer: %q", asked, frames)
			}
		})
	}
}

// Nor does it decide what the others know when a member is killed.
func TestADeathIsNoticedAtOnce(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
			defer c.Close()
			c.Start(1, 2, 3)
			c.Await(3)
			c.Kill(1)
			for _, id := range []uint64{2, 3} {
				if c.Member(id).Status().Members[0].Reachable {
					t.Fatalf("%d does not miss 1", id)
				}
			}
		})
	}
}

var (
	seed  = flag.Uint64("seed", 1, "of the first chaos run")
	seeds = flag.Int("seeds", 40, "how many chaos runs")
)

// TestChaos makes random faults. A leader must follow within the promised time after the last one, and the judge of the
// cluster must have nothing to say.
func TestChaos(t *testing.T) {
	if testing.Short() {
		*seeds = min(*seeds, 5)
	}
	for i := range *seeds {
		s := *seed + uint64(i)
		if !t.Run(fmt.Sprint(s), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { chaos(t, s) }) }) {
			return
		}
	}
}

// TestChaosFindsFalseProofsOfDeath checks that chaos tries what proofs of death do: with wardens that lie, it finds two leases.
func TestChaosFindsFalseProofsOfDeath(t *testing.T) {
	const most = 300
	for seed := range uint64(most) {
		heard := &complaints{TB: t}
		synctest.Test(t, func(*testing.T) {
			m := newMonkey(heard, seed, "")
			defer m.c.Close()
			m.lies = true
			m.rage(func() bool { return len(heard.all) == 0 })
			for _, id := range m.ids {
				m.release(id) // or it never ends
			}
		})
		if strings.Contains(strings.Join(heard.all, ""), "two leases run at the same time") {
			return
		}
	}
	t.Errorf("nothing was found in %d runs", most)
}

// modelled is that the records of one of so many runs are compared with the model, which takes longer than the run.
const modelled = 8

func chaos(t *testing.T, seed uint64) {
	records := t.TempDir()
	m := newMonkey(t, seed, records)
	defer replays(t, records, m.ids)
	if seed%modelled == 1 {
		defer allowed(t, records)
	}
	defer m.c.Close()
	m.rage(func() bool { return true })
	m.repair()
	t.Logf("%d changes of voters, %d proofs of death", m.changes.Load(), m.proofs)
	healed := time.Now()
	leader := m.c.AwaitAny()
	if took, most := time.Since(healed), 10*ringleader.Test().Lease; took > most {
		t.Errorf("agreement on %d took %v after the last fault; %v is promised", leader, took, most)
	}
	m.c.Until("the second group has a leader", func() bool {
		v := m.c.Group(second, m.ids[0]).View()
		for _, id := range m.ids {
			if m.c.Group(second, id).View().Leader != v.Leader {
				return false
			}
		}
		return v.Known
	})
}

// newMonkey makes a cluster for faults. It is closed by the caller.
func newMonkey(t testing.TB, seed uint64, records string) *monkey {
	r := rand.New(rand.NewPCG(seed, 0))
	m := &monkey{r: r, stopped: map[uint64]bool{}, slow: map[uint64]chan struct{}{}}
	for id := range uint64(3 + 2*r.IntN(2)) {
		m.ids = append(m.ids, id+1)
	}
	config := ringleader.Config{Timing: ringleader.Test(), Preempt: r.IntN(2) == 0, Record: ringleader.Record{Directory: records, Off: records == "", Size: 1 << 20}}
	if seed%3 == 1 { // the leader chooses how long its lease is
		config.Timing.ShortestLease /= 2
	}
	for _, id := range m.ids[1+r.IntN(len(m.ids)):] {
		config.Members = append(config.Members, ringleader.MemberAddress{ID: id, Standby: true})
	}
	m.c = ringleadertest.New(t, config, m.ids...)
	for _, id := range m.ids {
		m.c.Host(id).Clock.Run(0.98 + 0.04*r.Float64()) // within ±2 %, for a drift of 5 %
	}
	m.c.Start(m.ids...)
	m.c.Join(ringleader.GroupConfig{Group: second, Priorities: map[uint64]uint16{1: 2}}, m.ids...)
	m.post = newPost(m.c, r)
	return m
}

// faults is the number of faults of a run.
const faults = 60

// rage makes faults for as long as there is a reason to go on.
func (m *monkey) rage(on func() bool) {
	for i := 0; i < faults && on(); i++ {
		m.act(m.ids[m.r.IntN(len(m.ids))])
		for range m.r.IntN(120) { // faults come within a lease of each other
			m.c.Pass(time.Millisecond)
			m.post.deliver()
		}
	}
}

// monkey makes faults.
type monkey struct {
	c       *ringleadertest.Cluster
	r       *rand.Rand
	ids     []uint64
	post    *post
	stopped map[uint64]bool
	lies    bool                     // what is proven dead runs on
	proofs  int                      // of death
	changes atomic.Int64             // of voters
	slow    map[uint64]chan struct{} // disks that do not answer until the channel is closed
}

// act makes or ends a fault, at one member or at the network.
func (m *monkey) act(id uint64) {
	host, running := m.c.Host(id), m.c.Member(id) != nil
	actions := []func(){
		func() { m.kill(id, false) },
		func() { m.kill(id, true) },
		func() { m.c.Cut(m.sides()...) },
		m.c.Heal,
		func() { host.Clock.Suspend(time.Duration(m.r.IntN(300)) * time.Millisecond) },
		m.post.slow,
		func() { m.post.block(id, m.ids[m.r.IntN(len(m.ids))]) },
	}
	switch {
	case !running:
		actions = slices.Repeat([]func(){func() { m.c.Start(id) }}, 7)
	case m.stopped[id]:
		actions = append(actions, slices.Repeat([]func(){func() { m.proceed(id) }}, 4)...)
	default:
		actions = append(actions,
			func() { m.c.Stop(id); m.stopped[id] = true },
			func() { m.c.Member(id).Transfer(m.ids[m.r.IntN(len(m.ids))]) },
			func() { m.delay(id) },
			func() { m.change(id) },
			m.vote,
			m.vote,
		)
	}
	actions[m.r.IntN(len(actions))]()
}

func (m *monkey) kill(id uint64, proven bool) {
	running := m.c.Member(id) != nil
	if running && proven && m.lies {
		m.c.Cut([]uint64{id}, slices.DeleteFunc(slices.Clone(m.ids), func(x uint64) bool { return x == id })) // it does not hear of that, and goes on
		m.c.Lie(id)
		return
	}
	m.release(id)
	m.c.Kill(id)
	delete(m.stopped, id)
	if running && proven {
		m.c.Prove(id)
		m.proofs++
	}
}

// vote asks all members to change the vote of one. The leader obeys, if it can.
func (m *monkey) vote() {
	change, id := (*ringleader.Member).AddMember, m.ids[m.r.IntN(len(m.ids))]
	if m.r.IntN(2) == 0 {
		change = (*ringleader.Member).RemoveMember
	}
	patience := time.Duration(1+m.r.IntN(500)) * time.Millisecond
	for _, other := range m.ids {
		member := m.c.Member(other)
		if member == nil {
			continue
		}
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if member.View().Role == ringleader.Leader && change(member, ctx, id) == nil {
				m.changes.Add(1)
			}
		}()
	}
}

const second = "second"

// change lets a member join the second group, or leave it. Both wait for its disk.
func (m *monkey) change(id uint64) {
	switch {
	case m.slow[id] != nil:
	case m.c.Group(second, id) != nil:
		m.c.Leave(second, id)
	default:
		m.c.Join(ringleader.GroupConfig{Group: second, Priorities: map[uint64]uint16{1: 2}}, id)
	}
}

func (m *monkey) proceed(id uint64) {
	m.c.Continue(id)
	delete(m.stopped, id)
}

// sides divides the members at random.
func (m *monkey) sides() [][]uint64 {
	sides := make([][]uint64, 2)
	for _, id := range m.ids {
		side := m.r.IntN(2)
		sides[side] = append(sides[side], id)
	}
	return sides
}

// delay lets a disk not answer, or answer again.
func (m *monkey) delay(id uint64) {
	if m.slow[id] != nil {
		m.release(id)
		return
	}
	gate := make(chan struct{})
	m.slow[id] = gate
	m.c.Host(id).Disk.Intercept(func([]storage.Record) error { <-gate; return nil })
}

func (m *monkey) release(id uint64) {
	if m.slow[id] != nil {
		close(m.slow[id])
		delete(m.slow, id)
		m.c.Host(id).Disk.Intercept(nil)
	}
}

// repair ends all faults, and starts all members.
func (m *monkey) repair() {
	m.post.end()
	for _, id := range m.ids {
		m.release(id)
		if m.stopped[id] {
			m.proceed(id)
		}
	}
	m.c.Heal()
	for _, id := range m.ids {
		if m.c.Member(id) == nil {
			m.c.Start(id)
		}
		if m.c.Group(second, id) == nil {
			m.change(id)
		}
	}
}

// post is a bad network: frames are late by any time and overtake each other, some arrive twice or never, and links are
// blocked in one direction.
type post struct {
	c       *ringleadertest.Cluster
	r       *rand.Rand
	quick   float64 // the probability that a waiting frame arrives in a millisecond
	blocked map[[2]uint64]bool
}

func newPost(c *ringleadertest.Cluster, r *rand.Rand) *post {
	p := &post{c: c, r: r, blocked: map[[2]uint64]bool{}}
	p.slow()
	return p
}

// slow sets another speed.
func (p *post) slow() {
	p.quick = [...]float64{1, 1, 1, 0.5, 0.2, 0.05}[p.r.IntN(6)]
	p.hold()
}

// block blocks a link in one direction, or the other links again.
func (p *post) block(from, to uint64) {
	blocked := map[[2]uint64]bool{{from, to}: true}
	if p.r.IntN(3) != 0 {
		maps.Copy(blocked, p.blocked)
	}
	p.blocked = blocked
	p.hold()
}

// hold lets the network be as it is from now on. Members that send at the moment look at what does not change any more.
func (p *post) hold() {
	all, blocked := p.quick < 1, p.blocked
	p.c.Hold(func(f ringleadertest.Frame) bool {
		return blocked[[2]uint64{f.From, f.To}] || all && f.Kind != "heartbeat" && f.Kind != "hello" && f.Kind != "end"
	})
}

// deliver lets a millisecond's frames arrive.
func (p *post) deliver() {
	held := p.c.Held()
	left := len(held)
	for i := left - 1; i >= 0; i-- {
		f := held[i]
		if i >= left || p.blocked[[2]uint64{f.From, f.To}] || p.c.Apart(f.From, f.To) || p.r.Float64() >= p.quick {
			continue // or what arrived has ended the connection
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
		left = len(p.c.Held())
	}
}

// end makes the network a good one again.
func (p *post) end() {
	p.blocked = nil
	p.c.Hold(nil)
}

// What a member was told before it was stopped has no effect once it is killed: it hands nothing over.
func TestAStoppedMemberThatIsKilledSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		old := c.AwaitAny()
		next := old%3 + 1
		c.Stop(old)
		stopped := time.Now()
		if err := c.Member(old).Transfer(next); err != nil {
			t.Fatal(err)
		}
		c.Kill(old)
		c.Until("another member leads", func() bool {
			v := c.Member(next).View()
			return v.Known && v.Leader != old
		})
		if took := time.Since(stopped); took < ringleader.Test().Lease/2 {
			t.Errorf("another member leads after %v", took)
		}
	})
}
