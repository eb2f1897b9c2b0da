package demo

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
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

// process is one life of a member: the process of its warden, if it has one.
type process struct {
	*os.Process
	member *os.Process    // itself, once it has said so
	stdin  io.WriteCloser // takes commands; at its end the process stops
	done   chan struct{}  // closed when it has ended and been waited for
}

// itself returns the process of the member, or, before it is known, that of its warden.
func (p *process) itself() *os.Process { return cmp.Or(p.member, p.Process) }

// news is a report about a member's process: a line of its output or, if said is nil, its condition.
type news struct {
	of        *member
	by        *process
	at        time.Time
	said      *report.JoinEvent
	warden    bool // the condition may be that of a warden
	condition condition
	ending    ending // if the condition is ended
}

// moment returns the time of news by the clock of the member that reported it, since under load the report is read late.
// A time that is not after the last fault, or after the reading, is wrong: the clock was set meanwhile, or a lease ended before the
// member noticed. Then it is the time of reading.
func (r news) moment(fault time.Time) time.Time {
	if r.said == nil || !r.said.Time.After(fault) || r.said.Time.After(r.at) {
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
	tenure    uint64          // the term in which it became that
	leader    uint64          // the leader that it reported, perhaps itself; 0 if it knows none
	term      uint64          // of that leader
	until     time.Time       // when its own lease ends, as reported last; zero: it has none
	grants    []report.Grant  // on which that lease rests
}

// group is the member processes of a demo. Its methods are called by one goroutine.
type group struct {
	members []*member // by identifier: 1, 2, …
	reports chan news

	algorithm ringleader.Algorithm
	lease     time.Duration            // 0: as join has it
	links     map[[2]uint64]*rig.Link  // by the members at their ends: from, to
	sides     map[uint64]int           // on which side of a cut a member is; absent: on each
	slow      map[uint64]time.Duration // how long messages of a member take

	program string // our own binary
	folder  string // of all data
	kept    bool   // the folder stays
	forks   rig.Forks
	closing chan struct{}
	watches sync.WaitGroup
}

// stalls is for how many leases a disk may give no answer, if the lease is chosen: a machine that needs a long one has slow disks, too.
const stalls = 5

func newGroup(n int, algorithm ringleader.Algorithm, lease time.Duration) (g *group, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addresses, err := rig.FreeAddresses(2 * n)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "ringleader-demo-")
	if err != nil {
		return nil, err
	}
	g = &group{
		algorithm: algorithm, lease: lease, links: map[[2]uint64]*rig.Link{}, slow: map[uint64]time.Duration{},
		reports: make(chan news, 64),
		program: program, folder: folder,
		forks: rig.NewForks(), closing: make(chan struct{}),
	}
	for i := range n {
		g.members = append(g.members, &member{
			id: uint64(i + 1), listen: addresses[i], http: addresses[n+i],
			data: filepath.Join(folder, strconv.Itoa(i+1)), condition: ended,
		})
	}
	if err := errors.Join(g.connect(), g.init()); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// connect makes a link from each member to each other.
func (g *group) connect() (err error) {
	for _, from := range g.members {
		for _, to := range g.members {
			if from == to {
				continue
			}
			if g.links[[2]uint64{from.id, to.id}], err = rig.NewLink(to.listen); err != nil {
				delete(g.links, [2]uint64{from.id, to.id})
				return err
			}
		}
	}
	return nil
}

// groupName is the name of the members' group.
const groupName = "demo"

// init makes the stores of all members at the same time: each waits for the disk.
func (g *group) init() error {
	faults := make([]error, len(g.members))
	var all sync.WaitGroup
	for i, m := range g.members {
		all.Go(func() { faults[i] = ringleader.Init(m.data, groupName, m.id) })
	}
	all.Wait()
	return errors.Join(faults...)
}

// apart reports whether a cut separates two members.
func (g *group) apart(a, b uint64) bool {
	x, named := g.sides[a]
	y, too := g.sides[b]
	return named && too && x != y
}

// rewire brings all links into the state that sides and slow describe.
func (g *group) rewire() {
	for ends, l := range g.links {
		cut, slow := g.apart(ends[0], ends[1]), g.slow[ends[0]]
		there := rig.Way{Cut: cut, Delay: func() time.Duration { return slow }}
		l.Set(there, rig.Way{Cut: cut}) // answers are not delayed: they are the other's messages
	}
}

// start begins a new life of a member whose process has ended.
func (g *group) start(m *member) error {
	if m.process != nil {
		<-m.process.done // a kill was sent, so it ends; its ports are free then
	}
	command := exec.Command(g.program, "join", "--json", "--stop-with-stdin", "--report-leases", "--group", groupName,
		"--id", strconv.FormatUint(m.id, 10), "--listen", m.listen, "--http", m.http, "--data", m.data, "--suspicion", suspicion.String())
	if g.algorithm == ringleader.Bully {
		command.Args = append(command.Args, "--algorithm", string(ringleader.Bully), "--unsafe-no-quorum")
	} else {
		command.Args = append(command.Args, "--hang", "0") // who is paused may be resumed
	}
	if g.lease > 0 {
		command.Args = append(command.Args, "--lease", g.lease.String(), "--stall", (stalls * g.lease).String())
	}
	for _, other := range g.members {
		address := other.listen
		if other != m {
			address = g.links[[2]uint64{m.id, other.id}].Address()
		}
		command.Args = append(command.Args, fmt.Sprintf("--member=%d=%s", other.id, address))
	}
	command.Env = rig.Inherited()
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
	p := &process{Process: command.Process, stdin: stdin, done: make(chan struct{})}
	m.process, m.condition, m.role, m.leader, m.term, m.until = p, running, "", 0, 0, time.Time{}

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
		end := watchProcess(p.Process, func(c condition) { g.tell(news{of: m, by: p, warden: true, condition: c}) })
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

// begun takes the process of a member, which has said that it has started. If that is not our child, we look whether it
// is paused.
func (g *group) begun(m *member, pid int) {
	p := m.process
	if pid == p.Pid {
		return
	}
	member, err := os.FindProcess(pid)
	if err != nil {
		return // it has ended
	}
	p.member = member
	const look = 10 * time.Millisecond
	g.watches.Go(func() {
		was := running
		for ticker := time.NewTicker(look); ; {
			select {
			case <-p.done:
				ticker.Stop()
				return
			case <-ticker.C:
			}
			now := running
			if isPaused(pid) {
				now = paused
			}
			if now != was {
				was = now
				g.tell(news{of: m, by: p, condition: now})
			}
		}
	})
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
	if err := m.process.itself().Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
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
	if err := pauseProcess(m.process.itself()); err != nil {
		return err
	}
	m.condition = paused
	return nil
}

func (g *group) resume(m *member) error {
	if err := resumeProcess(m.process.itself()); err != nil {
		return err
	}
	m.condition = running
	return nil
}

// leaders returns the running members that report that they are leader, by term and identifier.
func (g *group) leaders() (all []*member) {
	for _, m := range g.members {
		if m.condition == running && m.role == ringleader.Leader {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *member) int { return cmp.Compare(a.term, b.term) })
	return all
}

// leased reports whether a member's lead ends by itself.
func (g *group) leased(m *member) bool {
	return g.algorithm == ringleader.QuorumBully && !m.until.IsZero()
}

// lapsed reports whether a member has yet to notice, or to report, that it is no longer leader: its lease has ended by this
// time, such as while it was paused. It is shown as one that knows no leader.
func (g *group) lapsed(m *member, at time.Time) bool {
	return m.role == ringleader.Leader && g.leased(m) && !at.Before(m.until)
}

// expected returns the member that a running member should follow, or itself; nil if there should be none.
func (g *group) expected(m *member, leaders []*member) *member {
	if g.algorithm == ringleader.Bully { // the highest that it can reach
		for i := len(g.members) - 1; i >= 0; i-- {
			if other := g.members[i]; other.condition == running && !g.apart(m.id, other.id) {
				return other
			}
		}
	}
	if len(leaders) == 0 || g.apart(m.id, leaders[0].id) {
		return nil
	}
	return leaders[0]
}

// electable reports whether a member reaches a majority, so that there should be a leader.
func (g *group) electable() bool {
	for _, m := range g.members {
		reached := 0
		for _, other := range g.members {
			if other.condition == running && !g.apart(m.id, other.id) {
				reached++
			}
		}
		if m.condition == running && 2*reached > len(g.members) {
			return true
		}
	}
	return false
}

// agreeing returns the running members that have a leader, and that leader, and whether all is as it should be: of several
// leaders, which Bully has during a cut, the highest. Without a majority, the leader's lease is about to end.
func (g *group) agreeing() (leader *member, members []uint64, agreed bool) {
	leaders := g.leaders()
	if g.algorithm == ringleader.QuorumBully && (len(leaders) > 1 || len(leaders) == 1 != g.electable()) {
		return nil, nil, false
	}
	for _, m := range g.members {
		if m.condition != running {
			continue
		}
		want, id := g.expected(m, leaders), uint64(0)
		if want != nil {
			id = want.id
		}
		if m.leader != id || m.role == "" {
			return nil, nil, false
		}
		if id != 0 {
			members = append(members, m.id)
		}
		if m.role == ringleader.Leader {
			leader = m
		}
	}
	return leader, members, true
}

// close kills all members, waits for their ends and removes their data, unless it is kept.
func (g *group) close() error {
	close(g.closing)
	for _, m := range g.members {
		if m.process == nil {
			continue
		}
		select {
		case <-m.process.done:
		default:
			m.process.itself().Kill()
			m.process.Kill()
		}
	}
	for _, l := range g.links {
		l.Close()
	}
	g.watches.Wait()
	close(g.forks)
	if g.kept {
		return nil
	}
	return os.RemoveAll(g.folder)
}
