//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"ringleader.example/ringleader/bench/failover/node"
)

// The faults of a leader.
const (
	kill      = "kill" // -9
	stop      = "stop" // SIGSTOP, and SIGCONT when the next one leads, if it is still there
	hang      = "hang" // a loop inside of it, which ends when the next one leads
	terminate = "term" // SIGTERM
	cut       = "cut"  // it reaches no other node, and no other reaches it
	in        = "in"   // no other node reaches it
	out       = "out"  // it reaches no other node
	disk      = "disk" // the file system with its data is frozen
)

var faults = []string{kill, stop, hang, terminate, cut, in, out, disk}

// survives reports whether a leader may survive a fault, and so believe to lead when the next one does.
func survives(fault string) bool { return fault != kill && fault != terminate }

// lacks reports why a fault cannot happen to a system here; empty: it can.
func (b *bench) lacks(s *system, fault string) string {
	switch fault {
	case cut, in, out:
		if !b.Namespaces {
			return "nothing is cut without network namespaces"
		}
	case hang:
		if s.installed != "" {
			return "the node only watches the program of another package, in which there is no loop"
		}
	case disk:
		return b.noDisks
	}
	return ""
}

// sampling is how often a leader records that it still believes to lead, and polling how often a node asks a library that
// tells it nothing by itself.
const (
	sampling = time.Millisecond
	polling  = time.Millisecond
	atRest   = time.Second // both, where a group does nothing
)

// Before a fault the group has agreed and then rests, for a random time: a fault is to meet any phase of its timers.
const (
	restLeast = 700 * time.Millisecond
	restMost  = 1200 * time.Millisecond
)

// cell is what was measured of one system, size and fault. Times are in ms.
type cell struct {
	System  string `json:"system"`
	Members int    `json:"members"`
	Fault   string `json:"fault"`

	// Times has, for each fault, the time until another node knows that it leads. Missed counts the faults after which
	// none led within the limit.
	Times  []float64 `json:"times_ms"`
	Missed int       `json:"missed"`

	// Both has, for each fault that the old leader may survive, for how long it believed to lead when the new one did. A
	// negative one is the time between. Unaware counts those that believed so to the end, when they were healed.
	Both    []float64 `json:"both_lead_ms,omitempty"`
	Unaware int       `json:"unaware"`
}

// cell returns the place for a measurement.
func (r *results) cell(s *system, n int, fault string) *cell {
	for _, c := range r.Failover {
		if c.System == s.Name && c.Members == n && c.Fault == fault {
			return c
		}
	}
	c := &cell{System: s.Name, Members: n, Fault: fault}
	r.Failover = append(r.Failover, c)
	return c
}

// failover gives each system its turn in each round.
func (b *bench) failover(ctx context.Context) error {
	for round := 1; round <= b.Rounds; round++ {
		for i := range b.systems {
			s := &b.systems[i]
			for _, n := range b.sizes(s) {
				fmt.Fprintf(os.Stderr, "%s round %d of %d: %s, %d members:", time.Now().Format("15:04:05"), round, b.Rounds, s.Title, n)
				if err := b.turn(ctx, s, n); err != nil {
					fmt.Fprintf(os.Stderr, " %v\n", err)
					if ctx.Err() != nil {
						return err
					}
					b.Problems = append(b.Problems, err.Error())
				}
			}
		}
	}
	return nil
}

// turn lets the faults happen to one group, until the slice is used up.
func (b *bench) turn(ctx context.Context, s *system, n int) error {
	c, err := b.start(ctx, s, n, polling, sampling)
	if err != nil {
		return err
	}
	defer c.stop()
	begun := time.Now()
	for count := 0; count < b.Most && (count == 0 || time.Since(begun) < b.Slice); count++ {
		for _, fault := range b.Faults {
			if b.lacks(s, fault) != "" {
				continue
			}
			if err := c.rest(ctx); err != nil {
				return fmt.Errorf("%s with %d members: %w: %s", s.Name, n, err, c.describe())
			}
			if err := c.trial(ctx, fault, b.cell(s, n, fault)); err != nil {
				return fmt.Errorf("%s with %d members, %s: %w: %s", s.Name, n, fault, err, c.describe())
			}
		}
	}
	var text []string
	for _, fault := range b.Faults {
		text = append(text, fault+" "+summary(b.cell(s, n, fault).Times).String())
	}
	fmt.Fprintf(os.Stderr, " %s\n", strings.Join(text, ", "))
	return nil
}

