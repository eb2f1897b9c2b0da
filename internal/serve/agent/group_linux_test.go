package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/serve/rig"
)

// limit is how long a wait lasts before the test fails, and look is the pause between two looks. Looks are counted, not time: a machine that stands still
// makes none. Each look reads many processes.
const (
	limit = 60 * time.Second
	look  = 20 * time.Millisecond
)

// lease is so long, and its margin, that a loaded machine can kill in time.
const lease = time.Second

func timing() ringleader.Timing {
	t := ringleader.LAN()
	t.Lease, t.LongestLease, t.Renewal = lease, lease, lease/12
	t.Grace, t.Margin = lease/10, 4*lease/10
	return t
}

// group is a group of real members, each with the same command.
type group struct {
	*testing.T
	dir   string
	specs []spec // by member - 1
	links map[[2]int]*rig.Link
	run   map[int]*exec.Cmd // of the wardens or members that run
	ends  map[int]chan struct{}
	file  *os.File
	seen  []beat // all that were read
	rest  []byte

	strangers map[string]bool // processes that were there before the group or are of another one: to look at all of them is half of the work of a test

	stdin  io.Reader // of a member that starts; nil: none
	stdout io.Writer

	printing sync.Mutex
	printed  bytes.Buffer // what processes have told their users
}

func newGroup(t *testing.T, n int, with spec) *group {
	t.Helper()
	g := &group{T: t, dir: t.TempDir(), links: map[[2]int]*rig.Link{}, run: map[int]*exec.Cmd{}, ends: map[int]chan struct{}{}}
	file, err := os.Create(g.beats())
	g.must(err)
	g.file = file
	addresses, err := rig.FreeAddresses(n)
	g.must(err)
	if with.Timing == (ringleader.Timing{}) {
		with.Timing = timing()
	}
	for i := range n {
		s := with
		s.ID, s.Listen, s.Data = uint64(i+1), addresses[i], filepath.Join(g.dir, strconv.Itoa(i+1))
		g.must(ringleader.Init(s.Data, "", s.ID))
		s.Members = nil
		for j, address := range addresses {
			if j != i {
				link, err := rig.NewLink(address)
				g.must(err)
				t.Cleanup(link.Close)
				g.links[[2]int{i + 1, j + 1}] = link
				address = link.Address()
			}
			s.Members = append(s.Members, ringleader.MemberAddress{ID: uint64(j + 1), Address: address})
		}
		g.specs = append(g.specs, s)
	}
	g.strangers = map[string]bool{}
	for _, name := range g.folders() {
		g.strangers[name] = true
	}
	t.Cleanup(g.close)
	return g
}

func (g *group) beats() string { return filepath.Join(g.dir, "beats") }

func (g *group) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

// start starts a member.
func (g *group) start(id int) {
	g.Helper()
	text, err := json.Marshal(g.specs[id-1])
	g.must(err)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), role+"="+string(text), beats+"="+g.beats())
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stdin, c.Stdout, c.Stderr = g.stdin, g.stdout, said{g}
	g.must(c.Start())
	end := make(chan struct{})
	go func() {
		c.Wait()
		close(end)
	}()
	g.run[id], g.ends[id] = c, end
}

// said takes what the processes of a group print. The race detector prints its reports there, and each fails the test.
type said struct{ *group }

func (s said) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("WARNING: DATA RACE")) {
		s.Error("a process has a data race")
	}
	s.printing.Lock()
	defer s.printing.Unlock()
	s.printed.Write(text)
	return s.Output().Write(text)
}

// prints reports whether a process has printed a text.
func (g *group) prints(text string) bool {
	g.printing.Lock()
	defer g.printing.Unlock()
	return strings.Contains(g.printed.String(), text)
}

// await waits for a condition.
func (g *group) await(what string, holds func() bool) {
	g.Helper()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for waited := time.Duration(0); !holds(); waited += look {
		if waited > limit {
			g.Fatalf("not within %v: %s", limit, what)
		}
		<-ticker.C
	}
}

// read reads new beats.
func (g *group) read() {
	g.Helper()
	buffer := make([]byte, 1<<16)
	for {
		n, _ := g.file.Read(buffer)
		if n == 0 {
			break
		}
		g.rest = append(g.rest, buffer[:n]...)
	}
	for {
		line, rest, found := bytes.Cut(g.rest, []byte("\n"))
		if !found {
			return
		}
		var b beat
		if json.Unmarshal(line, &b) == nil { // else its process was killed while it wrote, or the line is empty
			g.seen = append(g.seen, b)
		}
		g.rest = rest
	}
}

// works waits until a command runs after a moment, and returns its last beat.
func (g *group) works(since time.Duration, kind string) (last beat) {
	g.Helper()
	return g.follows(since, kind, beat{})
}

// follows is works for a process that is not the one of a beat before.
func (g *group) follows(since time.Duration, kind string, before beat) (last beat) {
	g.Helper()
	g.await("a "+kind+" runs", func() bool {
		g.read()
		for _, b := range slices.Backward(g.seen) {
			if b.At <= since {
				return false
			}
			if b.Kind == kind && (b.Term != before.Term || b.PID != before.within) { // to look for its process is most of the work
				last = b
				last.PID, last.within = g.find(b), b.PID
				return last.PID != 0
			}
		}
		return false
	})
	return last
}

// process is a process, as the system knows it.
type process struct {
	pid, parent int
	within      int // its number in its own namespace
	term        uint64
}

// find returns the number of the process that a beat is of, outside of its namespace; 0 if it has ended.
func (g *group) find(b beat) int {
	for p := range g.each {
		if p.within == b.PID && p.term == b.Term {
			return p.pid
		}
	}
	return 0
}

