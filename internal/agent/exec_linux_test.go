package agent_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/agent"
)

var (
	long  = flag.Bool("long", false, "make 500 faults, or as many as -faults")
	count = flag.Int("faults", 0, "how many")
	seed  = flag.Uint64("seed", 1, "of the faults")
)

// fault ends or stops something of the leader. It returns what to repair.
type fault struct {
	name string
	make func(g *group, id, member, keeper, command int) (repair func())
}

// kill kills processes of a member, which ends, and starts it again.
func kill(g *group, id, member int, pids ...int) func() {
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return func() {
		g.gone(id, member)
		g.start(id)
	}
}

// stop stops a process until another one has taken over, or the command runs again.
func stop(g *group, pid int) func() {
	syscall.Kill(pid, syscall.SIGSTOP)
	return func() { syscall.Kill(pid, syscall.SIGCONT) }
}

var faults = []fault{
	{"the member is killed", func(g *group, id, member, _, _ int) func() { return kill(g, id, member, member) }},
	{"the warden is killed", func(g *group, id, member, _, _ int) func() { return kill(g, id, member, g.run[id].Process.Pid) }},
	{"the member and its keeper are killed", func(g *group, id, member, keeper, _ int) func() { return kill(g, id, member, keeper, member) }},
	{"the keeper is killed", func(_ *group, _, _, keeper, _ int) func() {
		syscall.Kill(keeper, syscall.SIGKILL)
		return func() {}
	}},
	{"the command is killed", func(_ *group, _, _, _, command int) func() {
		syscall.Kill(command, syscall.SIGKILL)
		return func() {}
	}},
	{"the member is stopped", func(g *group, _, member, _, _ int) func() { return stop(g, member) }},
	{"the links of the member are cut", func(g *group, id, _, _, _ int) func() {
		g.cut(id, true)
		return func() { g.cut(id, false) }
	}},
	{"the keeper is stopped, and the links of the member are cut", func(g *group, id, _, keeper, _ int) func() {
		syscall.Kill(keeper, syscall.SIGSTOP) // and is killed, so there is no need to continue it
		g.cut(id, true)
		return func() { g.cut(id, false) }
	}},
	{"the command is stopped, and the links of the member are cut", func(g *group, id, _, _, command int) func() {
		syscall.Kill(command, syscall.SIGSTOP)
		g.cut(id, true)
		return func() { g.cut(id, false) }
	}},
	{"the warden is stopped, and the member killed", func(g *group, id, member, _, _ int) func() {
		warden := g.run[id].Process.Pid
		syscall.Kill(warden, syscall.SIGSTOP)
		syscall.Kill(member, syscall.SIGKILL)
		return func() {
			syscall.Kill(warden, syscall.SIGCONT)
			g.gone(id, member)
			g.start(id)
		}
	}},
	{"the member is asked to end", func(g *group, id, member, _, _ int) func() {
		g.run[id].Process.Signal(syscall.SIGTERM)
		return func() {
			g.gone(id, member)
			g.start(id)
		}
	}},
}

// A command that ignores SIGTERM, and has a process that has left its session, runs once at any time.
func TestOneCommandRunsAtATimeThroughFaults(t *testing.T) {
	t.Parallel()
	n := len(faults)
	if *long {
		n = 500
	}
	if *count > 0 {
		n = *count
	}
	g := newGroup(t, 3, spec{Command: self("deaf", "forks", "loop"), OnExit: agent.Resign, Stop: 100 * time.Millisecond, Warden: true})
	for id := 1; id <= 3; id++ {
		g.start(id)
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	begun := time.Now()
	var order []int
	for i := range n {
		if len(order) == 0 {
			order = r.Perm(len(faults))
		}
		var last beat
		var id, member, keeper int
		g.await("the processes of a command", func() bool { // a lease may lapse meanwhile, if the machine stalls
			last = g.works(now(), "loop")
			g.works(now(), "daemon")
			id, member, keeper = g.leader(last.PID)
			return id != 0
		})
		f := faults[order[0]]
		order = order[1:]
		at := now()
		repair := f.make(g, id, member, keeper, last.PID)
		g.await(fmt.Sprintf("fault %d: a new command after %s", i, f.name), func() bool {
			next := g.works(at, "loop")
			return next.PID != last.PID
		})
		repair()
		if g.judge(); t.Failed() {
			t.Fatalf("after fault %d: %s", i, f.name)
		}
	}
	for id, c := range g.run {
		if id%2 == 0 {
			syscall.Kill(c.Process.Pid, syscall.SIGKILL)
		} else {
			c.Process.Signal(syscall.SIGTERM)
		}
	}
	g.alone()
	g.judge()
	t.Logf("%d faults, %d beats, in %v", n, len(g.seen), time.Since(begun).Round(time.Second))
}
