package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/kernel"
)

// role is the variable by which this binary knows that it is not a test.
const role = "KERNEL_TEST"

func TestMain(m *testing.M) {
	switch as := os.Getenv(role); as {
	case "":
		os.Exit(m.Run())
	case "child":
		fmt.Println(policy())
	case "hurry":
		hurry()
	case "all":
		hurryAll()
	case "reap":
		reap()
	case "retire":
		retire()
	case "reap refused":
		reapRefused()
	default:
		die(as)
	}
}

// die sets kill timers, then runs for ever.
// It tells the moment of each timer before it sets it, since it may be dead right afterwards; when a timer is taken back, it tells that next.
func die(how string) {
	t, err := kernel.NewTimer(syscall.SIGKILL)
	if err != nil {
		panic(err)
	}
	now := clock.System().Boottime
	set := func(at time.Duration) {
		if err := t.Set(at); err != nil {
			panic(err)
		}
	}
	tellAndSet := func(at time.Duration) {
		fmt.Println(int64(at))
		set(at)
	}
	at := now() + 100*time.Millisecond
	switch how {
	case "moved":
		set(now() + time.Hour)
		tellAndSet(at)
	case "over":
		tellAndSet(now() - time.Hour)
	case "never": // and then in time
		tellAndSet(at)
		set(kernel.Never)
		fmt.Println(takenBack)
		for now() < at+100*time.Millisecond {
		}
		tellAndSet(now() + 50*time.Millisecond)
	default:
		tellAndSet(at)
	}
	if how == "stopped" {
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	for { // until it is killed
		now()
	}
}

// takenBack is what a process tells when it has taken its timer back.
const takenBack = "never"

func TestTheKernelKillsAtTheMomentThatWasSetLast(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"set", "moved", "over", "never", "stopped"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var told []string
		for len(told) == 0 || how == "never" && len(told) == 1 { // a host that stands still may let it die before it has taken its timer back
			c := exec.CommandContext(ctx, os.Args[0])
			c.Env = append(os.Environ(), role+"="+how)
			c.Stderr = t.Output()
			out, _ := c.Output() // it is killed
			if ctx.Err() != nil {
				t.Fatalf("%s: it lives a minute after its moment", how)
			}
			if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
				t.Fatalf("%s: it has ended by %v", how, c.ProcessState)
			}
			told = strings.Fields(string(out))
		}
		at, err := strconv.ParseInt(told[len(told)-1], 10, 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", how, told, err)
		}
		if early := time.Duration(at) - clock.System().Boottime(); early > 0 {
			t.Errorf("%s: it has ended %v before its moment", how, early)
		}
	}
}

// A suspension moves CLOCK_BOOTTIME and not CLOCK_MONOTONIC, and so does a namespace of time.
func TestTheKernelKillsAtAMomentThatASuspensionHasMoved(t *testing.T) {
	t.Parallel()
	unshare := needs.Program(t, "unshare", "util-linux")
	arguments := []string{"--time", "--boottime", "100000", "--fork", "--kill-child", os.Args[0]}
	if os.Getuid() != 0 {
		arguments = append([]string{"--user", "--map-root-user"}, arguments...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, unshare, arguments...)
	c.Env = append(os.Environ(), role+"=set")
	out, err := c.Output()
	if len(out) == 0 {
		t.Skipf("no namespace of time: %v", err)
	}
	if ctx.Err() != nil {
		t.Error("it lives a minute after its moment")
	}
}

// policy returns the policies of scheduling of all threads of this process, each once.
func policy() string {
	found := map[string]bool{}
	all, _ := filepath.Glob("/proc/self/task/*/stat")
	for _, name := range all {
		stat, err := os.ReadFile(name)
		if err != nil { // the thread has ended
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		found[fields[38]] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), " and ")
}

// hurry tells the policies of a process that a hurrying thread starts, of one that it starts when it hurries alone, and of itself.
func hurry() {
	runtime.LockOSThread()
	if err := kernel.Hurry(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(run("child"))
	if err := kernel.HurryAlone(); err != nil {
		panic(err)
	}
	fmt.Print(run("child"))
	fmt.Println(own() &^ resetOnFork)
}

// resetOnFork is the flag SCHED_RESET_ON_FORK.
const resetOnFork = 1 << 30

// own is the policy of the calling thread.
func own() uintptr {
	policy, _, _ := syscall.Syscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
	return policy
}

// reap reaps a child that runs before others, and one that does not. It tells the policies of the thread that does so, and then of its own.
func reap() {
	runtime.LockOSThread()
	for _, begin := range []func() error{kernel.Hurry, kernel.HurryAlone} {
		if err := begin(); err != nil {
			fmt.Println(err)
			return
		}
		reapOne()
	}
}

func reapOne() {
	child, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "exit 7"}, nil)
	if err != nil {
		panic(err)
	}
	*kernel.Reaps = func() { fmt.Print(own()&^resetOnFork, " ") }
	var status syscall.WaitStatus
	if pid, err := kernel.Wait(-1, &status, 0); pid != child || err != nil || status.ExitStatus() != 7 {
		fmt.Printf("process %d, %v, status %d; ", pid, err, status.ExitStatus())
	}
	fmt.Println(own())
}

