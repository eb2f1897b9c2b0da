package demo

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/report"
)

// condition is the operating system's state of a member's process.
type condition int

const (
	running condition = iota
	paused
	ended
)

// ending describes how a process ended: in words, and whether it failed by itself.
type ending struct {
	how    string
	failed bool
}

// process is one life of a member.
type process struct {
	*os.Process
	stdin io.Closer     // kept open: at its end the process stops
	done  chan struct{} // closed when it has ended and been waited for
}

// news is a report about a member's process: a line of its output or, if said is nil, its condition.
type news struct {
	of        *member
	by        *process
	at        time.Time
	said      *report.JoinEvent
	condition condition
	ending    ending // if the condition is ended
}

// moment returns the time of news by the clock of the member that reported it, since under load the report is read late.
// A time before the last fault or after the reading is wrong: the clock was set meanwhile. Then it is the time of reading.
func (r news) moment(fault time.Time) time.Time {
	if r.said == nil || r.said.Time.Before(fault) || r.said.Time.After(r.at) {
		return r.at
	}
	return r.said.Time
}

// member is a member of the demo's group, as far as the demo knows.
type member struct {
	id           uint64
	listen, http string
	data         string

	process   *process // the latest; nil before the first start
	condition condition
	role      ringleader.Role // as reported last; "" before its first report
	leads     time.Time       // since when it is leader; zero: it is not
	leader    uint64          // the leader that it reported, perhaps itself; 0 if it knows none
}

// group is the member processes of a demo. Its methods are called by one goroutine.
type group struct {
	members []*member // by identifier: 1, 2, …
	reports chan news

	program string // our own binary
	folder  string // of all data
	forks   Forks
	closing chan struct{}
	watches sync.WaitGroup
}

func newGroup(n int) (*group, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addresses, err := FreeAddresses(2 * n)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "ringleader-demo-")
	if err != nil {
		return nil, err
	}
	g := &group{
		reports: make(chan news, 64),
		program: program, folder: folder,
		forks: NewForks(), closing: make(chan struct{}),
	}
	for i := range n {
		g.members = append(g.members, &member{
			id: uint64(i + 1), listen: addresses[i], http: addresses[n+i],
			data: filepath.Join(folder, strconv.Itoa(i+1)), condition: ended,
		})
	}
	return g, nil
}

// FreeAddresses returns n addresses of this machine on which nothing listens now. The ports are below those from which any
// system dials out, so that no connection sits on a member's port while the member is down.
func FreeAddresses(n int) ([]string, error) {
	const first, ports, tries = 20000, 12000, 1000
	var addresses []string
	for range tries {
		var random [2]byte
		rand.Read(random[:])
		port := first + int(binary.BigEndian.Uint16(random[:]))%ports
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		defer l.Close() // all at the end, so that no port is found twice
		if addresses = append(addresses, address); len(addresses) == n {
			return addresses, nil
		}
	}
	return nil, fmt.Errorf("found no %d free ports on 127.0.0.1 from %d to %d; stop some servers, or ask for fewer members", n, first, first+ports-1)
}

// start begins a new life of a member whose process has ended.
func (g *group) start(m *member) error {
	if m.process != nil {
		<-m.process.done // a kill was sent, so it ends; its ports are free then
	}
	command := exec.Command(g.program, "join", "--json", "--stop-with-stdin", "--algorithm", "bully", "--unsafe-no-quorum",
		"--id", strconv.FormatUint(m.id, 10), "--listen", m.listen, "--http", m.http, "--data", m.data, "--suspicion", suspicion.String())
	for _, other := range g.members {
		command.Args = append(command.Args, fmt.Sprintf("--member=%d=%s", other.id, other.listen))
	}
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := command.StderrPipe()
	if err != nil {
		return err
	}
	if err := g.forks.Start(command); err != nil {
		return err
	}
	p := &process{command.Process, stdin, make(chan struct{})}
	m.process, m.condition, m.role, m.leader = p, running, "", 0

	var reading sync.WaitGroup
	var lastError string
	reading.Go(func() {
		for lines := json.NewDecoder(stdout); ; {
			said := new(report.JoinEvent)
			if lines.Decode(said) != nil {
				return
			}
			g.tell(news{of: m, by: p, said: said})
		}
	})
	reading.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			lastError = lines.Text()
		}
	})
	g.watches.Go(func() {
		end := watchProcess(p.Process, func(c condition) { g.tell(news{of: m, by: p, condition: c}) })
		close(p.done)
		reading.Wait() // its end is reported after all of its output
		stdin.Close()
		stdout.Close()
		stderr.Close()
		if end.failed && lastError != "" {
			end.how = lastError
		}
		g.tell(news{of: m, by: p, condition: ended, ending: end})
	})
	return nil
}

// tell adds the time to news and passes it on, unless the receiver has ended.
func (g *group) tell(r news) {
	r.at = time.Now()
	select {
	case g.reports <- r:
	case <-g.closing:
	}
}

// kill, pause and resume change the condition of a member at once: the system reports it later.

func (g *group) kill(m *member) error {
	if err := m.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	m.condition = ended
	return nil
}

// restart kills a member, unless that is done, and starts it.
func (g *group) restart(m *member) error {
	if m.condition != ended {
		if err := g.kill(m); err != nil {
			return err
		}
	}
	return g.start(m)
}

func (g *group) pause(m *member) error {
	if err := pauseProcess(m.process.Process); err != nil {
		return err
	}
	m.condition = paused
	return nil
}

func (g *group) resume(m *member) error {
	if err := resumeProcess(m.process.Process); err != nil {
		return err
	}
	m.condition = running
	return nil
}

// highest returns the running member with the highest identifier, which should be leader; nil if none runs.
func (g *group) highest() *member {
	for i := len(g.members) - 1; i >= 0; i-- {
		if g.members[i].condition == running {
			return g.members[i]
		}
	}
	return nil
}

// leaders returns the running members that report that they are leader.
func (g *group) leaders() (ids []uint64) {
	for _, m := range g.members {
		if m.condition == running && m.role == ringleader.Leader {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// agreeing returns the running members, and whether all of them report the highest of them as leader.
func (g *group) agreeing() (members []uint64, agreed bool) {
	highest := g.highest()
	for _, m := range g.members {
		if m.condition != running {
			continue
		}
		if m.leader != highest.id {
			return nil, false
		}
		members = append(members, m.id)
	}
	return members, true
}

// close kills all members, waits for their ends and removes their data.
func (g *group) close() error {
	close(g.closing)
	for _, m := range g.members {
		if m.process == nil {
			continue
		}
		select {
		case <-m.process.done:
		default:
			m.process.Kill()
		}
	}
	g.watches.Wait()
	close(g.forks)
	return os.RemoveAll(g.folder)
}
