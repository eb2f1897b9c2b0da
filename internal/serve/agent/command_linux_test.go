package agent_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/rig"
)

// single starts a member that is a group of its own, and waits until it has ended.
func single(t *testing.T, s spec, stdin string) (g *group, stdout string, status int) {
	t.Helper()
	g = newGroup(t, 1, s)
	var out strings.Builder
	g.stdin, g.stdout = strings.NewReader(stdin), &out
	g.start(1)
	<-g.ends[1]
	return g, out.String(), g.run[1].ProcessState.ExitCode()
}

func TestTheExitStatusOfACommandIsThatOfAMemberThatLeavesWithIt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	for _, c := range []struct {
		command []string
		want    int
	}{
		{self("status"), 7},
		{[]string{"/bin/sh", "-c", "kill -9 $$"}, 128 + 9},
		{[]string{"/bin/true"}, 0},
		{[]string{filepath.Join(t.TempDir(), "missing")}, 127},
	} {
		for _, warden := range []bool{false, true} {
			if !warden && c.want != 7 {
				continue // a member without a warden ends with the status itself, and one status shows that
			}
			if g, _, status := single(t, spec{Command: c.command, OnExit: agent.Leave, Warden: warden, Timing: steady()}, ""); status != c.want {
				t.Errorf("%q, warden %v: exit status %d, want %d", c.command, warden, status, c.want)
			} else {
				g.alone()
				g.told(fmt.Sprintf("the member resigned: the command has ended by itself, with status %d", c.want))
			}
		}
	}
}

// told fails unless the record of member 1 has why its lead has ended.
func (g *group) told(want string) {
	g.Helper()
	records, err := record.Open(g.Context(), filepath.Join(g.dir, "1"))
	g.must(err)
	var all []string
	for _, l := range records.Logs {
		for e := range l.Notable() {
			if e == nil {
				continue
			}
			if told, is := e.Body.(*record.Told); is {
				all = append(all, told.Detail)
			}
		}
	}
	if !slices.Contains(all, want) {
		g.Errorf("the record tells %q, and not %q", all, want)
	}
}

// steady are times with which no slow machine ends a tenure: the command would run a second time.
func steady() ringleader.Timing { return lasting(600 * lease) }

// lasting are the usual times with another lease. A disk may be slow for as long.
func lasting(lease time.Duration) ringleader.Timing {
	s := timing()
	s.Lease, s.LongestLease, s.Preempt, s.Stall = lease, lease, lease, lease
	return s
}

// A keeper that begins after the end of its first order gets another one while the lease is renewed. It runs the command, and the
// member does not take the delay for the end of the command.
func TestAKeeperThatComesLateWaitsForItsNextOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		orders string
		out    string
		status int
	}{
		{fmt.Sprintf(`{"stop":1,"kill":2} {"stop":2,"kill":3} {"stop":%d,"kill":%[1]d}`, now()+limit), "ran\n", 0},
		{`{"stop":1,"kill":2} {"stop":1,"kill":2,"end":true}`, "", 143},
		{fmt.Sprintf(`{"stop":%d,"kill":%[1]d,"end":true}`, now()+limit), "", 143},
		{`{"stop":1,"kill":2}`, "", 143}, // the member has ended
		{fmt.Sprintf(`{"limit":%d}`, limit), "ran\n", 0},
	} {
		orders, ours, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(os.Args[0], "keeper", "--", "/bin/echo", "ran")
		c.ExtraFiles = []*os.File{orders}
		var out strings.Builder
		c.Stdout, c.Stderr = &out, t.Output()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		orders.Close()
		fmt.Fprintln(ours, "null", test.orders) // no variables
		if strings.Count(test.orders, "{") == 1 && test.out == "" {
			ours.Close()
		}
		c.Wait()
		ours.Close()
		if out.String() != test.out || c.ProcessState.ExitCode() != test.status {
			t.Errorf("%s: %q, exit status %d; want %q and %d", test.orders, out.String(), c.ProcessState.ExitCode(), test.out, test.status)
		}
	}
}

