package agent_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
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
		send(pid, syscall.SIGKILL)
	}
	return func() {
		g.gone(id, member)
		g.start(id)
	}
}

// stop stops a process until another one has taken over, or the command runs again.
func stop(g *group, pid int) func() {
	send(pid, syscall.SIGSTOP)
	return func() { send(pid, syscall.SIGCONT) }
}

var faults = []fault{
	{"the member is killed", func(g *group, id, member, _, _ int) func() { return kill(g, id, member, member) }},
	{"the warden is killed", func(g *group, id, member, _, _ int) func() { return kill(g, id, member, g.run[id].Process.Pid) }},
	{"the member and its keeper are killed", func(g *group, id, member, keeper, _ int) func() { return kill(g, id, member, keeper, member) }},
	{"the keeper is killed", func(_ *group, _, _, keeper, _ int) func() {
		send(keeper, syscall.SIGKILL)
		return func() {}
	}},
	{"the command is killed", func(_ *group, _, _, _, command int) func() {
		send(command, syscall.SIGKILL)
		return func() {}
	}},
	{"the member is stopped", func(g *group, _, member, _, _ int) func() { return stop(g, member) }},
	{"the links of the member are cut", func(g *group, id, _, _, _ int) func() {
		g.cut(id, true)
		return func() { g.cut(id, false) }
	}},
	{"the keeper is stopped, and the links of the member are cut", func(g *group, id, _, keeper, _ int) func() {
		send(keeper, syscall.SIGSTOP) // and is killed, so there is no need to continue it
		g.cut(id, true)
		return func() { g.cut(id, false) }
	}},
	{"the command is stopped, and the links of the member are cut", func(g *group, id, _, _, command int) func() {
		send(command, syscall.SIGSTOP)
		g.cut(id, true)
		return func() { g.cut(id, false) }
	}},
	{"the warden is stopped, and the member killed", func(g *group, id, member, _, _ int) func() {
		warden := g.run[id].Process.Pid
		send(warden, syscall.SIGSTOP)
		send(member, syscall.SIGKILL)
		return func() {
			send(warden, syscall.SIGCONT)
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
	n, times := len(faults), timing()
	switch {
	case *long:
		n = 500
	case testing.Short(): // for races: programs are so slow that a command would hardly begin within the usual lease
		n, times = 2, lasting(5*lease)
	}
	if *count > 0 {
		n = *count
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	var order []int
	for len(order) < n {
		order = append(order, r.Perm(len(faults))...)
	}
	half := (n + 1) / 2
	for name, part := range map[string][]int{"first half": order[:half], "second half": order[half:n]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // a fault is a wait for the end of a lease
			throughFaults(t, times, part)
		})
	}
}

// throughFaults makes faults, by their places in the list, on a group.
func throughFaults(t *testing.T, times ringleader.Timing, order []int) {
	g := newGroup(t, 3, spec{Command: self("deaf", "forks", "loop"), OnExit: agent.Resign, Stop: 100 * time.Millisecond, Warden: true, Timing: times})
	for id := 1; id <= 3; id++ {
		g.start(id)
	}
	begun := time.Now()
	for i, which := range order {
		last, id, member, keeper := g.working("daemon")
		f := faults[which]
		at := now()
		repair := f.make(g, id, member, keeper, last.PID)
		t.Logf("fault %d: %s", i, f.name)
		g.follows(at, "loop", last)
		repair()
		if g.judge(); t.Failed() {
			t.Fatalf("after fault %d: %s", i, f.name)
		}
	}
	for id, c := range g.run {
		if id%2 == 0 {
			send(c.Process.Pid, syscall.SIGKILL)
		} else {
			c.Process.Signal(syscall.SIGTERM)
		}
	}
	g.alone()
	g.judge()
	t.Logf("%d faults, %d beats, in %v", len(order), len(g.seen), time.Since(begun).Round(time.Second))
}

// Nothing but the kernel ends the command: the keeper is stopped, and the member dies with its warden.
func TestNoProcessIsLeftIfTheWardenIsKilledAndTheKeeperStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	agent.NeedNamespaces(t)
	t.Parallel()
	g := newGroup(t, 1, spec{Command: self("deaf", "forks", "loop"), OnExit: agent.Resign, Warden: true, Timing: steady()})
	g.start(1)
	_, _, _, keeper := g.working()
	send(keeper, syscall.SIGSTOP)
	send(g.run[1].Process.Pid, syscall.SIGKILL)
	g.alone()
}

// A keeper that is stopped kills nothing, so the first process of the namespace does, and the timer of the kernel.
func TestACommandDiesWithItsLeaseAlthoughMemberAndKeeperAreStopped(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	g := newGroup(t, 1, spec{Command: self("deaf", "forks", "loop"), OnExit: agent.Resign, Warden: true})
	g.start(1)
	first, _, member, keeper := g.working()
	send(member, syscall.SIGSTOP)
	send(keeper, syscall.SIGSTOP)
	g.await("the command dies, and all that it has started", func() bool {
		for _, p := range g.processes() {
			if p.pid != member && p.parent != member && p.pid != g.run[1].Process.Pid { // the member has a canary, too
				return false
			}
		}
		return g.parent(first.PID) == 0
	})
}

// A keeper that waits for the lead has no timer yet. One that is stopped then does not begin, and its member would lead without a command.
func TestAKeeperThatWasStoppedBeforeTheLeadIsReplaced(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	var may atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !may.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	g := newGroup(t, 1, spec{Command: self("deaf", "forks", "loop"), OnExit: agent.Resign, Warden: true, Timing: steady(), Health: agent.Health{URL: server.URL}})
	g.start(1)
	g.await("a keeper that waits", func() bool {
		for p := range g.each {
			if strings.Contains(p.arguments(), " keeper ") && strings.HasSuffix(p.arguments(), " command deaf forks loop ") {
				send(p.pid, syscall.SIGSTOP)
				return true
			}
		}
		return false
	})
	may.Store(true)
	g.working()
}

// The next command begins when nothing of this one is left, and so no look whether it is ready.
func TestACommandBeginsAgainAlthoughTheKeeperOfItsReadyCheckIsStopped(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	g := newGroup(t, 1, spec{Command: self("loop"), OnExit: agent.Resign, Warden: true, Timing: steady(), Ready: agent.Ready{Command: "exec sleep 1234"}})
	g.start(1)
	first, _, _, _ := g.working()
	g.await("a look whether it is ready", func() bool {
		for p := range g.each {
			if strings.HasSuffix(p.arguments(), " -- /bin/sh -c exec sleep 1234 ") {
				send(p.pid, syscall.SIGSTOP)
				return true
			}
		}
		return false
	})
	at := now()
	send(first.PID, syscall.SIGKILL)
	g.follows(at, "loop", first)
}

func TestAHookWhoseKeeperIsStoppedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	file := filepath.Join(t.TempDir(), "hooks")
	g := newGroup(t, 1, spec{
		Command: self("loop"), OnExit: agent.Resign, Warden: true, Timing: steady(),
		Hooks: agent.Hooks{
			OnLeader: "kill -STOP $PPID; exec sleep 1234", // its parent is its keeper
			OnChange: "echo $RINGLEADER_ROLE >> " + file, Timeout: 2 * lease,
		},
	})
	g.start(1)
	g.await("the next hook", func() bool {
		text, _ := os.ReadFile(file)
		return strings.Contains(string(text), "leader")
	})
}

