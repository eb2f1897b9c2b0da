package trials_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/rig"
)

// How much is tried.
var (
	trials = flag.Int("trials", 1, "trials of each fault")
	idle   = flag.Int("idle", 0, "idle processes on the host meanwhile")
	busy   = flag.Int("busy", 0, "busy loops meanwhile")
	groups = flag.Int("groups", 4, "groups that are tried at the same time")
	only   = flag.String("only", "", "regular expression for the faults that are tried")
	stops  = flag.Int("stops", 4, "stops around the end of a lease, of exec and of Lead each")
	hang   = flag.Duration("hang", 60*time.Millisecond, "in trials of faults, the Timing.Hang of members, as exec has it; 0: no warden kills a leader that is stopped")
	seed   = flag.Uint64("seed", 1, "what the moments and the order of faults depend on")
)

// The roles of this binary, its first argument.
const (
	memberRole  = "trial-member"
	commandRole = "trial-command"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		agent.Be()
		switch os.Args[1] {
		case memberRole:
			beMember(os.Args[2])
		case commandRole:
			beCommand(os.Args[2], os.Args[3])
		}
	}
	rig.Environment()
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(*groups)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// now is the clock of leases.
func now() time.Duration { return system.Boottime() }

var system = clock.System()

// tape is memory that all processes of a trial share. They tell there when they run, and what is there survives a kill.
type tape struct {
	numbers []int64
}

// The numbers of a tape: the first is how many entries there are, the next are the ends of leases by member, then come the entries.
const (
	ends      = 0
	entries   = 4
	perEntry  = 4
	mostEntry = 1 << 13
)

// entry is a process, or a chain of them, that runs under a lease: its term, its member, when it began, and when it ran last.
type entry []int64

func (e entry) term() int64          { return e[0] }
func (e entry) member() int          { return int(e[1]) }
func (e entry) first() *int64        { return &e[2] }
func (e entry) last() *int64         { return &e[3] }
func (e entry) began() time.Duration { return time.Duration(atomic.LoadInt64(e.first())) }
func (e entry) ran() time.Duration   { return time.Duration(atomic.LoadInt64(e.last())) }

func (e entry) String() string {
	return fmt.Sprintf("a command of term %d at member %d, from %v to %v", e.term(), e.member(), e.began(), e.ran())
}

func openTape(file string) tape {
	numbers, err := kernel.Share(file, entries+perEntry*mostEntry)
	if err != nil {
		panic(err)
	}
	return tape{numbers}
}

// enter makes an entry. The process then writes again and again when it runs.
func (t tape) enter(term, member int64) entry {
	at := atomic.AddInt64(&t.numbers[0], 1) - 1
	if at >= mostEntry {
		panic("the tape is full")
	}
	e := entry(t.numbers[entries+perEntry*at:][:perEntry])
	e[0], e[1] = term, member
	*e.last() = int64(now())
	atomic.StoreInt64(e.first(), *e.last())
	return e
}

// all returns all entries that have begun.
func (t tape) all() (all []entry) {
	for at := range atomic.LoadInt64(&t.numbers[0]) {
		if e := entry(t.numbers[entries+perEntry*at:][:perEntry]); e.began() != 0 {
			all = append(all, e)
		}
	}
	return all
}

// setup is what a member is told.
type setup struct {
	Tape    string
	Lead    bool // in place of exec
	Kind    string
	Hang    time.Duration
	ID      uint64
	Members []ringleader.MemberAddress
	Listen  string
	Data    string
}

// log is the file with all that the lives of a member have logged.
func (s *setup) log() string { return s.Data + ".log" }

