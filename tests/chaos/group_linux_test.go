package chaos

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/certificates"
	flight "ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/rig"
)

// variable is the variable of the environment by which this binary knows that it is not a test.
const variable = "RINGLEADER_CHAOS"

// burn is the role of a process that loads a core.
const burn = "burn"

// life is a process of a member, and its warden if it has one.
type life struct {
	record // guarded by group.mu

	command *exec.Cmd   // of the warden, or of the member
	itself  *os.Process // the member; nil: it has not reported yet
	stdin   io.WriteCloser
	view    event
	hears   bool // all others, at some time
	runs    bool // it has joined
	refused bool
	stopped bool
	halted  int64         // when the test last stopped it, or let it go on
	hung    bool          // its warden has killed it as hung
	gone    chan struct{} // closed when all its processes have ended
}

// incident is a line of what happened.
type incident struct {
	at     int64
	member uint64 // 0: the network, or the machine
	text   string
}

// group is a group of real members, and what is between them.
type group struct {
	t        *testing.T
	dir      string
	ids      []uint64
	preempt  bool
	shortest time.Duration // that a lease may be
	tls      string        // the directory of certificates; empty: clear text
	wires    wires
	register *register
	forks    rig.Forks
	program  string

	mu      sync.Mutex
	changed chan struct{} // closed when something has happened
	all     []*life
	current map[uint64]*life
	story   []incident
	ends    sync.WaitGroup // the ends of all lives

	falseKills int // by wardens, of leaders that worked as well as the machine let them
}

func newGroup(t *testing.T, n int, preempt, secure bool, shortest time.Duration, connect func(n int) (wires, error)) *group {
	t.Helper()
	g := &group{
		t: t, dir: t.TempDir(), preempt: preempt, shortest: shortest,
		forks: rig.NewForks(), changed: make(chan struct{}), current: map[uint64]*life{},
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	g.program, err = os.Executable()
	must(err)
	g.wires, err = connect(n)
	must(err)
	g.register, err = newRegister(filepath.Join(g.dir, "register"))
	must(err)
	for i := range n {
		g.ids = append(g.ids, uint64(i+1))
		must(ringleader.Init(g.store(uint64(i+1)), groupName, uint64(i+1)))
	}
	if secure {
		g.tls = filepath.Join(g.dir, "certificates")
		_, err = certificates.Make(certificates.Order{Directory: g.tls, Group: groupName, IDs: g.ids, Lasts: time.Hour})
		must(err)
	}
	return g
}

// store returns the directory of a member.
func (g *group) store(id uint64) string { return filepath.Join(g.dir, fmt.Sprint(id)) }

// recorded returns the directory with the records of all lives, each in one of its own: a test starts members twice, and swaps their stores.
func (g *group) recorded() string { return filepath.Join(g.dir, "records") }

// keepRecords writes the records of all lives into a file, for ringleader explain.
func (g *group) keepRecords(name string) (err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lives, err := filepath.Glob(filepath.Join(g.recorded(), "*"))
	for _, life := range lives {
		parts, failed := flight.Parts(life, time.Time{})
		err = errors.Join(err, failed)
		for _, p := range parts {
			_, failed := p.WriteTo(file)
			err = errors.Join(err, failed)
		}
	}
	return err
}

// notify lets those that wait look again. The caller has the lock.
func (g *group) notify() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// tell adds a line to the story.
func (g *group) tell(member uint64, format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.story = append(g.story, incident{now(), member, fmt.Sprintf(format, args...)})
}

// tick is the interval at which waiting is counted. Ticks that come while the machine is late are not made up for, so a
// limit in ticks is a longer time then.
const tick = 10 * time.Millisecond

// await waits until a condition holds, for so many ticks. The condition is evaluated with the lock.
func (g *group) await(ticks int, holds func() bool) bool {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		g.mu.Lock()
		ok, changed := holds(), g.changed
		g.mu.Unlock()
		switch {
		case ok:
			return true
		case ticks <= 0:
			return false
		}
		select {
		case <-changed:
		case <-ticker.C:
			ticks--
		}
	}
}