// The order names no moment at which the keeper itself would end its command, and there is no second one.
func TestTheKernelKillsAKeeperByItsFirstOrder(t *testing.T) {
	t.Parallel()
	orders, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	c := exec.Command(os.Args[0], "keeper", "--", "/bin/sleep", "1000")
	c.ExtraFiles = []*os.File{orders}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	orders.Close()
	dead := now() + 200*time.Millisecond
	fmt.Fprintf(ours, `null {"stop": %d, "kill": %d, "dead": %d}`+"\n", now()+time.Hour, now()+time.Hour, dead)
	overdue := time.AfterFunc(limit, func() { c.Process.Kill() })
	c.Wait()
	if !overdue.Stop() {
		t.Error("the keeper does not end")
	}
	if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL || now() < dead {
		t.Errorf("it ends with %v, %v after its moment", c.ProcessState, now()-dead)
	}
}

func TestACommandHasTheStandardStreams(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	_, out, status := single(t, spec{Command: self("copy"), OnExit: agent.Leave, Warden: true, Timing: steady()}, "through four processes\n")
	if out != "through four processes\n" || status != 3 {
		t.Errorf("stdout %q, exit status %d", out, status)
	}
}

func TestACommandKnowsItsTermItsMemberAndItsGroup(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	script := `echo "$RINGLEADER_TERM $RINGLEADER_MEMBER $RINGLEADER_LEADER $RINGLEADER_ROLE [$RINGLEADER_GROUP] [$RINGLEADER_WARDEN_PIPE]"`
	_, out, _ := single(t, spec{Command: []string{"/bin/sh", "-c", script}, OnExit: agent.Leave, Warden: true, Timing: steady()}, "")
	if want := "1 1 1 leader [] []\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
}

func TestACommandStartsAgainInTheSameTermIfItIsToRestart(t *testing.T) {
	t.Parallel()
	g := newGroup(t, 1, spec{Command: self("loop"), OnExit: agent.Restart, Warden: true, Timing: steady()})
	g.start(1)
	last := g.works(0, "loop")
	for range 3 {
		at := now()
		send(last.PID, syscall.SIGKILL)
		g.await("another process", func() bool { return g.works(at, "loop").PID != last.PID })
		next := g.works(now(), "loop")
		if next.Term != last.Term {
			t.Errorf("term %d after term %d", next.Term, last.Term)
		}
		last = next
	}
}

func TestALossOfTheQuorumThatIsShorterThanTheLeaseDoesNotTouchACommand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	g := newGroup(t, 3, spec{Command: self("loop"), OnExit: agent.Resign, Warden: true, Timing: lasting(20 * lease)})
	for id := 1; id <= 3; id++ {
		g.start(id)
	}
	first, id, _, _ := g.working()
	g.cut(id, true)
	g.works(now()+lease, "loop")
	g.cut(id, false)
	if last := g.works(now()+lease/2, "loop"); last.PID != first.PID || last.Term != first.Term {
		t.Errorf("the command is process %d in term %d, and was %d in term %d", last.PID, last.Term, first.PID, first.Term)
	}
}

func TestACommandRunsForLongerThanALeaseThatIsRenewed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	g := newGroup(t, 1, spec{Command: self("loop"), OnExit: agent.Resign, Warden: true})
	g.start(1)
	first := g.works(0, "loop")
	g.await("a command runs for three leases", func() bool { // on a machine that stalls not the first one
		last := g.works(now(), "loop")
		if last.PID != first.PID {
			first = last
		}
		return last.At-first.At > 3*lease
	})
}

func TestACommandHasTimeToEndWhileItsLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	file := filepath.Join(t.TempDir(), "steps")
	patient := lasting(3 * lease) // the command takes longer to end, and a machine that stalls for less does not end it
	patient.Margin = lease / 10
	script := `trap 'for i in 1 2 3 4 5 6 7 8; do sleep 0.5; done; echo done >> ` + file + `; exit 0' TERM; echo begun >> ` + file + `; while :; do sleep 0.02; done`
	g := newGroup(t, 1, spec{Command: []string{"/bin/sh", "-c", script}, OnExit: agent.Resign, Stop: limit, Warden: true, Timing: patient})
	g.start(1)
	steps := func() string {
		text, _ := os.ReadFile(file)
		return string(text)
	}
	g.await("the command runs", func() bool { return steps() != "" })
	stood := rig.Standstill()
	g.run[1].Process.Signal(syscall.SIGTERM)
	<-g.ends[1]
	still := stood()
	g.alone()
	if still > lease { // so that the lease may have lapsed meanwhile
		return
	}
	if got := steps(); got != "begun\ndone\n" || g.run[1].ProcessState.ExitCode() != 0 {
		t.Errorf("%q, exit status %d", got, g.run[1].ProcessState.ExitCode())
	}
	g.told("the member resigned: terminated signal received")
}

