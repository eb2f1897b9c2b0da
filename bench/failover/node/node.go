//go:build linux

// Package node is what the processes of every measured system have in common: how they are told their group, and how they
// report what they know, one line an event, each with a reading of CLOCK_MONOTONIC.
package node

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Config tells a node what it is. It is the only argument of its process, as JSON.
type Config struct {
	ID      int
	Members []Member // the whole group, by identifier: 1, 2, …
	Data    string   // an empty directory at the first start, and the same one at each restart
	Mode    string   // which form of the system; each system has its own
	Set     map[string]string
	Server  Member // the program that the nodes need beside them, of a system that has one

	// Poll is how often a node asks a library that tells it nothing by itself. Sample is how often a leader records that
	// it leads still; 0: never.
	Poll, Sample time.Duration
}

// Member is where a member of the group listens.
type Member struct {
	Host  string
	Port  int // for the other members
	Extra int // for clients, or for what else a system needs
}

// Address returns host:port for the other members.
func (m Member) Address() string { return net.JoinHostPort(m.Host, strconv.Itoa(m.Port)) }

// ExtraAddress returns host:port for clients.
func (m Member) ExtraAddress() string { return net.JoinHostPort(m.Host, strconv.Itoa(m.Extra)) }

// Own returns the member that this node is.
func (c *Config) Own() Member { return c.Members[c.ID-1] }

// File returns the path of a file in the node's directory.
func (c *Config) File(name string) string { return filepath.Join(c.Data, name) }

// The events that a node reports.
const (
	Pid    = "pid"    // of the process that is to be killed; negative: of the group of processes
	Lead   = "lead"   // it leads; the argument is its term, where the system has one
	Lost   = "lost"   // it leads no more; the argument is when it last believed to lead
	Follow = "follow" // it knows another leader, the argument
	None   = "none"   // it knows no leader
)

// Event is a line of a node.
type Event struct {
	At   time.Duration // on CLOCK_MONOTONIC
	Kind string
	Arg  int64
}

// Parse reads a line.
func Parse(line string) (e Event, err error) {
	_, err = fmt.Sscan(line, (*int64)(&e.At), &e.Kind, &e.Arg)
	return e, err
}

// Now returns the reading of CLOCK_MONOTONIC, which all processes of the machine share.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // Linux has the clock
	}
	return time.Duration(t.Nano())
}

// Report writes the events of a node. Its methods may be called at any time, by any goroutine; an event that tells
// nothing new is left out.
type Report struct {
	config *Config

	mu      sync.Mutex
	leading bool
	tenure  int // counts
	knows   int // the leader that Follow told last, while it led
	last    Event
}

func (r *Report) write(e Event) {
	if e.Kind == r.last.Kind && (e.Arg == r.last.Arg || e.Kind == Lead) {
		return
	}
	r.last = e
	fmt.Fprintf(os.Stdout, "%d %s %d\n", e.At, e.Kind, e.Arg)
}

// Lead reports that the node leads. Valid tells whether it believes so at the moment of the call; with Config.Sample it
// is asked again and again.
func (r *Report) Lead(term int64, valid func() bool) {
	now := Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leading {
		return
	}
	r.leading, r.knows = true, 0
	r.tenure++
	r.write(Event{now, Lead, term})
	if r.config.Sample > 0 {
		go r.sample(r.tenure, valid)
	}
}

// sample asks until the node does not believe that it leads.
func (r *Report) sample(tenure int, valid func() bool) {
	last := Now()
	for {
		asked := Now()
		if !valid() {
			break
		}
		last = asked
		time.Sleep(r.config.Sample)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tenure == tenure && r.leading {
		r.leading = false
		r.write(Event{Now(), Lost, int64(last)})
		r.follow(r.knows)
	}
}

// Follow reports the leader that the node knows; 0: none. With Config.Sample the end of a node's own lead is left to the
// samples.
func (r *Report) Follow(leader int) {
	now := Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leading && r.config.Sample > 0 {
		r.knows = leader
		return
	}
	if r.leading {
		r.leading = false
		r.write(Event{now, Lost, int64(now)})
	}
	r.follow(leader)
}

func (r *Report) follow(leader int) {
	if leader == 0 {
		r.write(Event{Now(), None, 0})
		return
	}
	r.write(Event{Now(), Follow, int64(leader)})
}

// Group makes the node the first process of a group, all of which is to be killed. SIGTERM is for the node alone.
func (r *Report) Group() {
	if err := syscall.Setpgid(0, 0); err != nil {
		panic(err) // it has no session of its own
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(Event{Now(), Pid, -int64(os.Getpid())})
}

// Child returns a command of the node's group that ends with the node.
func Child(name string, arguments ...string) *exec.Cmd {
	c := exec.Command(name, arguments...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// Main runs a node until it returns. Its ctx is done at SIGTERM. If the harness ends, which closes standard input, the
// process ends at once.
func Main(run func(ctx context.Context, c *Config, r *Report) error) {
	if err := start(run); err != nil {
		fmt.Fprintln(os.Stderr, filepath.Base(os.Args[0])+":", err)
		os.Exit(1)
	}
}

func start(run func(ctx context.Context, c *Config, r *Report) error) error {
	var c Config
	if len(os.Args) != 2 {
		return fmt.Errorf("bench/failover starts it, with a configuration as its argument")
	}
	if err := json.NewDecoder(strings.NewReader(os.Args[1])).Decode(&c); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, bufio.NewReader(os.Stdin))
		os.Exit(0)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := c.hang(); err != nil {
		return err
	}
	r := &Report{config: &c}
	r.write(Event{Now(), Pid, int64(os.Getpid())})
	return run(ctx, &c, r)
}

// Every calls look at once and then every Config.Poll, until ctx is done.
func (c *Config) Every(ctx context.Context, look func()) {
	for ticks := time.NewTicker(c.Poll); ; {
		look()
		select {
		case <-ticks.C:
		case <-ctx.Done():
			ticks.Stop()
			return
		}
	}
}