// folders are those of all processes of the machine.
func (g *group) folders() []string {
	names, err := filepath.Glob("/proc/[0-9]*")
	g.must(err)
	return names
}

// each yields all processes of the group that have not ended.
func (g *group) each(yield func(process) bool) {
	names, strangers := g.folders(), map[string]bool{}
	for _, name := range names {
		if g.strangers[name] {
			strangers[name] = true
		}
	}
	g.strangers = strangers // the number of one that has ended may be that of a process of the group next
	for _, name := range names {
		if strangers[name] {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(name))
		if p := g.process(pid); p.pid != 0 && !yield(p) {
			return
		}
	}
}

// processes returns all processes of the group that have not ended.
func (g *group) processes() []process { return slices.Collect(g.each) }

// process returns a process of the group; none if it has ended, is a zombie, or is of others.
func (g *group) process(pid int) (p process) {
	name := fmt.Sprint("/proc/", pid)
	environment, err := os.ReadFile(name + "/environ")
	if err != nil || !bytes.Contains(environment, []byte(beats+"="+g.beats())) {
		if bytes.Contains(environment, []byte("\x00"+beats+"=")) { // of another group, as is all that it starts
			g.strangers[name] = true
		}
		return process{}
	}
	status, err := os.ReadFile(name + "/status")
	if err != nil {
		return process{}
	}
	p.pid = pid
	number := func(key string) (n int) { // the last one of a line
		_, line, _ := strings.Cut(string(status), "\n"+key+":")
		line, _, _ = strings.Cut(line, "\n")
		if all := strings.Fields(line); len(all) > 0 {
			n, _ = strconv.Atoi(all[len(all)-1])
		}
		return n
	}
	p.parent, p.within = number("PPid"), number("NSpid")
	_, term, _ := strings.Cut("\x00"+string(environment), "\x00RINGLEADER_TERM=")
	fmt.Sscan(strings.ReplaceAll(term, "\x00", " "), &p.term)
	return p
}

// arguments are the words of a process; none if it has ended.
func (p process) arguments() string {
	text, _ := os.ReadFile(fmt.Sprint("/proc/", p.pid, "/cmdline"))
	return strings.ReplaceAll(string(text), "\x00", " ")
}

// parent returns the parent of a process; 0 if it has ended.
func (g *group) parent(pid int) int { return g.process(pid).parent }

// leader returns the member of a process of a command, and its processes: 0 if it has ended meanwhile.
func (g *group) leader(command int) (id, member, keeper int) {
	keeper = g.parent(command)
	if all := strings.Fields(g.process(keeper).arguments()); len(all) > 1 && all[1] == "first" {
		keeper = g.parent(keeper)
	}
	if member = g.parent(keeper); member == 0 {
		return 0, 0, 0
	}
	for id := range g.run {
		if pid := g.run[id].Process.Pid; pid == member || pid == g.parent(member) {
			return id, member, keeper
		}
	}
	return 0, 0, 0
}

// working waits for a command with processes of the given kinds besides its first, and returns that, its member, and the keeper. A lease may lapse
// meanwhile, if the machine stalls.
func (g *group) working(kinds ...string) (last beat, id, member, keeper int) {
	g.Helper()
	g.await("the processes of a command", func() bool {
		last = g.works(now(), "loop")
		for _, kind := range kinds {
			g.works(now(), kind)
		}
		id, member, keeper = g.leader(last.PID)
		return id != 0
	})
	return last, id, member, keeper
}

// send sends a signal to a process. The number 0 is no process: the signal would end this one.
func send(pid int, s syscall.Signal) {
	if pid <= 0 {
		panic("a signal to no process")
	}
	syscall.Kill(pid, s)
}

// gone waits until all processes of a member have ended, so that it can start again.
func (g *group) gone(id int, member int) {
	g.Helper()
	<-g.ends[id]
	delete(g.run, id)
	g.await("the process of a member ends with its warden", func() bool { return g.parent(member) == 0 })
}

// alone checks that no process is left.
func (g *group) alone() {
	g.Helper()
	g.await("no process is left", func() bool { return len(g.processes()) == 0 })
}

// cut cuts all links of a member, or heals them.
func (g *group) cut(id int, cut bool) {
	for ends, link := range g.links {
		if ends[0] == id || ends[1] == id {
			link.Set(rig.Way{Cut: cut}, rig.Way{Cut: cut})
		}
	}
}

// judge complains about commands of two terms that run at the same time: each beat of a term is before all beats of later
// ones.
func (g *group) judge() {
	g.Helper()
	g.read()
	latest := map[uint64]beat{} // of each term
	earliest := map[uint64]beat{}
	for _, b := range g.seen {
		if last, known := latest[b.Term]; !known || b.At > last.At {
			latest[b.Term] = b
		}
		if first, known := earliest[b.Term]; !known || b.At < first.At {
			earliest[b.Term] = b
		}
	}
	for before, last := range latest {
		for after, first := range earliest {
			if before < after && last.At >= first.At {
				g.Errorf("the %s of term %d runs %v after the beginning of term %d", last.Kind, before, last.At-first.At, after)
			}
		}
	}
}

// close kills what is left.
func (g *group) close() {
	for _, p := range g.processes() {
		send(p.pid, syscall.SIGKILL)
	}
	for id := range g.run {
		<-g.ends[id]
	}
	g.file.Close()
}

func now() time.Duration { return clock.System().Boottime() }

// self is the command that this binary is.
func self(words ...string) []string { return append([]string{os.Args[0], "command"}, words...) }

func (p process) String() string { return fmt.Sprintf("%d (of %d) %s", p.pid, p.parent, p.arguments()) }
