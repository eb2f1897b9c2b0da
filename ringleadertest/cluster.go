// Package ringleadertest runs a group of members in one process, so that a program's tests can make every fault: a
// network, disks, clocks and wardens in memory.
//
// A cluster runs in a bubble of testing/synctest, where time passes when all goroutines wait. So a test of minutes takes
// milliseconds, and no machine is too slow for it.
//
//	synctest.Test(t, func(t *testing.T) {
//		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
//		defer c.Close()
//		c.Start(1, 2, 3)
//		c.Await(3)                            // 3 leads, and all others follow
//		c.Cut([]uint64{1, 2}, []uint64{3})
//		c.Await(2)                            // 2 leads, when the lease of 3 is over
//		c.Heal()
//	})
//
// # Judgement
//
// While a cluster is open it watches all members of each group. The test fails if two leases of one group run at the same time, counting the lease
// of a killed or stopped process until its end, or until a proof of death; or if the terms of successive leaders do not
// rise.
//
// # Single frames
//
// [Cluster.Hold] stops frames, [Cluster.Held] lists them, and [Cluster.Deliver], [Cluster.Drop] and [Cluster.Duplicate]
// decide what becomes of each, in any order. [Cluster.Settle] lets everything happen that needs no time.
//
// The API of this package is v1: what it exports stays, and keeps its meaning.
package ringleadertest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// Cluster is a group of members, each with a disk and clocks of its own. Its methods belong to the test's goroutine.
type Cluster struct {
	t      testing.TB
	config ringleader.Config
	net    *transporttest.Exchange
	hosts  map[uint64]*Host
	order  []uint64
	sides  map[uint64]int // of a cut; nil: none
	hold   func(Frame) bool
	change func(uint64, *ringleader.Config)
	judges map[string]*judge // by the name of a group
	done   chan struct{}
}

// Host is where a member runs: its clocks and its disk outlive it.
type Host struct {
	Clock *clocktest.Clock
	Disk  *storage.Disk

	member *ringleader.Member            // of the first group
	groups map[string]*ringleader.Member // by the name of a group
	secret [32]byte
	lives  int
}

// New makes a cluster of members of which none runs. Config holds what they have in common; ID, Members, Storage, Clock,
// Transport and Death are those of the cluster, with LeaseFile there is no Death, and Overrun is Log unless it is Panic. With Record.Directory, each member writes its record into the
// folder there that has its ID as the name. The default Timing is
// [ringleader.Test].
func New(t testing.TB, config ringleader.Config, ids ...uint64) *Cluster {
	if config.Timing == (ringleader.Timing{}) {
		config.Timing = ringleader.Test()
	}
	if config.Overrun == ringleader.Exit {
		config.Overrun = ringleader.Log
	}
	given := config.Members
	config.Members = nil
	c := &Cluster{t: t, net: transporttest.NewExchange(), hosts: map[uint64]*Host{}, order: slices.Sorted(slices.Values(ids)), judges: map[string]*judge{}, done: make(chan struct{})}
	for _, id := range ids {
		member := ringleader.MemberAddress{ID: id}
		if i := slices.IndexFunc(given, func(m ringleader.MemberAddress) bool { return m.ID == id }); i >= 0 {
			member = given[i] // for its priority
		}
		member.Address = fmt.Sprintf("member%d:1", id)
		config.Members = append(config.Members, member)
		c.hosts[id] = &Host{Clock: clocktest.New(), Disk: storage.Memory()}
	}
	c.config = config
	c.watch(config.Group)
	return c
}

// watch begins to judge a group.
func (c *Cluster) watch(group string) *judge {
	if c.judges[group] == nil {
		c.judges[group] = &judge{cluster: c, group: group}
		go c.judges[group].watch()
	}
	return c.judges[group]
}

// first returns the judge of the cluster's own group.
func (c *Cluster) first() *judge { return c.judges[c.config.Group] }

// Close ends all members and the judgement.
func (c *Cluster) Close() {
	for _, h := range c.hosts {
		h.Clock.Continue()
	}
	for _, id := range c.order {
		c.Kill(id)
	}
	close(c.done)
	synctest.Wait()
}

// Configure lets a function change the configuration of each member that starts later, for what the members do not have in
// common. It may put another store or transport before those of the cluster.
func (c *Cluster) Configure(change func(id uint64, config *ringleader.Config)) { c.change = change }

// Host returns the host of a member.
func (c *Cluster) Host(id uint64) *Host { return c.hosts[id] }

// Member returns a member of the first group that runs, or nil.
func (c *Cluster) Member(id uint64) *ringleader.Member { return c.hosts[id].member }

