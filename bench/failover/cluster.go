//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"ringleader.example/ringleader/bench/failover/node"
)

// Limits of what the harness waits for.
const (
	startLimit = 40 * time.Second // a group to agree
	leadLimit  = 30 * time.Second // the next leader
	diskLimit  = 10 * time.Second // likewise, when only a disk stands still
	lostLimit  = 3 * time.Second  // a leader that is cut off to notice
	exitLimit  = 15 * time.Second // a process to end after SIGTERM
)

// errLimit reports that what the harness waits for does not happen.
var errLimit = errors.New("not within the limit")

// cluster is a running group.
type cluster struct {
	system  *system
	network network
	disks   disks
	folder  string
	binary  string
	tlsIn   string
	poll    time.Duration
	sample  time.Duration

	mu    sync.Mutex
	moved *sync.Cond
	nodes []*process // by identifier - 1
	leads int        // how often any node has led

	server *process // beside the nodes; nil: the system has none
}

// process is a node. Its fields are guarded by cluster.mu.
type process struct {
	id    int
	cmd   *exec.Cmd
	stdin io.Closer
	pid   int // of the member: with a warden, a child of cmd; negative: of the first process of a group
	alive bool

	leading bool
	leadAt  time.Duration
	lostAt  time.Duration // when it last believed to lead; 0: it has not told
	knows   int           // the leader that it follows; 0: none
}

// start runs n nodes of a system, and waits until they agree on a leader.
func (b *bench) start(ctx context.Context, s *system, n int, poll, sample time.Duration) (*cluster, error) {
	folder, err := os.MkdirTemp(b.folder, s.Name)
	if err != nil {
		return nil, err
	}
	c := &cluster{system: s, folder: folder, binary: b.binary(s.program), tlsIn: filepath.Join(b.folder, tls), poll: poll, sample: sample}
	c.moved = sync.NewCond(&c.mu)
	places := n
	if s.server != "" {
		places++
		c.server = &process{id: places}
	}
	if b.Namespaces {
		c.network, err = newNamespaces(places)
	} else {
		c.network, err = newLoopback(places)
	}
	if err != nil {
		return nil, err
	}
	for id := 1; id <= n; id++ {
		c.nodes = append(c.nodes, &process{id: id})
	}
	if slices.Contains(b.Faults, disk) && b.lacks(s, disk) == "" {
		c.disks, err = mountDisks(folder, n)
	}
	if c.server != nil && err == nil {
		err = c.run(c.server, b.binary(s.server))
	}
	for id := 1; id <= n && err == nil; id++ {
		err = c.launch(id)
	}
	if err == nil {
		err = c.wait(ctx, startLimit, c.agreed)
	}
	if err != nil {
		err = fmt.Errorf("%s with %d members does not elect: %w: %s", s.Name, n, err, c.describe())
		c.stop()
		return nil, err
	}
	return c, nil
}

// data returns the directory of a node.
func (c *cluster) data(id int) string { return filepath.Join(c.folder, fmt.Sprint(id), "data") }

// launch starts a node that does not run.
func (c *cluster) launch(id int) error { return c.run(c.nodes[id-1], c.binary) }

// run starts a program as a node, or as the server.
func (c *cluster) run(p *process, binary string) error {
	members := c.network.members()
	config := node.Config{
		ID: p.id, Members: members[:len(c.nodes)], Data: c.data(p.id), Mode: c.system.mode,
		Set: map[string]string{}, Poll: c.poll, Sample: c.sample,
	}
	if c.server != nil {
		config.Server = members[c.server.id-1]
	}
	for key, value := range c.system.set {
		if key == tls {
			value = c.tlsIn
		}
		config.Set[key] = value
	}
	if err := os.MkdirAll(config.Data, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	p.cmd = c.network.command(p.id, binary, string(text))
	p.cmd.Env = append(os.Environ(), c.system.env...)
	p.cmd.Stderr = os.Stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	p.alive, p.pid, p.leading, p.knows = true, 0, false, 0
	c.mu.Unlock()
	go c.follow(p, out)
	return nil
}

// follow notes what a node reports, until it has ended.
func (c *cluster) follow(p *process, out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		e, err := node.Parse(lines.Text())
		if err != nil {
			continue // a library prints
		}
		c.mu.Lock()
		p.note(e)
		if e.Kind == node.Lead {
			c.leads++
		}
		c.moved.Broadcast()
		c.mu.Unlock()
	}
	_ = p.cmd.Wait() // it was killed
	c.mu.Lock()
	defer c.mu.Unlock()
	p.alive, p.leading, p.knows = false, false, 0
	c.moved.Broadcast()
}

func (p *process) note(e node.Event) {
	switch e.Kind {
	case node.Pid:
		p.pid = int(e.Arg)
	case node.Lead:
		p.leading, p.leadAt, p.lostAt, p.knows = true, e.At, 0, p.id
	case node.Lost:
		p.leading, p.lostAt, p.knows = false, time.Duration(e.Arg), 0
	case node.Follow:
		p.knows = int(e.Arg)
	case node.None:
		p.knows = 0
	}
}

// leader returns the node that leads last; nil: none.
func (c *cluster) leader() (leader *process) {
	for _, p := range c.nodes {
		if p.alive && p.leading && (leader == nil || p.leadAt > leader.leadAt) {
			leader = p
		}
	}
	return leader
}

// agreed reports whether all nodes run and know the same leader, which knows it, too.
func (c *cluster) agreed() bool {
	leader := c.leader()
	if leader == nil {
		return false
	}
	for _, p := range c.nodes {
		if !p.alive || p.knows != leader.id || p.leading != (p == leader) {
			return false
		}
	}
	return true
}

// wait waits until a condition holds.
func (c *cluster) wait(ctx context.Context, limit time.Duration, holds func() bool) error {
	within, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()
	defer context.AfterFunc(within, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.moved.Broadcast()
	})()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !holds() {
		if within.Err() != nil {
			return context.Cause(within)
		}
		c.moved.Wait()
	}
	return nil
}

// describe returns what each node knows.
func (c *cluster) describe() (text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.nodes {
		text += fmt.Sprintf("%d: alive %v, leads %v, knows %d; ", p.id, p.alive, p.leading, p.knows)
	}
	return text
}

// signal sends a signal to the member itself, not to its warden. The first process of a group ends the others at SIGTERM.
func (p *process) signal(s syscall.Signal) error {
	if s == syscall.SIGTERM {
		return syscall.Kill(max(p.pid, -p.pid), s)
	}
	return syscall.Kill(p.pid, s)
}

// hang lets a node loop.
func (p *process) hang(data string) error {
	if err := node.SetHang(data, true); err != nil {
		return err
	}
	return p.signal(node.Hang)
}

// stop ends the group.
func (c *cluster) stop() {
	c.disks.thawAll() // what waits for a frozen file system cannot be killed
	c.mu.Lock()
	running := c.nodes
	if c.server != nil {
		running = append(slices.Clone(running), c.server)
	}
	for _, p := range running {
		if p.alive && p.pid != 0 {
			_ = p.signal(syscall.SIGKILL)
		}
		if p.stdin != nil {
			p.stdin.Close()
		}
	}
	c.mu.Unlock()
	_ = c.wait(context.Background(), exitLimit, func() bool {
		for _, p := range running {
			if p.alive {
				return false
			}
		}
		return true
	})
	c.network.close()
	c.disks.unmount()
	os.RemoveAll(c.folder)
}
