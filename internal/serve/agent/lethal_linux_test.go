package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/warden"
)

// deafShells are shells that ignore SIGTERM, the second in a session of its own. They write their process numbers to a pipe, which ends with the
// last of them.
type deafShells struct {
	t     *testing.T
	beats string
	lines *bufio.Scanner

	lethal *lethal
}

func newDeafShells(t *testing.T) *deafShells {
	if testing.Short() {
		t.Skip("starts processes")
	}
	NeedNamespaces(t)
	runtime.LockOSThread() // a first process is told to end at the end of the thread that started it
	s := &deafShells{t: t, beats: filepath.Join(t.TempDir(), "beats")}
	if err := syscall.Mkfifo(s.beats, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *deafShells) command() []string {
	const loop = "trap '' TERM; echo $$; while :; do sleep 0.01; done"
	return []string{"/bin/sh", "-c", "exec >" + s.beats + "; setsid sh -c \"" + strings.ReplaceAll(loop, "$", "\\$") + "\" & " + loop}
}

// begin waits until both run.
func (s *deafShells) begin() {
	s.t.Helper()
	pipe, err := os.Open(s.beats)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { pipe.Close() })
	s.lines = bufio.NewScanner(pipe)
	for range 2 {
		if !s.lines.Scan() {
			s.t.Fatal("the command does not begin")
		}
		if n, err := strconv.Atoi(s.lines.Text()); err != nil || n < 2 {
			s.t.Fatalf("%q is no process of a namespace", s.lines.Text())
		}
	}
}

// idle waits until a process has nothing to do: no thread of it runs in several looks, since one may wake another between two.
func idle(pid int) {
	for looks := 0; looks < 5; runtime.Gosched() {
		looks++
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, thread := range threads {
			stat, _ := os.ReadFile(thread)
			if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "R") || strings.HasPrefix(state, "D") {
				looks = 0
			}
		}
	}
}

// end waits until no process has the pipe, and checks that the first process killed the others, and was not killed itself.
func (s *deafShells) end(first int) (at time.Duration) {
	s.t.Helper()
	at, itself := s.await(first)
	if !itself {
		s.t.Error("the first process was killed")
	}
	return at
}

// await waits until no process has the pipe. It reports whether the first process has ended by itself, as one whose command was killed. One
// that does nothing is killed after a time.
func (s *deafShells) await(first int) (at time.Duration, itself bool) {
	s.t.Helper()
	patience := time.AfterFunc(time.Minute, func() { syscall.Kill(first, syscall.SIGKILL) })
	defer patience.Stop()
	for s.lines.Scan() {
	}
	at = now()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(first, &status, 0, nil); err != nil {
		s.t.Fatal(err)
	}
	return at, status.ExitStatus() == exitKilled
}

// plant starts them with an order, and without a keeper, so in a process without a kill timer.
func (s *deafShells) plant(o *order) *tree {
	s.t.Helper()
	if s.lethal = newLethal(); s.lethal == nil {
		s.t.Fatal("there is no memory to share")
	}
	s.lethal.set(o)
	begin, err := post{means: Namespace}.prepare(s.command(), s.lethal)
	if err != nil {
		s.t.Fatal(err)
	}
	tree, err := begin(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.begin()
	return tree
}

// anHour is an order that is far away.
func anHour() order {
	return order{Stop: now() + time.Hour, Kill: now() + time.Hour, Dead: now() + time.Hour}
}

func TestTheFirstProcessOfANamespaceKillsTheOthersByItself(t *testing.T) {
	s := newDeafShells(t)
	o := anHour()
	tree := s.plant(&o)
	o.Kill = now() + 50*time.Millisecond
	s.lethal.set(&o)
	if at := s.end(tree.first); at < o.Kill {
		t.Errorf("they end %v early", o.Kill-at)
	}
}

// A first process that is stopped cannot look at the moment by itself: a timer of the kernel lets it go on then.
func TestAFirstProcessThatIsStoppedKillsTheOthersAtTheMoment(t *testing.T) {
	s := newDeafShells(t)
	for most := look / 2; ; most *= 2 { // a host may be so slow that the moment comes before the stop
		o := anHour()
		tree := s.plant(&o)
		idle(tree.first)
		o.Kill = now() + most
		s.lethal.set(&o)
		syscall.Kill(tree.first, syscall.SIGCONT) // it looks at the moment
		idle(tree.first)
		syscall.Kill(tree.first, syscall.SIGSTOP)
		inTime := now() < o.Kill
		if at := s.end(tree.first); at < o.Kill {
			t.Errorf("they end %v early", o.Kill-at)
		}
		if inTime {
			return
		}
	}
}

// SIGKILL to the first process ends the others only when the last of its threads has ended. On a busy host it comes before the first process
// has done what it was told.
func TestAFirstProcessIsToldToKillTheOthersBeforeItIsKilled(t *testing.T) {
	s := newDeafShells(t)
	for range 100 {
		o := anHour()
		tree := s.plant(&o)
		warden.KillChildren(func(pid int) bool { return pid != tree.first })
		if _, itself := s.await(tree.first); itself {
			return
		}
	}
	t.Error("the first process was killed")
}

func TestTheFirstProcessKillsTheOthersWhenItsKeeperIsKilled(t *testing.T) {
	s := newDeafShells(t)
	orders, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	keeper := exec.Command(os.Args[0])
	keeper.Args = post{means: Namespace}.arguments(keeperRole, s.command())
	keeper.ExtraFiles, keeper.Stderr = []*os.File{orders}, os.Stderr
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	orders.Close()
	for _, line := range []any{[]string(nil), anHour()} { // the variables of its environment, and its order
		if err := json.NewEncoder(ours).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	s.begin()
	var first int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", keeper.Process.Pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		fmt.Sscan(string(text), &first)
	}
	if err := keeper.Process.Kill(); err != nil || first == 0 {
		t.Fatal(err, first)
	}
	keeper.Wait() // the first process is a child of this one now
	s.end(first)
}

func TestEmptyControlGroupsOfDeadProcessesAreRemoved(t *testing.T) {
	parent, err := warden.NewGroup(fmt.Sprintf("sweep-%d", os.Getpid()))
	if err != nil { // folders have no processes, and are as empty
		parent = t.TempDir()
	} else {
		defer func() {
			if err := warden.KillGroup(parent); err != nil {
				t.Error(err)
			}
		}()
	}
	hour := time.Now().Add(-time.Hour)
	add := func(name string, made time.Time) string {
		group := filepath.Join(parent, name)
		if err := errors.Join(os.Mkdir(group, 0o755), os.Chtimes(group, made, made)); err != nil {
			t.Fatal(err)
		}
		return group
	}
	add("ringleader-17-trial", hour)
	add("ringleader-17-2", hour)
	want := []string{add("ringleader-17-3", time.Now()), add("of-another-program", hour)}
	if err == nil {
		busy := add("ringleader-17-4", hour)
		group, err := os.Open(busy)
		if err != nil {
			t.Fatal(err)
		}
		defer group.Close()
		sleeper := exec.Command("sleep", "600")
		sleeper.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
		if err := sleeper.Start(); err != nil {
			t.Fatal(err)
		}
		defer sleeper.Wait()
		defer sleeper.Process.Kill()
		want = append(want, busy)
	}
	sweep(parent, time.Now().Add(-time.Minute))
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		if entry.IsDir() {
			left = append(left, filepath.Join(parent, entry.Name()))
		}
	}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("%q are left, and %q are wanted", left, want)
	}
}
