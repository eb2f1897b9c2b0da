//go:build unix

package trials

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/demo"
	"ringleader.example/ringleader/internal/show/report"
)

// demoEvent is a line of demo --json about a change.
type demoEvent = demo.Event

// demoEventOrSummary is any line of demo --json.
type demoEventOrSummary struct {
	demoEvent
	Held   bool         `json:"held"`
	Faults []demo.Fault `json:"faults"`

	TwoLeaders   int     `json:"two_leaders"`
	TwoLeadersMS float64 `json:"two_leaders_ms"`
	CutLeadersMS float64 `json:"cut_leaders_ms"`
}

// runningDemo is a demo in a process of its own.
type runningDemo struct {
	*exec.Cmd
	stdin   io.WriteCloser
	events  chan demoEventOrSummary // closed at the end of its output
	seen    []demoEventOrSummary
	members map[uint64]demoEvent // as started last
	pids    map[uint64]int       // of the members themselves, not of their wardens
	all     []int                // all processes
	folder  string               // of temporary files
}

func startDemo(t *testing.T, flags ...string) *runningDemo {
	t.Helper()
	return newDemo(t, append([]string{"ringleader", "demo", "--json"}, flags...)...)
}

// newDemo starts the demo that a command line is.
func newDemo(t *testing.T, line ...string) *runningDemo {
	t.Helper()
	d := &runningDemo{
		Cmd:    exec.Command(line[0], line[1:]...),
		events: make(chan demoEventOrSummary, 1000), members: map[uint64]demoEvent{}, pids: map[uint64]int{}, folder: t.TempDir(),
	}
	d.Env = append(os.Environ(), "TMPDIR="+d.folder)
	d.Stderr = t.Output()
	var err error
	if d.stdin, err = d.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := d.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Process.Kill()
		d.Wait() // for all that have its standard error
	})
	go func() {
		defer close(d.events)
		for lines := json.NewDecoder(stdout); ; {
			var e demoEventOrSummary
			if lines.Decode(&e) != nil {
				return
			}
			d.events <- e
		}
	}()
	return d
}

// await reads events until one is as wanted.
func (d *runningDemo) await(t *testing.T, what string, wanted func(demoEventOrSummary) bool) demoEventOrSummary {
	t.Helper()
	late := time.After(clitest.Limit)
	for {
		select {
		case e, more := <-d.events:
			if !more {
				t.Fatalf("the demo ended before: %s; it said %+v", what, d.seen)
			}
			d.seen = append(d.seen, e)
			switch e.Event {
			case "started":
				d.members[e.ID] = e.demoEvent
				d.all = append(d.all, e.PID)
			case "running":
				d.pids[e.ID] = e.PID
				d.all = append(d.all, e.PID)
			}
			if wanted(e) {
				return e
			}
		case <-late:
			t.Fatalf("not within %s: %s; the demo said %+v", clitest.Limit, what, d.seen)
		}
	}
}

// awaitAgreement returns the leader on which so many members agree.
func (d *runningDemo) awaitAgreement(t *testing.T, members int) (leader uint64) {
	t.Helper()
	return d.await(t, fmt.Sprintf("%d members agree", members), func(e demoEventOrSummary) bool {
		return e.Event == "agreed" && len(e.Members) == members
	}).Leader
}

// leader returns the leader of the greatest term, as far as the events were read.
func (d *runningDemo) leader() (id uint64) {
	term := uint64(0)
	for _, e := range d.seen {
		if e.Event == "role" && e.Role == ringleader.Leader && e.Term > term {
			id, term = e.ID, e.Term
		}
	}
	return id
}

// end waits for the end of the demo, and returns its exit status, -1 if a signal ended it.
func (d *runningDemo) end(t *testing.T) int {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- d.Wait() }()
	select {
	case err := <-ended:
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(clitest.Limit):
		t.Fatalf("the demo has not ended within %s", clitest.Limit)
	}
	return d.ProcessState.ExitCode()
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) // without /proc there is no telling
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func (d *runningDemo) noneIsLeft(t *testing.T) {
	t.Helper()
	clitest.Eventually(t, func() error {
		for _, pid := range d.all {
			if alive(pid) {
				return fmt.Errorf("process %d is alive", pid)
			}
		}
		return nil
	})
}