func TestWithoutANamespaceAControlGroupOrTheKeeperEndsACommand(t *testing.T) {
	t.Parallel()
	victims := []string{"command", "keeper", "member", "warden"}
	if testing.Short() {
		victims = victims[:1] // for races: the others differ in no goroutine
	}
	for _, victim := range victims {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			endsWith(t, victim)
		})
	}
}

// endsWith checks that a command without a namespace ends with one of its processes.
func endsWith(t *testing.T, victim string) {
	g := newGroup(t, 1, spec{Command: self("deaf", "forks", "loop"), OnExit: agent.Resign, Warden: true, Timing: steady(), NoNamespace: true})
	g.start(1)
	last, _, member, keeper := g.working()
	command := last.PID
	switch victim {
	case "command":
		send(command, syscall.SIGKILL)
	case "keeper":
		send(keeper, syscall.SIGKILL)
	case "member":
		send(member, syscall.SIGKILL)
	case "warden":
		send(g.run[1].Process.Pid, syscall.SIGKILL)
	}
	g.await("the command ends with the "+victim, func() bool { return g.parent(command) == 0 })
	if victim == "command" || victim == "keeper" {
		g.works(now(), "loop") // of the next one
		g.run[1].Process.Signal(syscall.SIGTERM)
	}
	<-g.ends[1]
	g.alone()
	switch victim {
	case "command":
		g.told("the member resigned: the command has ended by itself, with status 137")
	case "keeper":
		g.told("the member resigned: the keeper of the command was killed, or stood still until its timer killed it, and so the command")
	}
}