// beMember runs a member: with its command, or with work of its own.
func beMember(text string) {
	if err := ringleader.Warden(); err != nil {
		panic(err)
	}
	var s setup
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config := ringleader.Config{ID: s.ID, Members: s.Members, Listen: s.Listen, Data: s.Data, Timing: ringleader.LAN()}
	config.Timing.Hang = s.Hang
	shared := openTape(s.Tape)
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	config.Logger = slog.New(teller{slog.NewMultiHandler(
		slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}),
		slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}),
	), shared, s.ID})
	if s.Lead {
		m, err := ringleader.Join(ctx, config)
		if err != nil {
			panic(err)
		}
		go shared.tellEnds(m)
		m.Lead(ctx, func(_ context.Context, l ringleader.Leadership) error {
			for e := shared.enter(int64(l.Term()), int64(s.ID)); ; { // it ignores its context
				atomic.StoreInt64(e.last(), int64(now()))
			}
		})
		os.Exit(0)
	}
	a, life, err := agent.Start(ctx, agent.Config{
		Member: config, OnExit: agent.Resign, Backoff: 20 * time.Millisecond, StopTimeout: time.Second,
		Command: []string{os.Args[0], commandRole, s.Tape, s.Kind},
	}, ringleader.Join)
	if err != nil {
		panic(err)
	}
	if _, err := a.Exec(life); err != nil {
		panic(err)
	}
	if err := a.Close(); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// tellEnds writes the end of the lease to the tape, again and again. The clock is read first, so what it writes is never after the end. A
// member that got no processor between the readings writes nothing, since that would be too early.
func (t tape) tellEnds(m *ringleader.Member) {
	for ticker := time.NewTicker(500 * time.Microsecond); ; <-ticker.C {
		at := now()
		if s := m.Status(); s.Lease != nil && now()-at < time.Millisecond {
			t.tellEnd(s.ID, at+time.Duration(*s.Lease*float64(time.Second)))
		}
	}
}

func (t tape) tellEnd(id uint64, end time.Duration) {
	atomic.StoreInt64(&t.numbers[ends+id], int64(end))
}

// teller writes the end of the lease to the tape before a keeper can know it: so a member that stands still has told the end that its
// keeper has, or a later one.
type teller struct {
	slog.Handler
	tape
	id uint64
}

func (t teller) Enabled(ctx context.Context, l slog.Level) bool {
	return l == agent.EachOrder || t.Handler.Enabled(ctx, l)
}

func (t teller) Handle(ctx context.Context, r slog.Record) error {
	if r.Level != agent.EachOrder {
		return t.Handler.Handle(ctx, r)
	}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "until" {
			t.tellEnd(t.id, a.Value.Duration())
		}
		return true
	})
	return nil
}

func (t teller) WithAttrs(attrs []slog.Attr) slog.Handler {
	t.Handler = t.Handler.WithAttrs(attrs)
	return t
}

func (t teller) WithGroup(name string) slog.Handler {
	t.Handler = t.Handler.WithGroup(name)
	return t
}

// beCommand is a command of exec.
func beCommand(file, kind string) {
	term, _ := strconv.ParseInt(os.Getenv("RINGLEADER_TERM"), 10, 64)
	member, _ := strconv.ParseInt(os.Getenv("RINGLEADER_MEMBER"), 10, 64)
	t := openTape(file)
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	switch kind {
	case "daemon": // beside this process there is one in a session of its own
		c := exec.Command(os.Args[0], commandRole, file, "loop")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			panic(err)
		}
	case "chain":
		chain(t.enter(term, member).last())
	}
	e := t.enter(term, member)
	for ticker := time.NewTicker(100 * time.Microsecond); ; <-ticker.C {
		atomic.StoreInt64(e.last(), int64(now()))
	}
}

// chain starts a chain of processes: each runs for a moment, forks, and exits, so that only one lives at a time. It returns in the
// process that has started it.
func chain(last *int64) {
	if pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0); errno != 0 {
		panic(errno)
	} else if pid != 0 {
		return
	}
	// From here on there is no Go runtime: one thread, which makes system calls.
	for begun := system.Boottime(); ; begun = system.Boottime() {
		for at := begun; at < begun+100*time.Microsecond; at = system.Boottime() {
			*last = int64(at)
		}
		if pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0); pid != 0 && errno == 0 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
}
