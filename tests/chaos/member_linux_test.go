package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// groupName is the name of the group of each episode.
const groupName = "chaos"

// spec is what a process is told at its start.
type spec struct {
	ID       uint64
	Members  []ringleader.MemberAddress
	Listen   string
	Data     string
	Register string  // the socket of the register
	Number   int64   // of this life among all of the episode
	Rate     float64 // of the clocks of this process; 1 is the true one
	Warden   bool
	Shortest time.Duration // Timing.ShortestLease
	Hang     time.Duration // Timing.Hang
	Preempt  bool
	Log      string // the file of its log, which it appends to; empty: none
	Record   string // the directory of the record of this life
	TLS      string // the directory of certificates; empty: clear text
	Lingers  bool   // work goes on until its lease has ended, instead of ending when it is asked to
	Exec     bool   // work is a command, as that of ringleader exec
}

// The kinds of events.
const (
	begun   = "process" // Value is the number of the process
	joined  = "joined"
	whole   = "whole" // all members are heard from
	refused = "refused"
	viewed  = "view"    // Leader and Term of the leader that the member knows; Role is its role
	started = "begin"   // work begins in Term, at To
	leased  = "lease"   // the lease of Term was valid at a moment from From until To, and runs until Until
	ended   = "end"     // work ends in Term, at From
	ran     = "ran"     // a command runs in Term, at From
	called  = "call"    // an operation on the register, of kind Op, begins at From
	given   = "given"   // it ends at To, with Result and Value
	changed = "changed" // a change of the voters has ended; Leader is the member, and Text the error
	failed  = "failed"
	closed  = "closed"
)

// event is a report of a process. Times are readings of CLOCK_BOOTTIME in nanoseconds.
type event struct {
	What   string `json:"w"`
	From   int64  `json:"f,omitempty"`
	To     int64  `json:"t,omitempty"`
	Until  int64  `json:"u,omitempty"`
	Term   uint64 `json:"m,omitempty"`
	Leader uint64 `json:"l,omitempty"`
	Role   string `json:"r,omitempty"`
	Op     string `json:"o,omitempty"`
	Result string `json:"s,omitempty"`
	Value  int64  `json:"v,omitempty"`
	Text   string `json:"x,omitempty"`
}

var system = clock.System()

// now reads the clock that all processes share.
func now() int64 { return int64(system.Boottime()) }

// child is a process of a member.
type child struct {
	spec
	mu     sync.Mutex
	pipe   *os.File
	clock  *clocktest.Clock // nil: the true one
	disk   *disk
	client *client
}

// The statuses with which a process ends by itself; [ringleader.Exit] has another one.
const (
	statusRefused = 4
	statusFailed  = 5
)

// newChild returns the child that a text describes.
func newChild(text string, pipe *os.File) *child {
	c := &child{pipe: pipe}
	if err := json.Unmarshal([]byte(text), &c.spec); err != nil {
		panic(err)
	}
	c.client = &client{address: c.Register}
	return c
}

// beMember runs the process of a member. It does not return.
func beMember(text string) {
	c := newChild(text, os.NewFile(3, "events"))
	if c.Warden {
		if err := ringleader.Warden(); err != nil {
			panic(err)
		}
	}
	syscall.CloseOnExec(3)
	c.say(event{What: begun, Value: int64(os.Getpid())})
	store, err := storage.Open(c.Data, storage.Owner{Group: groupName, Member: c.ID})
	if err != nil {
		c.leave(refused, err, statusRefused)
	}
	c.disk = &disk{Storage: store, change: make(chan struct{})}
	if c.Exec {
		c.exec()
	} else {
		c.lead()
	}
}

// config returns the configuration of the member.
func (c *child) config() ringleader.Config {
	timing := ringleader.Test()
	timing.ShortestLease, timing.Hang = c.Shortest, c.Hang
	config := ringleader.Config{
		Group: groupName, ID: c.ID, Members: c.Members, Listen: c.Listen, Storage: c.disk, Timing: timing, Logger: slog.New(slog.DiscardHandler),
		Record: ringleader.Record{Directory: c.Record}, Preempt: c.Preempt, Insecure: c.TLS == "", // members in namespaces are not on loopback
	}
	if c.Rate != 1 {
		c.clock = clocktest.New()
		c.clock.Run(c.Rate)
		config.Clock = c.clock
	}
	if c.TLS != "" {
		file := func(name string) string { return filepath.Join(c.TLS, name) }
		var err error
		if config.TLS, err = transport.LoadTLS(file(fmt.Sprintf("%d.pem", c.ID)), file(fmt.Sprintf("%d.key", c.ID)), file("ca.pem")); err != nil {
			panic(err)
		}
	}
	if c.Lingers {
		config.Overrun = ringleader.Log
	}
	if c.Log != "" {
		file, err := os.OpenFile(c.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			panic(err)
		}
		config.Logger = slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: sharedTime}))
	}
	return config
}

// lead lets the member work in this process.
func (c *child) lead() {
	ctx := context.Background()
	m, err := ringleader.Join(ctx, c.config())
	if err != nil {
		c.leave(refused, err, statusRefused)
	}
	c.joined(m)
	go c.terminate(m)
	err = m.Lead(ctx, c.work)
	if errors.Is(err, ringleader.ErrClosed) {
		select {} // terminate ends the process
	}
	c.leave(failed, err, statusFailed)
}