func TestScenarioCrashElectsFailsOverAndRecoversAmongFiveProcesses(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--scenario", "crash")
	d.awaitAgreement(t, 5)
	pids := map[int]bool{}
	for _, m := range d.members {
		pids[m.PID] = true
	}
	if len(pids) != 5 {
		t.Errorf("%d process ids, want 5: %+v", len(pids), d.members)
	}
	killed := d.await(t, "the leader is killed", func(e demoEventOrSummary) bool { return e.Event == "killed" })
	first, crashed := killed.ID, d.pids[killed.ID]
	if leader := d.leader(); killed.PID != crashed || first != leader {
		t.Errorf("process %d of %d is killed, and the leader is %d, with process %d", killed.PID, first, leader, crashed)
	}
	if second := d.awaitAgreement(t, 4); second == first {
		t.Errorf("%d leads although it was killed", second)
	}
	d.await(t, "it runs again", func(e demoEventOrSummary) bool {
		return e.Event == "running" && e.ID == first && e.PID != crashed
	})
	d.awaitAgreement(t, 5)
	d.ends(t, func(s demoEventOrSummary) bool { return len(s.Faults) == 3 })
	d.noneIsLeft(t)
	if left, err := os.ReadDir(d.folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestALeaderThatIsCutOffLeadsNoMoreWhenTheOthersElect(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--scenario", "partition")
	d.awaitAgreement(t, 5)
	cut := d.await(t, "the leader is cut off", func(e demoEventOrSummary) bool { return e.Event == "cut" })
	first := d.leader()
	if !strings.HasPrefix(cut.How, fmt.Sprintf("%d | ", first)) {
		t.Errorf("the cut is %s, and the leader is %d", cut.How, first)
	}
	if second := d.awaitAgreement(t, 4); second == first {
		t.Errorf("%d leads though a majority does not reach it", second)
	}
	d.awaitAgreement(t, 5)
	d.ends(t, func(s demoEventOrSummary) bool { return s.TwoLeaders == 0 })
}

func TestBullyHasTwoLeadersInAPartition(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--scenario", "partition", "--algorithm", "bully", "--members", "3")
	d.awaitAgreement(t, 3)
	for _, event := range []string{"cut", "two leaders"} { // at the latest when they agree again
		d.await(t, event, func(e demoEventOrSummary) bool { return e.Event == event })
	}
	d.bullyEnds(t, func(s demoEventOrSummary) bool { return s.CutLeadersMS > 0 })
}

// ends waits for the end of a demo that has passed, whose summary is as wanted.
func (d *runningDemo) ends(t *testing.T, wanted func(demoEventOrSummary) bool) {
	t.Helper()
	summary := d.await(t, "the summary", func(e demoEventOrSummary) bool { return e.Event == "summary" })
	if code := d.end(t); code != report.ExitFine || !summary.Held || !wanted(summary) {
		t.Errorf("exit status %d, summary %+v", code, summary)
	}
}

// bullyEnds waits for the end of a demo of Bully, whose summary is as wanted. Without leases there may be two leaders, for as long as a member gets no
// processor: the exit status tells whether that was too long.
func (d *runningDemo) bullyEnds(t *testing.T, wanted func(demoEventOrSummary) bool) {
	t.Helper()
	const suspicion = 400 // ms
	summary := d.await(t, "the summary", func(e demoEventOrSummary) bool { return e.Event == "summary" })
	held := summary.TwoLeadersMS <= suspicion
	if code := d.end(t); summary.Held != held || (code == report.ExitFine) != held || !wanted(summary) {
		t.Errorf("exit status %d, summary %+v", code, summary)
	}
}

func TestTheLeadIsHandedOverAndLaidDown(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--members", "3")
	leader := d.awaitAgreement(t, 3)
	heir := leader%3 + 1
	for leader != heir { // on a machine that stalls, another one may be quicker, and each may lead by chance
		fmt.Fprintf(d.stdin, "transfer %d\n", heir)
		leader = d.awaitAgreement(t, 3)
	}
	for leader == heir {
		fmt.Fprintln(d.stdin, "resign")
		leader = d.awaitAgreement(t, 3)
	}
	d.stdin.Close()
	if code := d.end(t); code != report.ExitFine {
		t.Errorf("exit status %d", code)
	}
}

func TestNoProcessOutlivesTheDemoHoweverItEndsAndWhateverIsPaused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, report.ExitFine}, {syscall.SIGHUP, report.ExitFine}, {syscall.SIGTERM, report.ExitFine}, {syscall.SIGKILL, -1}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			d := startDemo(t, "--members", "3")
			d.awaitAgreement(t, 3)
			fmt.Fprintln(d.stdin, "pause 3")
			d.await(t, "3 is paused", func(e demoEventOrSummary) bool { return e.Event == "paused" })
			d.await(t, "the others agree", func(e demoEventOrSummary) bool { return e.Event == "agreed" })
			if c.signal == syscall.SIGKILL && !deathSignal {
				syscall.Kill(d.pids[3], syscall.SIGCONT)
			}
			if err := d.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if code := d.end(t); code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			d.noneIsLeft(t)
		})
	}
}

func TestADemoUnderNohupOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	d := newDemo(t, "sh", "-c", `trap "" HUP; exec "$@"`, "nohup", "ringleader", "demo", "--json", "--members", "3")
	d.awaitAgreement(t, 3)
	if err := d.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(d.stdin, "kill leader")
	d.awaitAgreement(t, 2)
	d.stdin.Close()
	if code := d.end(t); code != report.ExitFine {
		t.Errorf("exit status %d", code)
	}
}

func TestCommandsFromAPipeAreCarriedOutOneByOneAndTheDemoEndsWithThem(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--members", "3")
	io.WriteString(d.stdin, "kill 3\nkill 2\nstart 2\n")
	d.stdin.Close()
	for _, members := range []int{3, 2, 0, 2} { // one of three leads not
		d.awaitAgreement(t, members)
	}
	if code := d.end(t); code != report.ExitFine {
		t.Errorf("exit status %d", code)
	}
}

// A lease file that the shell names is that of another group.
func TestADemoObeysNoSettingsOfTheShell(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lease")
	d := newDemo(t, "env", "RINGLEADER_LEASE_FILE="+file, "ringleader", "demo", "--json", "--members", "1")
	d.awaitAgreement(t, 1)
	io.WriteString(d.stdin, "heal\n")
	d.stdin.Close()
	if code := d.end(t); code != report.ExitFine {
		t.Errorf("exit status %d", code)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a member of the demo has written the lease file of another group")
	}
}

func TestACommandFromAPipeThatMakesNoSenseIsAWrongCall(t *testing.T) {
	t.Parallel()
	for command, says := range map[string]string{
		"kil 1":   `unknown command "kil"; choose one of kill, pause, resume, start, restart`,
		"kill 2":  "kill wants one member from 1 to 1",
		"start 1": "cannot start 1, it is running",
	} {
		d := exec.Command("ringleader", "demo", "--members", "1")
		d.Stdin = strings.NewReader(command)
		var stderr strings.Builder
		d.Stderr = &stderr
		err := d.Run()
		if d.ProcessState.ExitCode() != report.ExitUsage || !strings.HasPrefix(stderr.String(), "ringleader: "+says) {
			t.Errorf("%s: %v, stderr %q, want %q", command, err, stderr.String(), says)
		}
	}
}

func TestAMemberThatIsKilledFromElsewhereIsNoticed(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--members", "3")
	first := d.awaitAgreement(t, 3)
	for _, c := range []struct {
		signal  syscall.Signal
		event   string
		members int
	}{{syscall.SIGSTOP, "paused", 2}, {syscall.SIGCONT, "resumed", 3}, {syscall.SIGKILL, "ended", 2}} {
		if err := syscall.Kill(d.pids[first], c.signal); err != nil {
			t.Fatal(err)
		}
		d.await(t, "it is "+c.event, func(e demoEventOrSummary) bool { return e.Event == c.event && e.ID == first })
		d.awaitAgreement(t, c.members)
	}
	fmt.Fprintln(d.stdin, "quit")
	if code := d.end(t); code != report.ExitFine {
		t.Errorf("exit status %d", code)
	}
}

// condition is a test's knowledge of a member's process.
type condition int

const (
	running condition = iota
	paused
	ended
)

// conditions are a test's knowledge of the members of a demo, by identifier.
type conditions map[uint64]condition

