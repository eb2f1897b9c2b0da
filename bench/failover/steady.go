//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// burn is the argument with which this program keeps a core busy.
const burn = "burn"

// The steady states, in which no leader should change.
const (
	calm    = "calm"    // nothing happens
	loaded  = "loaded"  // each core has a busy process
	lossy   = "lossy"   // lossPercent of what arrives is lost
	severed = "severed" // the link between the leader and the other one of the two highest of five is cut
)

var states = []string{calm, loaded, lossy, severed}

const (
	lossPercent    = 5
	severedMembers = 5 // the two have three others in common
)

// stable is the count of changes in a steady state.
type stable struct {
	System  string  `json:"system"`
	Members int     `json:"members"`
	State   string  `json:"state"`
	Seconds float64 `json:"seconds"`
	Changes int     `json:"changes"` // how often a node began to lead
}

func (b *bench) steady(ctx context.Context) error {
	for i := range b.systems {
		s := &b.systems[i]
		for _, state := range b.States {
			if (state == lossy || state == severed) && !b.Namespaces {
				continue
			}
			n := 3
			if state == severed {
				n = severedMembers
			}
			fmt.Fprintf(os.Stderr, "%s steady: %s, %d members, %s:", time.Now().Format("15:04:05"), s.Title, n, state)
			changes, err := b.watch(ctx, s, n, state)
			if err != nil {
				fmt.Fprintf(os.Stderr, " %v\n", err)
				if ctx.Err() != nil {
					return err
				}
				b.Problems = append(b.Problems, err.Error())
				continue
			}
			fmt.Fprintf(os.Stderr, " %d changes in %v\n", changes, b.Steady)
			b.Stable = append(b.Stable, stable{s.Name, n, state, b.Steady.Seconds(), changes})
		}
	}
	return nil
}

// watch counts changes.
func (b *bench) watch(ctx context.Context, s *system, n int, state string) (changes int, err error) {
	c, err := b.start(ctx, s, n, polling, 0)
	if err != nil {
		return 0, err
	}
	defer c.stop()
	if err := c.rest(ctx); err != nil {
		return 0, err
	}
	c.mu.Lock()
	before, leader := c.leads, c.leader().id
	c.mu.Unlock()
	switch state {
	case loaded:
		for range runtime.NumCPU() {
			busy := exec.CommandContext(ctx, "/proc/self/exe", burn)
			if err := busy.Start(); err != nil {
				return 0, err
			}
			defer func() {
				_ = busy.Process.Kill()
				_ = busy.Wait()
			}()
		}
	case lossy:
		err = c.network.lose(lossPercent)
	case severed:
		other := n // the highest, or the next one if that leads
		if leader == n {
			other = n - 1
		}
		err = c.network.cutLink(leader, other)
	}
	if err != nil {
		return 0, err
	}
	if err := c.wait(ctx, b.Steady, func() bool { return false }); err != errLimit {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leads - before, nil
}

// rested is the cost of a group that does nothing.
type rested struct {
	System  string  `json:"system"`
	Members int     `json:"members"`
	Percent float64 `json:"cpu_percent_of_a_core_a_member"` // with its warden
	Largest float64 `json:"cpu_percent_of_the_busiest"`     // the leader, usually
	Memory  float64 `json:"rss_mb_a_member"`                // of 10⁶ bytes
	Warden  float64 `json:"rss_mb_of_a_warden"`
	Own     float64 `json:"own_mb_of_a_warden"` // of that: what is not the program, which it shares with the member
}

func (b *bench) idle(ctx context.Context) error {
	for round := range b.IdleRounds {
		turn := slices.Clone(b.systems)
		if round%2 == 1 { // what grows with time concerns all alike
			slices.Reverse(turn)
		}
		if err := b.rests(ctx, turn); err != nil {
			return err
		}
	}
	return nil
}

// rests watches an idle group of each system.
func (b *bench) rests(ctx context.Context, turn systems) error {
	for i := range turn {
		s := &turn[i]
		for _, n := range b.sizes(s) {
			fmt.Fprintf(os.Stderr, "%s idle: %s, %d members:", time.Now().Format("15:04:05"), s.Title, n)
			r, err := b.doNothing(ctx, s, n)
			if err != nil {
				fmt.Fprintf(os.Stderr, " %v\n", err)
				if ctx.Err() != nil {
					return err
				}
				b.Problems = append(b.Problems, err.Error())
				continue
			}
			fmt.Fprintf(os.Stderr, " %.2f %% of a core, %.1f MB a member\n", r.Percent, r.Memory)
			b.Rested = append(b.Rested, *r)
		}
	}
	return nil
}

func (b *bench) doNothing(ctx context.Context, s *system, n int) (*rested, error) {
	c, err := b.start(ctx, s, n, atRest, 0)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	if err := c.rest(ctx); err != nil {
		return nil, err
	}
	before := make([]time.Duration, n)
	for i, p := range c.nodes {
		before[i] = p.used()
	}
	begun := time.Now()
	if err := c.wait(ctx, b.Idle, func() bool { return false }); err != errLimit {
		return nil, err
	}
	r := &rested{System: s.Name, Members: n}
	for i, p := range c.nodes {
		percent := 100 * float64(p.used()-before[i]) / float64(time.Since(begun))
		r.Percent += percent / float64(n)
		r.Largest = max(r.Largest, percent)
		memory := 0.0
		for _, pid := range p.member() {
			memory += memoryOf(pid, "VmRSS")
		}
		r.Memory = max(r.Memory, memory)
		if p.warded() {
			warden := p.cmd.Process.Pid
			r.Warden, r.Own = max(r.Warden, memoryOf(warden, "VmRSS")), max(r.Own, memoryOf(warden, "RssAnon"))
		}
	}
	return r, nil
}

// warded reports whether the member has a warden.
func (p *process) warded() bool { return p.pid > 0 && p.pid != p.cmd.Process.Pid }

// member returns the processes of the member. In a group the first one is not part of it: it only reports.
func (p *process) member() (pids []int) {
	if p.pid > 0 {
		return []int{p.pid}
	}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == -p.pid {
			continue
		}
		if group, err := unix.Getpgid(pid); err == nil && group == -p.pid {
			pids = append(pids, pid)
		}
	}
	return pids
}

// used returns the processor time of a node and its warden.
func (p *process) used() (sum time.Duration) {
	for _, pid := range p.member() {
		sum += processorTime(pid)
	}
	if p.warded() {
		sum += processorTime(p.cmd.Process.Pid)
	}
	return sum
}

// processorTime returns that of the threads of a process.
func processorTime(pid int) (sum time.Duration) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range threads {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, t.Name()))
		first, _, _ := strings.Cut(string(text), " ")
		ns, _ := strconv.ParseInt(first, 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}

// memoryOf returns the resident memory of a process of a kind in MB of 10⁶ bytes: VmRSS is all, RssAnon what no file has.
func memoryOf(pid int, kind string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		var kib float64
		if _, err := fmt.Sscanf(line, kind+": %f kB", &kib); err == nil {
			return kib * 1024 / 1e6
		}
	}
	return 0
}