func TestACommandGetsNoVariableThatIsForItsMember(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	t.Setenv("RINGLEADER_NATS_TOKEN", "secret")
	t.Setenv("OF_ALL", "kept")
	_, out, _ := single(t, spec{Command: []string{"/bin/sh", "-c", "env"}, OnExit: agent.Leave, Warden: true, Timing: steady()}, "")
	if strings.Contains(out, "secret") || !strings.Contains(out, "OF_ALL=kept\n") || !strings.Contains(out, "RINGLEADER_TERM=1\n") {
		t.Errorf("its environment is\n%s", out)
	}
}

func TestACommandRunsAsAnotherUser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	if os.Getuid() != 0 {
		needs.Missing(t, "only root can run a command as another user")
	}
	for _, namespace := range []bool{true, false} {
		script := `echo "$(id -u) $(id -g) $(id -G) $USER"; grep CapEff /proc/self/status; test -e /proc/$$ && echo own`
		_, out, status := single(t, spec{Command: []string{"/bin/sh", "-c", script}, OnExit: agent.Leave, Warden: true, Timing: steady(), User: "nobody", NoNamespace: !namespace}, "")
		if want := "65534 65534 65534 nobody\nCapEff:\t0000000000000000\nown\n"; out != want || status != 0 {
			t.Errorf("%q, exit status %d; want %q", out, status, want)
		}
	}
	if err := agent.CheckUser("nobody at all"); err == nil {
		t.Error("a user who does not exist is accepted")
	}
}

// One thread that had to wait for a processor would keep the command alive after its end.
func TestAllThreadsOfKeeperAndFirstProcessRunBeforeOthersAndNoneOfTheCommand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	kerneltest.NeedPriority(t)
	for _, namespace := range []bool{true, false} {
		g := newGroup(t, 1, spec{Command: self("deaf", "forks", "loop"), OnExit: agent.Resign, Warden: true, Timing: steady(), NoNamespace: !namespace})
		g.start(1)
		last, _, _, keeper := g.working()
		command := last.PID
		for pid := g.parent(command); pid != 0; pid = g.parent(pid) {
			if got := kerneltest.Policies(pid); !slices.Equal(got, []int{2}) {
				t.Errorf("namespace %v: the threads of process %d have policies %v", namespace, pid, got)
			}
			if pid == keeper {
				break
			}
		}
		if got := kerneltest.Policies(command); !slices.Equal(got, []int{0}) {
			t.Errorf("namespace %v: the threads of the command have policies %v", namespace, got)
		}
		g.run[1].Process.Signal(syscall.SIGTERM)
		<-g.ends[1]
	}
}

// The host has the processes of the test, and the command sees none of them.
func TestACommandSeesItsOwnProcessesOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	agent.NeedNamespaces(t)
	t.Parallel()
	script := `ls -d /proc/[0-9]* | wc -l; test -e /proc/$$/stat && echo own`
	_, out, _ := single(t, spec{Command: []string{"/bin/sh", "-c", script}, OnExit: agent.Leave, Warden: true, Timing: steady()}, "")
	var n int
	if _, err := fmt.Sscan(out, &n); err != nil || n > 6 || !strings.HasSuffix(out, "own\n") {
		t.Errorf("%q", out)
	}
}
