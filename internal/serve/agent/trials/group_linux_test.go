package trials_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
	"ringleader.example/ringleader/internal/serve/rig"
)

// patience ends a wait that would be for ever.
const patience = 2 * time.Minute

// group is a group of real members at the default timing.
type group struct {
	testing.TB
	tape   tape
	setups []setup // by member - 1
	links  map[[2]int]*rig.Link
	run    map[int]*exec.Cmd // the wardens
	ends   map[int]chan struct{}
}

func newGroup(t testing.TB, n int, s setup) *group {
	folder := t.TempDir()
	s.Tape = filepath.Join(folder, "tape")
	g := &group{TB: t, tape: openTape(s.Tape), links: map[[2]int]*rig.Link{}, run: map[int]*exec.Cmd{}, ends: map[int]chan struct{}{}}
	addresses, err := rig.FreeAddresses(n)
	g.must(err)
	for i := range n {
		s := s
		s.ID, s.Listen, s.Data = uint64(i+1), addresses[i], filepath.Join(folder, strconv.Itoa(i+1))
		g.must(ringleader.Init(s.Data, "", s.ID))
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
		g.setups = append(g.setups, s)
	}
	t.Cleanup(func() {
		for id := range g.run {
			g.end(id)
		}
	})
	for id := range n {
		g.start(id + 1)
	}
	return g
}

func (g *group) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

// start starts a member.
func (g *group) start(id int) {
	text, err := json.Marshal(g.setups[id-1])
	g.must(err)
	c := exec.Command(os.Args[0], memberRole, string(text))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stderr, c.WaitDelay = g.Output(), patience
	g.must(c.Start())
	end := make(chan struct{})
	go func() {
		c.Wait()
		close(end)
	}()
	g.run[id], g.ends[id] = c, end
}

// revive starts members again that have ended by themselves: on a loaded machine a lease may lapse without a fault, and work that ignores
// its context then ends its process.
func (g *group) revive() {
	for id, end := range g.ends {
		select {
		case <-end:
			g.start(id)
		default:
		}
	}
}

// renew ends all members and starts them again.
func (g *group) renew() {
	for id := range g.setups {
		g.end(id + 1)
	}
	for id := range g.setups {
		g.start(id + 1)
	}
}

// end kills a member with all its processes, and waits for them.
func (g *group) end(id int) {
	warden := g.run[id].Process.Pid
	all := append([]int{warden}, kerneltest.Descendants(warden)...)
	for _, pid := range all {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	<-g.ends[id]
	delete(g.run, id)
	delete(g.ends, id)
	g.await("the processes of a member end", func() bool {
		for _, pid := range all {
			if alive(pid) {
				return false
			}
		}
		return true
	})
}

// await waits for a condition.
func (g *group) await(what string, holds func() bool) {
	g.Helper()
	overdue := time.After(patience)
	for tick := time.NewTicker(time.Millisecond); !holds(); {
		select {
		case <-overdue:
			g.Fatalf("not within %v: %s\n%s", patience, what, g.processes())
		case <-tick.C:
			if before, after, is := g.two(); is {
				g.Fatalf("two commands run, while this is awaited, at %v: %s\n%s\n%s\n%s\n%v\n%s", now(), what, before, after, g.processes(), g.tape.all(), g.logs())
			}
		}
	}
}

// two returns entries of two terms that both ran within the last milliseconds, if there are such.
func (g *group) two() (before, after entry, is bool) {
	latest, is := g.runs(now() - 10*time.Millisecond)
	if !is {
		return nil, nil, false
	}
	for _, e := range g.tape.all() {
		if e.term() < latest.term() && e.ran() > latest.began() {
			return e, latest, true
		}
	}
	return nil, nil, false
}

// processes lists all processes of the group, for people.
func (g *group) processes() string {
	list, _ := exec.Command("ps", "-eLo", "pid,tid,ppid,stat,cls,rtprio,wchan:20,etimes,args").Output()
	var own []string
	for line := range strings.Lines(string(list)) {
		if strings.Contains(line, filepath.Dir(g.setups[0].Data)) || strings.HasSuffix(strings.TrimSpace(line), "defunct>") {
			own = append(own, line[:min(len(line), 110)])
		}
	}
	return strings.Join(own, "\n")
}

// logs returns the ends of the logs of all members.
func (g *group) logs() string {
	const most = 6000 // bytes of each
	var all strings.Builder
	for i := range g.setups {
		text, _ := os.ReadFile(g.setups[i].log())
		fmt.Fprintf(&all, "member %d, whose lease ends at %v:\n%s\n", i+1, g.tape.ends(i+1), text[max(0, len(text)-most):])
	}
	return all.String()
}

// runs returns the entry of the latest term, if it was written to since a moment.
func (g *group) runs(since time.Duration) (latest entry, is bool) {
	for _, e := range g.tape.all() {
		if e.ran() > since && (!is || e.term() >= latest.term()) {
			latest, is = e, true
		}
	}
	return latest, is
}

// overlap returns the longest time for which commands of two terms have run at the same time; below 0: none has.
func (g *group) overlap() time.Duration {
	first, last := map[int64]time.Duration{}, map[int64]time.Duration{}
	for _, e := range g.tape.all() {
		if f, known := first[e.term()]; !known || e.began() < f {
			first[e.term()] = e.began()
		}
		last[e.term()] = max(last[e.term()], e.ran())
	}
	worst := -time.Hour
	for before, l := range last {
		for after, f := range first {
			if before < after {
				worst = max(worst, l-f)
			}
		}
	}
	return worst
}

// processes are those of a member that runs a command; 0: there is none.
type processes struct{ warden, member, keeper int }

// of returns the processes of a member.
func (g *group) of(id int) (p processes) {
	p.warden = g.run[id].Process.Pid
	for _, pid := range kerneltest.Children(p.warden) {
		p.member = pid
	}
	for _, pid := range kerneltest.Children(p.member) {
		if argument(pid) == "keeper" {
			p.keeper = pid
		}
	}
	return p
}

// argument returns the first argument of a process.
func argument(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if all := strings.Split(string(text), "\x00"); len(all) > 1 {
		return all[1]
	}
	return ""
}

// alive reports whether a process has not ended.
func alive(pid int) bool { s := state(pid); return s != 0 && s != 'Z' }

// cut cuts all links of a member, or heals them.
func (g *group) cut(id int, cut bool) {
	for ends, link := range g.links {
		if ends[0] == id || ends[1] == id {
			link.Set(rig.Way{Cut: cut}, rig.Way{Cut: cut})
		}
	}
}

// load runs idle and busy processes until the test ends.
func load(t testing.TB) {
	run := func(script string) {
		c := exec.Command("/bin/sh", "-c", script)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			c.Wait()
		})
	}
	for range *busy {
		run("while :; do :; done")
	}
	for left := *idle; left > 0; left -= 500 {
		run("i=0; while [ $i -lt " + strconv.Itoa(min(left, 500)) + " ]; do sleep 1000000 & i=$((i+1)); done; wait")
	}
}

// decisive skips a test where it would find nothing, and where processes cannot run before others: then a loaded host may need longer than a
// margin to end them.
func decisive(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the race detector makes processes slow to end, and finds nothing between processes")
	}
	kerneltest.NeedPriority(t)
}

// state returns the state of a process, such as T for one that is stopped; 0: it has ended.
func state(pid int) byte {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[0][0]
}