// reapRefused does so for an ordinary child, in a process that runs before others and would not be allowed to do so again.
func reapRefused() {
	const limitOfPriority = 14 // RLIMIT_RTPRIO
	runtime.LockOSThread()
	if err := kernel.HurryAlone(); err != nil {
		panic(err)
	}
	for _, drop := range []error{syscall.Setrlimit(limitOfPriority, &syscall.Rlimit{}), syscall.Setuid(nobody)} {
		if drop != nil {
			panic(drop)
		}
	}
	if kernel.Hurry() == nil {
		fmt.Print("it is allowed: ")
	}
	reapOne()
}

// retire tells the policies of this process when it retires as a user without privileges.
func retire() {
	hurried, done := make(chan error), make(chan struct{})
	defer close(done)
	go func() {
		runtime.LockOSThread()
		hurried <- kernel.HurryAlone()
		<-done
	}()
	if err := errors.Join(<-hurried, kernel.HurryAll()); err != nil {
		fmt.Println("cannot begin:", err)
		return
	}
	if err := errors.Join(syscall.Setuid(nobody), kernel.Retire()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(policy())
}

// nobody is a user without privileges.
const nobody = 65534

// hurryAll tells the policies of this process when all threads hurry, those of a process that it starts, and its own when all but a thread that
// hurries by itself do no more.
func hurryAll() {
	hurried, done := make(chan error), make(chan struct{})
	defer close(done)
	go func() {
		runtime.LockOSThread()
		hurried <- kernel.Hurry()
		<-done
	}()
	if err := <-hurried; err != nil {
		fmt.Println(err)
		return
	}
	if err := kernel.HurryAll(); err != nil {
		panic(err)
	}
	fmt.Println(policy())
	fmt.Print(run("child"))
	if err := kernel.RelaxAll(); err != nil {
		panic(err)
	}
	fmt.Println(policy())
}

// run runs this binary in a role, and returns what it prints.
func run(as string) string {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), role+"="+as)
	out, err := c.Output()
	if err != nil {
		panic(err)
	}
	return string(out)
}

func TestAThreadHurriesWithWhatItStartsOrAlone(t *testing.T) {
	t.Parallel()
	switch got := run("hurry"); {
	case strings.Contains(got, "not permitted") && os.Getenv("CI") != "true":
		t.Skip(got)
	case got != "2\n0\n2\n":
		t.Errorf("the policies are %q; SCHED_RR is 2", got)
	}
}

func TestAllThreadsHurryUntilTheyRelaxButForThoseThatHurryThemselves(t *testing.T) {
	t.Parallel()
	switch got := run("all"); {
	case strings.Contains(got, "not permitted") && os.Getenv("CI") != "true":
		t.Skip(got)
	case got != "2\n2\n0 and 2\n":
		t.Errorf("the policies are %q; SCHED_RR is 2", got)
	}
}