// joined tells that the member has joined, and begins to obey and to report.
func (c *child) joined(m *ringleader.Member) {
	c.say(event{What: joined, To: now()})
	go c.obey(m)
	go c.view(m)
}

// sharedTime gives the lines of a log the time of the clock that all processes share.
func sharedTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		a.Value = slog.StringValue(clockTime(now()))
	}
	return a
}

// say reports an event. The write is atomic, since it is shorter than what a pipe takes as a whole.
func (c *child) say(e event) {
	const atomic = 4096
	e.Text = e.Text[:min(len(e.Text), atomic/4)]
	line, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.pipe.Write(append(line, '\n')) // if the test has ended, so does this process
}

func (c *child) leave(what string, why error, status int) {
	c.say(event{What: what, From: now(), Text: fmt.Sprint(why)})
	os.Exit(status)
}

// obey takes commands from the standard input, at whose end the process ends.
func (c *child) obey(m *ringleader.Member) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		verb, argument, _ := strings.Cut(lines.Text(), " ")
		id, _ := strconv.ParseUint(argument, 10, 64)
		switch verb {
		case "resign":
			go m.Resign(context.Background())
		case "transfer":
			_ = m.Transfer(id)
		case "add":
			go c.change(m.AddMember, id)
		case "remove":
			go c.change(m.RemoveMember, id)
		case "disk":
			c.disk.set(argument)
		}
	}
	os.Exit(statusFailed)
}

// change changes the voters, unless that takes too long. Any outcome is possible.
func (c *child) change(how func(context.Context, uint64) error, id uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*ringleader.Test().Lease)
	defer cancel()
	c.say(event{What: changed, To: now(), Leader: id, Text: fmt.Sprint(how(ctx, id))})
}

// view reports what the member knows about the leader, and when it has heard of all others.
func (c *child) view(m *ringleader.Member) {
	go func() {
		for ticker := time.NewTicker(10 * time.Millisecond); ; <-ticker.C {
			heard := 0
			for _, other := range m.Status().Members {
				if other.Reachable {
					heard++
				}
			}
			if heard == len(c.Members) {
				ticker.Stop()
				c.say(event{What: whole, To: now()})
				return
			}
		}
	}()
	for v := range m.Observe(context.Background()) {
		c.say(event{What: viewed, To: now(), Leader: v.Leader, Term: v.Term, Role: string(v.Role)})
	}
}

// terminate closes the member at SIGTERM.
func (c *child) terminate(m *ringleader.Member) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	<-signals
	m.Close()
	c.leave(closed, nil, 0)
}

// pace is the interval between two steps of work.
const pace = 4 * time.Millisecond

// work is what a leader does.
func (c *child) work(ctx context.Context, l ringleader.Leadership) error {
	c.say(event{What: started, Term: l.Term(), To: now()})
	defer func() { c.say(event{What: ended, Term: l.Term(), From: now()}) }()
	copied := &cached{child: c, term: l.Term(), valid: l.Valid}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	var lingers <-chan time.Time // the end of what may be tried without renewals
	for n := 0; ; n++ {
		valid := c.observe(l)
		if valid {
			copied.step(n)
		}
		select {
		case <-ctx.Done():
			if lingers == nil {
				lingers = time.After(ringleader.Test().Lease)
			}
			if !valid || !c.Lingers || !errors.Is(context.Cause(ctx), ringleader.ErrLapsed) {
				return nil
			}
			select {
			case <-lingers:
				return nil
			case <-ticker.C:
			}
		case <-ticker.C:
		}
	}
}

// observe reports the lease, if it is valid.
func (c *child) observe(l ringleader.Leadership) bool {
	from := now()
	deadline := l.Deadline()
	if deadline.IsZero() {
		return false
	}
	left := time.Until(deadline)
	to, lasts := now(), left
	if c.clock != nil {
		lasts = c.clock.True(left)
	}
	c.say(event{What: leased, Term: l.Term(), From: from, To: to, Until: from + int64(lasts)})
	return left > 0
}

// disk is a store that fails on command.
type disk struct {
	storage.Storage
	mu     sync.Mutex
	mode   string
	change chan struct{} // closed when mode changes
	broken error
}

func (d *disk) set(mode string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mode = mode
	close(d.change)
	d.change = make(chan struct{})
}

// Save fails as a disk does. A failed flush may have made the records durable.
func (d *disk) Save(records []storage.Record) error {
	d.mu.Lock()
	mode, change, broken := d.mode, d.change, d.broken
	d.mu.Unlock()
	if broken != nil {
		return broken
	}
	switch mode {
	case "full":
		return fmt.Errorf("%w: %w: no space, as the test wants it", storage.ErrData, storage.ErrWrite)
	case "flush-kept", "flush-lost":
		if mode == "flush-kept" {
			if err := d.Storage.Save(records); err != nil {
				return err
			}
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.broken = fmt.Errorf("%w: %w: as the test wants it", storage.ErrData, storage.ErrFlush)
		return d.broken
	case "slow":
		const slow = 60 * time.Millisecond
		select {
		case <-time.After(slow):
		case <-change:
		}
	}
	return d.Storage.Save(records)
}