// Start starts members: a new life of each in the first group, with what is on its disk. They begin together, each
// connected with all that it can reach, and none is asked before all have begun. So the same member leads at first in each
// run, whatever the machine does at the time.
func (c *Cluster) Start(ids ...uint64) {
	c.t.Helper()
	c.net.Pause()
	defer c.net.Resume()
	defer c.Settle() // the first messages
	defer c.net.Flush()
	defer c.Settle() // the first connections
	for _, id := range ids {
		if err := c.TryStart(id); err != nil {
			c.t.Fatalf("member %d: %v", id, err)
		}
	}
}

// TryStart starts one member, or returns why it does not start.
func (c *Cluster) TryStart(id uint64) error {
	h := c.hosts[id]
	if h.member != nil {
		return fmt.Errorf("it runs")
	}
	disk, err := h.Disk.Open()
	if err != nil {
		return err
	}
	config := c.config
	rand.Read(h.secret[:])
	config.ID, config.Storage, config.Clock, config.Death = id, disk, h.Clock, sha256.Sum256(h.secret[:])
	config.Transport = c.net.Open
	if directory := config.Record.Directory; directory != "" {
		config.Record.Directory = filepath.Join(directory, strconv.FormatUint(id, 10))
	}
	if c.change != nil {
		c.change(id, &config)
	}
	if config.LeaseFile != "" {
		config.Death = [32]byte{}
	}
	m, err := ringleader.Join(context.Background(), config)
	if err != nil {
		return err
	}
	h.lives++
	h.member, h.groups = m, map[string]*ringleader.Member{c.config.Group: m}
	c.first().begins(id, m)
	return nil
}

// Join lets members that run join another group, which is judged as the first one is.
func (c *Cluster) Join(group ringleader.GroupConfig, ids ...uint64) {
	c.t.Helper()
	for _, id := range ids {
		h := c.hosts[id]
		m, err := h.member.Join(context.Background(), group)
		if err != nil {
			c.t.Fatalf("member %d: %v", id, err)
		}
		h.groups[group.Group] = m
		c.watch(group.Group).begins(id, m)
	}
}

// Leave lets members close the part that they take in a group.
func (c *Cluster) Leave(group string, ids ...uint64) {
	for _, id := range ids {
		h := c.hosts[id]
		h.groups[group].Close()
		delete(h.groups, group)
		c.judges[group].leaves(id)
	}
}

// Group returns a member of a group, or nil if it does not run, or has not joined that.
func (c *Cluster) Group(group string, id uint64) *ringleader.Member { return c.hosts[id].groups[group] }

var errKilled = errors.New("killed")

// Kill ends a member as SIGKILL does: it releases nothing, and its connections break, which the others have noticed when Kill
// returns. A warden would prove its death now: see Prove.
func (c *Cluster) Kill(id uint64) {
	h := c.hosts[id]
	if h.member == nil {
		return
	}
	c.each(func(j *judge) { j.ends(id) })
	c.net.Fail(id, errKilled)
	h.Clock.Continue() // one that is stopped ends, too
	<-h.member.Done()
	h.member, h.groups = nil, nil
	synctest.Wait()
}

// Prove gives all running members the proof that the last life of a killed member, and all its work, are dead.
func (c *Cluster) Prove(id uint64) {
	h := c.hosts[id]
	if h.member != nil || h.lives == 0 {
		panic("ringleadertest: a proof of the death of a member that runs, or never ran")
	}
	c.each(func(j *judge) { j.proven(id) })
	c.disclose(id)
}

// disclose gives all running members the secret of the last life of a member.
func (c *Cluster) disclose(id uint64) {
	for _, other := range c.order {
		if c.hosts[other].member != nil {
			c.net.Prove(other, transport.Proof{Member: id, Secret: c.hosts[id].secret})
		}
	}
}

// Stop stops a member as SIGSTOP does, until Continue.
func (c *Cluster) Stop(id uint64) {
	c.each(func(j *judge) { j.stops(id) })
	c.hosts[id].Clock.Stop()
}

// Continue continues a stopped member.
func (c *Cluster) Continue(id uint64) {
	c.hosts[id].Clock.Continue()
	c.each(func(j *judge) { j.continues(id) })
}

func (c *Cluster) each(tell func(*judge)) {
	for _, j := range c.judges {
		tell(j)
	}
}

// Cut cuts all links between the given sides; a member that is in none is cut off from all. What is on its way arrives
// after Heal, as from a network that sends again what was lost.
func (c *Cluster) Cut(sides ...[]uint64) {
	c.sides = map[uint64]int{}
	for i, side := range sides {
		for _, id := range side {
			c.sides[id] = i + 1
		}
	}
	for i, id := range c.order {
		if c.sides[id] == 0 {
			c.sides[id] = -i - 1
		}
	}
	c.apply()
}