// A thread that runs before others and reaps an ordinary process may keep its processor from that for a second.
func TestAnOrdinaryProcessIsReapedByAnOrdinaryThread(t *testing.T) {
	t.Parallel()
	switch got, want := run("reap"), fmt.Sprintf("2 2\n0 %d\n", 2|resetOnFork); {
	case strings.Contains(got, "not permitted") && os.Getenv("CI") != "true":
		t.Skip(got)
	case got != want:
		t.Errorf("the policies are %q, want %q; SCHED_RR is 2", got, want)
	}
	if os.Getuid() != 0 {
		needs.Missing(t, "another user without privileges: only root may change to one")
	}
	if got, want := run("reap refused"), fmt.Sprintf("0 %d\n", 2|resetOnFork); got != want {
		t.Errorf("where a thread may not run before others again, the policies are %q, want %q", got, want)
	}
}

// Only root may take back that what a thread starts runs as ordinary processes do.
func TestAProcessWithoutPrivilegesRetires(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		needs.Missing(t, "another user without privileges: only root may change to one")
	}
	switch got := run("retire"); {
	case strings.Contains(got, "cannot begin") && os.Getenv("CI") != "true":
		t.Skip(got)
	case got != "0\n":
		t.Errorf("the policies are %q, want that of ordinary processes, 0", got)
	}
}

// A child that is stopped, goes on and ends tells each of these once.
func TestWaitTellsWhatWait4Would(t *testing.T) {
	c := exec.Command("sh", "-c", "kill -STOP $$; read line; exit 7") // its end would hide that it goes on
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	child, options := c.Process.Pid, syscall.WUNTRACED|syscall.WCONTINUED
	for _, step := range []struct {
		name  string
		holds func(syscall.WaitStatus) bool
		next  func() error
	}{
		{"stopped", syscall.WaitStatus.Stopped, func() error { return syscall.Kill(child, syscall.SIGCONT) }},
		{"continued", syscall.WaitStatus.Continued, input.Close},
		{"ended by itself", func(s syscall.WaitStatus) bool { return s.ExitStatus() == 7 }, nil},
	} {
		var status syscall.WaitStatus
		if pid, err := kernel.Wait(child, &status, options); pid != child || err != nil || !step.holds(status) {
			t.Fatalf("process %d, status %x, %v; want that %d has %s", pid, status, err, child, step.name)
		}
		if step.next == nil {
			continue
		}
		if pid, err := kernel.Wait(child, nil, options|syscall.WNOHANG); pid != 0 || err != nil {
			t.Errorf("process %d, %v; that it has %s is known", pid, err, step.name)
		}
		if err := step.next(); err != nil {
			t.Fatal(err)
		}
	}
	if pid, err := kernel.Wait(child, nil, 0); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("process %d, %v after it was reaped; want %v", pid, err, syscall.ECHILD)
	}
}

func TestAProcessKnowsForHowLongItHadAProcessor(t *testing.T) {
	before := kernel.Used()
	for kernel.Used() == before { // for ever, if it does not know
	}
}

func TestSharedNumbersAreSeenByAllWhoMapThem(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "numbers")
	a, err := kernel.Share(file, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, err := kernel.Share(file, 3)
	if err != nil {
		t.Fatal(err)
	}
	a[2] = 7
	if b[2] != 7 || len(b) != 3 {
		t.Errorf("%v and %v", a, b)
	}
}

func TestAChildThatHasEndedIsAwaitedAndNotReaped(t *testing.T) {
	c := exec.Command("sh", "-c", "exit 7")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for { // other tests have children, too
		pid, err := kernel.AwaitChild()
		if err != nil {
			t.Fatal(err)
		}
		if pid == c.Process.Pid {
			break
		}
		runtime.Gosched()
	}
	if !kernel.Ended(c.Process.Pid) {
		t.Error("it runs")
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != 7 {
		t.Errorf("its status is lost: %v", err)
	}
}