// rest waits until all agree, and then for a while, after which all must agree still.
func (c *cluster) rest(ctx context.Context) error {
	for range 5 {
		if err := c.wait(ctx, startLimit, c.agreed); err != nil {
			return fmt.Errorf("the nodes agree %w", err)
		}
		wait := restLeast + rand.N(restMost-restLeast)
		err := c.wait(ctx, wait, func() bool { return !c.agreed() })
		if err == errLimit {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("its leader changes without a fault")
}

// trial lets one fault happen to the leader, and undoes it.
func (c *cluster) trial(ctx context.Context, fault string, into *cell) error {
	c.mu.Lock()
	old := c.leader()
	c.mu.Unlock()
	act, err := c.prepare(fault, old)
	if err != nil {
		return err
	}
	begun := node.Now()
	if err := act(); err != nil {
		return err
	}
	var next *process
	limit := leadLimit
	if fault == disk { // many never notice
		limit = diskLimit
	}
	err = c.wait(ctx, limit, func() bool {
		next = c.after(old, begun)
		return next != nil
	})
	switch {
	case err == errLimit:
		into.Missed++
	case err != nil:
		return err
	default:
		into.Times = append(into.Times, milliseconds(next.leadAt-begun))
	}
	return c.undo(ctx, fault, old, next, begun, into)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// after returns the first other node that has led since a moment.
func (c *cluster) after(old *process, begun time.Duration) (next *process) {
	for _, p := range c.nodes {
		if p != old && p.leadAt > begun && (next == nil || p.leadAt < next.leadAt) {
			next = p
		}
	}
	return next
}

// toolStarts is for how long a tool may start before a fault: it needs longer for that than to act.
const toolStarts = 200 * time.Millisecond

// prepare returns what lets a fault happen to a node at once.
func (c *cluster) prepare(fault string, p *process) (act func() error, err error) {
	switch fault {
	case kill:
		return func() error { return p.signal(syscall.SIGKILL) }, nil
	case stop:
		return func() error { return p.signal(syscall.SIGSTOP) }, nil
	case terminate:
		return func() error { return p.signal(syscall.SIGTERM) }, nil
	case hang:
		return func() error { return p.hang(c.data(p.id)) }, nil
	case disk:
		return func() error { return c.disks.freeze(p.id) }, nil
	}
	if act, err = c.network.cut(p.id, fault); err == nil {
		time.Sleep(toolStarts)
	}
	return act, err
}

// undo brings the old leader back, after it was found out for how long it believed to lead.
func (c *cluster) undo(ctx context.Context, fault string, old, next *process, begun time.Duration, into *cell) error {
	if !survives(fault) {
		if err := c.wait(ctx, exitLimit, func() bool { return !old.alive }); err == errLimit {
			_ = old.signal(syscall.SIGKILL) // it does not end by itself
		}
		return c.again(ctx, old)
	}
	var err error
	switch fault {
	case stop:
		if err = old.signal(syscall.SIGCONT); err == syscall.ESRCH { // a warden kills a leader that is stopped
			err = nil
		}
	case hang:
		err = node.SetHang(c.data(old.id), false)
	}
	if err != nil {
		return err
	}
	err = c.wait(ctx, lostLimit, func() bool { return !old.leading })
	if next != nil {
		c.mu.Lock()
		into.believed(old, next, begun, err == nil)
		c.mu.Unlock()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch err = nil; fault {
	case cut, in, out:
		err = c.network.heal(old.id, fault)
	case disk:
		err = c.disks.thaw(old.id)
	}
	if err != nil {
		return err
	}
	// A member of ringleader whose work outlives its lease ends, by default, and its warden kills one that is stopped. It is started again.
	if c.wait(ctx, lostLimit, func() bool { return !old.alive || old.knows != 0 }) == nil && !old.alive {
		return c.again(ctx, old)
	}
	return ctx.Err()
}

// believed notes for how long the old leader believed to lead.
func (c *cell) believed(old, next *process, begun time.Duration, noticed bool) {
	if !noticed {
		c.Unaware++
		return
	}
	last := old.lostAt
	if last == 0 {
		last = begun // its process ended before it was asked again
	}
	c.Both = append(c.Both, milliseconds(last-next.leadAt))
}

// again starts a node again that ends.
func (c *cluster) again(ctx context.Context, p *process) error {
	if err := c.wait(ctx, exitLimit, func() bool { return !p.alive }); err != nil {
		return err
	}
	return c.launch(p.id)
}