// spec returns what a process of a member is told.
func (g *group) spec(id uint64) spec {
	s := spec{ID: id, Listen: g.wires.listens(id), Data: g.store(id), Register: g.register.listener.Addr().String(), Preempt: g.preempt, TLS: g.tls, Rate: 1, Shortest: g.shortest}
	if *logs != "" {
		s.Log = filepath.Join(*logs, fmt.Sprintf("%s-%d.log", filepath.Base(g.t.Name()), id))
	}
	for _, other := range g.ids {
		address := g.wires.listens(other)
		if other != id {
			address = g.wires.dials(id, other)
		}
		s.Members = append(s.Members, ringleader.MemberAddress{ID: other, Address: address})
	}
	return s
}

// start starts a process of a member.
func (g *group) start(s spec, foreign bool) *life {
	g.mu.Lock()
	l := &life{gone: make(chan struct{}), record: record{member: s.ID, number: int64(len(g.all) + 1), warden: s.Warden, foreign: foreign, born: now()}}
	g.all = append(g.all, l)
	g.mu.Unlock()
	s.Number = l.number
	s.Record = filepath.Join(g.recorded(), fmt.Sprint(l.number))
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	events, theirs, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	l.command = g.wires.command(s.ID, g.program)
	l.command.Env = append(os.Environ(), variable+"="+string(text))
	l.command.ExtraFiles = []*os.File{theirs}
	if s.Exec {
		l.command.Stdout = theirs // as that of its commands
	}
	l.command.Stderr = &complaints{g, l}
	if l.stdin, err = l.command.StdinPipe(); err != nil {
		panic(err)
	}
	if err := g.forks.Start(l.command); err != nil {
		panic(err)
	}
	theirs.Close()
	g.tell(s.ID, "starts as %v, warden %v, command %v, rate %.3f", &l.record, s.Warden, s.Exec, s.Rate)
	g.ends.Go(func() {
		g.hear(l, events)
		_ = l.command.Wait() // how it ended was reported, or is what the test did
		if l.warden && l.itself != nil {
			_, _ = l.itself.Wait() // if its warden was killed, it is our child now
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		l.dead = now()
		g.story = append(g.story, incident{l.dead, l.member, fmt.Sprintf("%v has ended: %v", &l.record, l.command.ProcessState)})
		close(l.gone)
		g.notify()
	})
	return l
}

// complaints are what the processes of a life write to stderr.
type complaints struct {
	group *group
	life  *life
}

func (c *complaints) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("leads and has not worked for")) {
		g, l := c.group, c.life
		g.mu.Lock()
		l.hung = true
		const lately = int64(time.Second)
		if at := now(); !l.stopped && at-l.halted > lately {
			g.falseKills++
			g.story = append(g.story, incident{at, l.member, fmt.Sprintf("%v is killed by its warden, and nobody has stopped it", &l.record)})
		}
		g.mu.Unlock()
	}
	return os.Stderr.Write(text)
}

// hear takes the reports of a process, until all processes that could make some have ended.
func (g *group) hear(l *life, events *os.File) {
	defer events.Close()
	for lines := json.NewDecoder(events); ; {
		var e event
		if err := lines.Decode(&e); err != nil {
			if !errors.Is(err, io.EOF) {
				g.tell(l.member, "%v: %v", &l.record, err)
			}
			return
		}
		g.mu.Lock()
		l.events = append(l.events, e)
		l.last = max(l.last, e.From, e.To)
		switch e.What {
		case begun:
			l.itself, _ = os.FindProcess(int(e.Value)) // nil if it has ended
		case joined:
			l.runs = true
		case whole:
			l.hears = true
		case viewed:
			l.view = e
		case changed:
			g.story = append(g.story, incident{e.To, l.member, fmt.Sprintf("%v: the vote of %d is changed: %s", &l.record, e.Leader, e.Text)})
		case refused, failed, closed, started, ended:
			l.refused = l.refused || e.What == refused
			g.story = append(g.story, incident{max(e.From, e.To), l.member, strings.TrimSpace(fmt.Sprintf("%v: %s, term %d %s", &l.record, e.What, e.Term, e.Text))})
		}
		if e.What != leased && e.What != ran && e.What != called && e.What != given {
			g.notify()
		}
		g.mu.Unlock()
	}
}

// long is a limit, in ticks, for what the operating system does.
const long = 2000

// end waits until all processes of a life have ended.
func (g *group) end(l *life) {
	if !g.await(long, func() bool { return l.dead != 0 }) {
		g.violated("the processes of %v have not ended", &l.record)
	}
}