// Apart reports whether a cut separates two members.
func (c *Cluster) Apart(a, b uint64) bool { return c.sides != nil && c.sides[a] != c.sides[b] }

// Heal ends a cut.
func (c *Cluster) Heal() {
	c.sides = nil
	c.apply()
	if c.hold == nil {
		for len(c.net.Held()) > 0 {
			c.net.Deliver(0)
		}
	}
}

// Frame is a frame on its way from one member to another.
type Frame struct {
	From, To uint64
	Kind     string // "hello", "end", "heartbeat", a kind of message of the algorithm, such as "claim", or "other"
}

func frameOf(f transporttest.Frame) Frame {
	frame := Frame{From: f.From, To: f.To, Kind: "other"}
	kinds := quorumbully.Program.Kinds
	switch {
	case f.What == transporttest.Hello:
		frame.Kind = "hello"
	case f.What == transporttest.End:
		frame.Kind = "end"
	case f.What == transporttest.Heartbeat:
		frame.Kind = "heartbeat"
	case int(f.Kind) < len(kinds):
		frame.Kind = kinds[f.Kind].Name
	}
	return frame
}

// Hold sets which frames are held from now on; nil holds none. Frames that are held already stay held.
func (c *Cluster) Hold(hold func(Frame) bool) {
	c.hold = hold
	c.apply()
}

func (c *Cluster) apply() {
	sides, hold := c.sides, c.hold
	c.net.Hold(func(f transporttest.Frame) bool {
		return sides != nil && sides[f.From] != sides[f.To] || hold != nil && hold(frameOf(f))
	})
}

// Held returns the frames that are held, in the order in which they were sent.
func (c *Cluster) Held() (held []Frame) {
	for _, f := range c.net.Held() {
		held = append(held, frameOf(f))
	}
	return held
}

// Deliver delivers the i-th held frame, and lets everything happen that needs no time.
func (c *Cluster) Deliver(i int) {
	c.net.Deliver(i)
	synctest.Wait()
}

// Drop loses the i-th held frame.
func (c *Cluster) Drop(i int) { c.net.Drop(i) }

// Duplicate holds a copy of the i-th held frame, which is a message, behind it.
func (c *Cluster) Duplicate(i int) { c.net.Duplicate(i) }

// Break ends the connection that one member dialed to another, as a reset does.
func (c *Cluster) Break(from, to uint64) { c.net.Break(from, to) }

// Settle lets everything happen that needs no time.
func (c *Cluster) Settle() { synctest.Wait() }

// patience is longer than any election of a group that can elect.
const patience = time.Minute

// Pass lets time pass, and everything happen that is due then.
func (c *Cluster) Pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// Until lets time pass until a condition holds.
func (c *Cluster) Until(what string, holds func() bool) {
	c.t.Helper()
	for begun := time.Now(); !holds(); c.Pass(tick) {
		if time.Since(begun) > patience {
			c.t.Fatalf("never: %s; %s\n\t%s", what, c.views(), c.first().history())
		}
	}
}

// Await waits until a member leads, and all others that run and are not cut off from it follow it.
func (c *Cluster) Await(leader uint64) {
	c.t.Helper()
	c.Until(fmt.Sprintf("%d leads", leader), func() bool { return c.agree(leader) })
}

// AwaitAny waits until all members that run agree on a leader, and returns it.
func (c *Cluster) AwaitAny() (leader uint64) {
	c.t.Helper()
	c.Until("all agree", func() bool {
		i := slices.IndexFunc(c.order, func(id uint64) bool {
			h := c.hosts[id]
			return h.member != nil && !c.first().stopped(id) && h.member.View().Role == ringleader.Leader && c.agree(id)
		})
		if i >= 0 {
			leader = c.order[i]
		}
		return i >= 0
	})
	return leader
}

func (c *Cluster) agree(leader uint64) bool {
	for _, id := range c.order {
		h := c.hosts[id]
		if h.member != nil && !c.Apart(id, leader) && !c.first().stopped(id) && h.member.View().Leader != leader {
			return false
		}
	}
	return c.hosts[leader].member != nil
}

// views lists what the members know, for messages.
func (c *Cluster) views() (text string) {
	for _, id := range c.order {
		switch h := c.hosts[id]; {
		case h.member == nil:
			text += fmt.Sprintf("%d does not run; ", id)
		case c.first().stopped(id):
			text += fmt.Sprintf("%d is stopped; ", id)
		default:
			s := h.member.Status()
			v := h.member.View()
			text += fmt.Sprintf("%d is %s of %d in term %d, %+v, %v; ", id, v.Role, v.Leader, v.Term, s.Members, h.member.Err())
		}
	}
	return text
}