func TestHooksRunInOrderAndDoNotDelayTheCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hooks")
	write := func(text string) string { return "echo " + text + " >> " + file }
	g := newGroup(t, 1, spec{
		Command: self("loop"), OnExit: agent.Resign, Stop: limit, Warden: true, Timing: steady(),
		Hooks: agent.Hooks{
			OnLeader:   write("leader $RINGLEADER_TERM") + "; (trap '' TERM; setsid sleep 10000) & trap '' TERM; while :; do sleep 10000; done", // until it is killed
			OnFollower: write("follower"), OnChange: write("change $RINGLEADER_ROLE"), Timeout: 5 * lease,                                       // from when it runs: each has to get as far as its line, also on a machine that stalls
		},
	})
	lines := func() []string {
		text, _ := os.ReadFile(file)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	g.start(1)
	g.works(0, "loop")
	g.await("the hook after one that hangs", func() bool { return slices.Contains(lines(), "change leader") })
	g.await("the log says that a hook was ended", func() bool { // the next hook may be quicker than the pipe of the log
		return g.prints(`msg="a hook was ended: it ran for longer than it may" hook=on-leader timeout=`)
	})
	g.run[1].Process.Signal(syscall.SIGTERM)
	<-g.ends[1]
	got := lines()
	if got[0] == "change electing" { // the view at the start
		got = got[1:]
	}
	if want := []string{"leader 1", "change leader", "follower", "change electing"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	g.alone()
}

func TestAHookSeesTheLastOfTheChangesThatCameWhileAnotherOneRan(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	file := filepath.Join(t.TempDir(), "hooks")
	gate, begun := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "begun")
	s := spec{Command: self("loop"), OnExit: agent.Resign, Warden: true, Timing: steady(), Hooks: agent.Hooks{
		OnLeader: "echo >> " + begun + "; while ! test -e " + gate + "; do sleep 0.01; done", OnChange: "echo $RINGLEADER_TERM $RINGLEADER_ROLE >> " + file, Timeout: time.Hour,
	}}
	g := newGroup(t, 1, s)
	g.start(1)
	g.await("the hook runs", func() bool { // changes before that would have hooks of their own
		_, err := os.Stat(begun)
		return err == nil
	})
	for term := uint64(1); term < 5; { // each end of the command ends a tenure
		last := g.works(now(), "loop")
		if term = last.Term; term < 5 {
			send(last.PID, syscall.SIGKILL)
			g.await("the next term", func() bool { return g.works(now(), "loop").Term > term })
		}
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	g.await("a hook for term 5", func() bool {
		text, _ := os.ReadFile(file)
		lines = strings.Split(strings.TrimSpace(string(text)), "\n")
		return strings.HasSuffix(lines[len(lines)-1], "leader") && lines[len(lines)-1] >= "5"
	})
	if len(lines) > 3 { // the first view, that of the first hook, and the last one
		t.Errorf("the hooks see %q", lines)
	}
}

// The kernel kills the member with its warden, and the command with its keeper.
func TestNoProcessIsLeftIfTheWardenAndTheKeeperAreKilledTogether(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	g := newGroup(t, 1, spec{Command: self("deaf", "loop"), OnExit: agent.Resign, Warden: true})
	g.start(1)
	_, _, member, keeper := g.working()
	send(keeper, syscall.SIGSTOP) // so that nothing but the kernel kills the command
	send(g.run[1].Process.Pid, syscall.SIGKILL)
	g.await("the member ends with its warden", func() bool { return g.parent(member) == 0 })
	send(keeper, syscall.SIGKILL)
	g.alone()
}

// The lease would run for ten minutes, and the command as long.
func TestACommandEndsWithItsMemberAndNotWithTheLease(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	for _, warden := range []bool{false, true} {
		s := spec{Command: self("deaf", "forks", "loop"), OnExit: agent.Resign, Warden: warden, Timing: steady()}
		g := newGroup(t, 1, s)
		g.start(1)
		g.works(0, "loop")
		send(g.run[1].Process.Pid, syscall.SIGKILL) // the warden, or the member
		g.alone()
	}
}