// leave waits until the process of a member has ended. Its warden may go on, with the proof of that.
func (g *group) leave(l *life) {
	if !g.await(long, l.over) {
		g.violated("the process of %v has not ended", &l.record)
	}
}

// over reports whether the process of a member has ended.
func (l *life) over() bool { return l.dead != 0 || l.itself != nil && !l.alive() }

// alive reports whether the process of a member runs, and is no zombie.
func (l *life) alive() bool {
	s := byte(0)
	if l.itself != nil {
		s = state(l.itself)
	}
	return s != 0 && s != 'Z'
}

// state returns the state of a process, as proc_pid_stat(5) has it; 0: it is no more.
func state(p *os.Process) byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // no program here has that in its name
	return rest[0]
}

// known waits until a process has reported its identity, or has ended.
func (g *group) known(l *life) bool {
	g.await(long, func() bool { return l.itself != nil || l.dead != 0 })
	return l.itself != nil && l.dead == 0
}

// kill kills the process of a member.
func (g *group) kill(l *life) {
	at := now() // its warden may kill it, too, if it hangs
	if !g.known(l) || !l.alive() {
		return
	}
	g.mu.Lock()
	if l.killed == 0 {
		l.killed = at
	}
	g.mu.Unlock()
	_ = l.itself.Kill()
	g.tell(l.member, "%v is killed", &l.record)
}

// orphan kills the warden of a member, so that the kernel kills the member.
func (g *group) orphan(l *life) {
	if !g.known(l) {
		return
	}
	_ = l.command.Process.Signal(syscall.SIGSTOP) // so that it proves nothing from now on
	g.await(long, func() bool { return state(l.command.Process) != 'S' && state(l.command.Process) != 'R' })
	g.mu.Lock()
	l.orphan = l.orphan || l.killed == 0 && l.alive()
	g.mu.Unlock()
	_ = l.command.Process.Kill()
	g.tell(l.member, "the warden of %v is killed", &l.record)
}

// command gives a command to a process.
func (l *life) order(text string) { _, _ = io.WriteString(l.stdin, text+"\n") }

// stop stops a process of a life, until proceed.
func (g *group) stop(l *life, p *os.Process) {
	_ = p.Signal(syscall.SIGSTOP)
	g.mu.Lock()
	defer g.mu.Unlock()
	l.stopped, l.halted = true, now()
}

func (g *group) proceed(l *life, p *os.Process) {
	_ = p.Signal(syscall.SIGCONT)
	g.mu.Lock()
	defer g.mu.Unlock()
	l.stopped, l.halted = false, now()
}

// agreed reports whether all members run and follow one of them, whose lease was valid at some time since a moment. The
// caller has the lock.
func (g *group) agreed(since int64) bool {
	var leader *life
	for _, id := range g.ids {
		l := g.current[id]
		if l == nil || l.dead != 0 || l.stopped || !l.runs {
			return false
		}
		if l.view.Role == string(ringleader.Leader) {
			leader = l
		}
	}
	if leader == nil {
		return false
	}
	for _, id := range g.ids {
		if v := g.current[id].view; v.Leader != leader.member || v.Term != leader.view.Term {
			return false
		}
	}
	return slices.ContainsFunc(leader.events, func(e event) bool {
		return e.What == leased && e.Term == leader.view.Term && e.From >= since
	})
}

// leader returns the member that works, as far as is known, or 0.
func (g *group) leader() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	best := &life{}
	for _, id := range g.ids {
		if l := g.current[id]; l != nil && l.dead == 0 && l.view.Role == string(ringleader.Leader) && l.view.Term > best.view.Term {
			best = l
		}
	}
	return best.member
}

// close ends all processes, and reports those that do not end.
func (g *group) close() {
	for _, l := range g.all {
		select {
		case <-l.gone:
			continue
		default:
		}
		g.mu.Lock()
		if l.itself != nil {
			_ = l.itself.Kill()
		}
		g.mu.Unlock()
		_ = l.command.Process.Kill()
	}
	for _, l := range g.all {
		g.end(l)
		l.stdin.Close()
	}
	g.wires.close()
	g.register.close()
	close(g.forks)
	if !g.t.Failed() {
		g.ends.Wait()
	}
}

// violated reports a violation.
func (g *group) violated(format string, args ...any) {
	g.t.Helper()
	text := fmt.Sprintf(format, args...)
	g.tell(0, "VIOLATED: %s", text)
	g.t.Error(text)
}