// fault is a seeded choice of a command that makes sense, such that at least one member is always running.
func (c conditions) fault(random *rand.Rand) string {
	for {
		id := 1 + random.Uint64N(uint64(len(c)))
		others := slices.ContainsFunc(c.ids(), func(other uint64) bool { return other != id && c[other] == running })
		switch was, kill := c[id], random.IntN(2) == 0; {
		case was == ended:
			c[id] = running
			return fmt.Sprintf("start %d", id)
		case was == paused && !kill:
			c[id] = running
			return fmt.Sprintf("resume %d", id)
		case kill && others:
			c[id] = ended
			return fmt.Sprintf("kill %d", id)
		case was == running && others:
			c[id] = paused
			return fmt.Sprintf("pause %d", id)
		}
	}
}

func (c conditions) ids() (ids []uint64) {
	for id := range uint64(len(c)) {
		ids = append(ids, id+1)
	}
	return ids
}

// agreed asks all running members over HTTP: with Bully the highest leads, with quorum-bully one, if a majority runs, and
// the others follow it.
func (c conditions) agreed(d *runningDemo, a ringleader.Algorithm) error {
	var leader uint64
	runs := 0
	statuses := map[uint64]ringleader.Status{}
	for _, id := range c.ids() {
		if c[id] != running {
			continue
		}
		runs++
		s, err := d.status(id)
		if err != nil {
			return err
		}
		statuses[id] = s
		if a == ringleader.Bully || s.Role == ringleader.Leader {
			leader = id
		}
	}
	if a == ringleader.QuorumBully && (2*runs > len(c)) != (leader != 0) {
		return fmt.Errorf("%d members run, and the leader is %d", runs, leader)
	}
	for id, s := range statuses {
		role, follows := ringleader.Follower, uint64(0)
		switch {
		case leader == 0:
			role = ringleader.Electing
		case leader == id:
			role = ringleader.Leader
		}
		if s.Leader != nil {
			follows = *s.Leader
		}
		if s.ID != id || s.Role != role || follows != leader || s.Quorum != (leader != 0 && a == ringleader.QuorumBully) {
			return fmt.Errorf("%d says %+v; want %s of %d", id, s, role, leader)
		}
	}
	return nil
}

// status asks a member over HTTP for its status, and whether it leads.
func (d *runningDemo) status(id uint64) (status ringleader.Status, err error) {
	client := http.Client{Timeout: clitest.Limit}
	for _, path := range []string{"/leader", "/status"} {
		answer, err := client.Get("http://" + d.members[id].HTTP + path)
		if err != nil {
			return status, err
		}
		err = json.NewDecoder(answer.Body).Decode(&status)
		answer.Body.Close()
		want := http.StatusOK
		if path == "/leader" && status.Role != ringleader.Leader {
			want = http.StatusServiceUnavailable
		}
		if err != nil || answer.StatusCode != want {
			return status, fmt.Errorf("%s of %d: %s, %+v, %v", path, id, answer.Status, status, err)
		}
	}
	return status, nil
}

func TestTenFaultsInARowEndInAgreement(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []ringleader.Algorithm{ringleader.QuorumBully, ringleader.Bully} {
		t.Run(string(algorithm), func(t *testing.T) {
			t.Parallel()
			const seed = 9 // all kinds of faults are among the ten
			random := rand.New(rand.NewPCG(seed, 0))
			d := startDemo(t, "--algorithm", string(algorithm))
			d.awaitAgreement(t, 5)
			state := conditions{1: running, 2: running, 3: running, 4: running, 5: running}
			agree := func() error { return state.agreed(d, algorithm) }
			clitest.Eventually(t, agree)
			for i := range 10 {
				command := state.fault(random)
				t.Logf("fault %d: %s", i+1, command)
				fmt.Fprintln(d.stdin, command)
				verb, _, _ := strings.Cut(command, " ")
				done := map[string]string{"kill": "killed", "pause": "paused", "resume": "resumed", "start": "started"}[verb]
				d.await(t, done, func(e demoEventOrSummary) bool { return e.Event == done })
				clitest.Eventually(t, agree)
			}
			fmt.Fprintln(d.stdin, "quit")
			all := func(s demoEventOrSummary) bool { return len(s.Faults) == 11 }
			if algorithm == ringleader.Bully {
				d.bullyEnds(t, all)
			} else {
				d.ends(t, all)
			}
			d.noneIsLeft(t)
		})
	}
}
