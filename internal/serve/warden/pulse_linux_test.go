package warden

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// A watcher with one pulse, and a time that passes from look to look.
type watched struct {
	watcher
	now  time.Duration
	kept bool
}

func newWatched() *watched {
	w := &watched{watcher: watcher{memory: make([]int64, 4), seen: map[int]*silence{}}, now: time.Hour}
	w.program = func() func() bool { return func() bool { return w.kept } }
	return w
}

func (w *watched) beats()                   { w.memory[2] = int64(w.now) }
func (w *watched) watch(most time.Duration) { w.memory[3] = int64(most) }

// silence looks until the silence is too long, or for a number of looks. Each comes as late as late.
func (w *watched) silence(most int, late time.Duration) (n int, silent time.Duration) {
	for n = range most {
		var next time.Duration
		if next, silent = w.look(w.now); silent > 0 || next == kernel.Never {
			return n, silent
		}
		w.now += next + late
	}
	return most, 0
}

func TestALeaderIsSilentForAsLongAsItMayBe(t *testing.T) {
	const most = 60 * time.Millisecond
	w := newWatched()
	if n, silent := w.silence(100, 0); n > 0 || silent > 0 {
		t.Errorf("one that does not lead is looked at, and killed at look %d after %v", n, silent)
	}
	w.watch(most)
	for range 50 {
		w.beats()
		if n, silent := w.silence(looks, 0); silent > 0 {
			t.Errorf("one that beats is killed at look %d after %v", n, silent)
		}
	}
	w.beats()
	if n, silent := w.silence(100, 0); n != looks || silent != most {
		t.Errorf("it is killed at look %d after %v", n, silent)
	}
	w.beats()
	w.look(w.now)
	w.now += time.Hour // the host stood still
	if n, silent := w.silence(100, 0); n != looks-1 || silent < time.Hour {
		t.Errorf("after a pause of all it is killed at look %d after %v", n, silent)
	}
	w.beats()
	w.kept = true
	if n, silent := w.silence(100, time.Millisecond); silent > 0 {
		t.Errorf("one that gets no processor is killed at look %d after %v", n, silent)
	}
	w.kept = false
	if n, _ := w.silence(100, 0); n > looks/2 {
		t.Errorf("when it gets one it is killed at look %d", n)
	}
	w.beats()
	for n := range 100 { // a busy host
		w.kept = n%2 == 0
		if _, silent := w.silence(1, 0); silent > 0 {
			t.Fatalf("one that gets a processor now and then is killed at look %d", n)
		}
	}
	w.watch(0)
	if n, silent := w.silence(100, 0); n > 0 || silent > 0 {
		t.Errorf("one that leads no more is looked at, and killed at look %d after %v", n, silent)
	}
}

func TestPulsesAreUsedAgain(t *testing.T) {
	withPulses(t, 2)
	a, b := NewPulse(), NewPulse()
	if a == nil || b == nil || NewPulse() != nil {
		t.Fatal("two pulses have room, and a third one has none")
	}
	a.Watch(time.Hour)
	a.Close()
	if c := NewPulse(); c == nil || c.last != a.last || *c.most != 0 {
		t.Error("a pulse that was closed has no successor")
	}
}

// withPulses gives this process what a warden shares with it.
func withPulses(t *testing.T, n int) {
	t.Helper()
	alarm, err := kernel.NewAlarm()
	if err != nil {
		t.Fatal(err)
	}
	pulses.memory, pulses.alarm = make([]int64, 2*n), alarm
	t.Cleanup(func() {
		syscall.Close(int(alarm.Descriptor))
		pulses.memory, pulses.alarm, pulses.taken, pulses.free = nil, nil, 0, nil
	})
}

// untilAlarm returns the time until the alarm goes off.
func untilAlarm(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", pulses.alarm.Descriptor))
	if err != nil {
		t.Fatal(err)
	}
	var seconds, nanoseconds time.Duration
	_, value, _ := strings.Cut(string(text), "it_value: ")
	if _, err := fmt.Sscanf(value, "(%d, %d)", &seconds, &nanoseconds); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return seconds*time.Second + nanoseconds
}

// A warden sleeps while the only member that leads works, and else looks.
func TestAPulsePostponesTheAlarmIfNoOtherOneIsWatched(t *testing.T) {
	withPulses(t, 2)
	const most = time.Hour
	beats := func(p *Pulse) (postponed bool) {
		t.Helper()
		p.postponed = 0 // long ago
		if err := pulses.alarm.Set(2 * most); err != nil {
			t.Fatal(err)
		}
		p.Beat()
		left := untilAlarm(t)
		return left > most/3 && left <= most/beating
	}
	a, b := NewPulse(), NewPulse()
	if beats(a) {
		t.Error("one that is not watched postpones the alarm")
	}
	a.Watch(most)
	if left := untilAlarm(t); left > most/beating {
		t.Errorf("one that is watched from now on wakes the warden after %v", left)
	}
	if !beats(a) {
		t.Error("the only one that is watched does not postpone the alarm")
	}
	a.Beat()
	if first := a.postponed; first == 0 {
		t.Error("it does not know when it has postponed the alarm")
	} else if a.Beat(); a.postponed != first {
		t.Error("it postpones the alarm with each beat")
	}
	if err := pulses.alarm.Set(2 * most); err != nil {
		t.Fatal(err)
	}
	b.Watch(most)
	if left := untilAlarm(t); left > most/beating {
		t.Errorf("a second one that is watched wakes the warden after %v", left)
	}
	b.Watch(most) // it is counted once
	if beats(a) || beats(b) {
		t.Error("one postpones the alarm for two")
	}
	a.Close()
	a = NewPulse()
	if !beats(b) || beats(a) {
		t.Error("the one that is left does not postpone the alarm, or the other one does")
	}
	b.Close()
	if n := pulses.watched.Load(); n != 0 {
		t.Errorf("%d are watched", n)
	}
}

// Policies of sched_setscheduler(2): one that runs before all others, and one that runs when no other does.
const (
	roundRobin = 2
	whenIdle   = 5
)

// busy starts a process that runs for ever on the first processor of this one, by a policy.
func busy(t *testing.T, policy uintptr) *exec.Cmd {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one [128]byte
	affinity := func(call uintptr, mask *[128]byte) {
		if _, _, errno := syscall.RawSyscall(call, 0, uintptr(len(mask)), uintptr(unsafe.Pointer(mask))); errno != 0 {
			t.Fatal(errno)
		}
	}
	affinity(syscall.SYS_SCHED_GETAFFINITY, &all)
	for i := range all {
		if one[i] = all[i] & -all[i]; one[i] != 0 {
			break
		}
	}
	affinity(syscall.SYS_SCHED_SETAFFINITY, &one)
	defer affinity(syscall.SYS_SCHED_SETAFFINITY, &all)
	c := exec.Command("/bin/sh", "-c", "while :; do :; done")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	var priority int32
	if policy == roundRobin {
		priority = 1
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(c.Process.Pid), policy, uintptr(unsafe.Pointer(&priority))); errno != 0 {
		t.Skip("no process may run before others: ", errno)
	}
	return c
}

// stopped starts a process that is stopped, and returns its identifier.
func stopped(t *testing.T) int {
	t.Helper()
	c := exec.Command("/bin/sleep", "1h")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	c.Process.Signal(syscall.SIGSTOP)
	if _, err := syscall.Wait4(c.Process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	return c.Process.Pid
}

// A process that waits for a processor is no hung one. One that is stopped, or runs, is not kept from its work.
func TestAProcessThatIsKeptFromItsWork(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	running := busy(t, roundRobin)
	starved := busy(t, whenIdle)
	for pid, kept := range map[int]bool{starved.Process.Pid: true, running.Process.Pid: false, stopped(t): false} {
		all := newThreads(pid, nil)
		look := time.NewTicker(10 * time.Millisecond)
		for n := 0; n < looks; <-look.C { // the kernel takes the processor from the one that runs, too, but seldom
			if n++; all.kept() != kept {
				n, all = 0, newThreads(pid, nil)
			}
		}
		look.Stop()
	}
}

// A processor that stands still excuses a program that is silent, but not for ever.
func TestAProcessorThatStandsStillExcusesASilence(t *testing.T) {
	stand := standing - 1
	all := newThreads(stopped(t), func() (time.Duration, error) { return stand, nil })
	if all.kept() {
		t.Error("all processors work, and the program is excused")
	}
	stand = standing
	for n := range mostStands {
		all.age = time.Hour // of a stand
		if !all.kept() || all.age != 0 {
			t.Errorf("a processor stands still for the %d. time, and the program is not excused, or %v count", n+1, all.age)
		}
	}
	if all.kept() {
		t.Error("the program is excused for ever")
	}
}

// What a thread has had in each look: its state, and the milliseconds that it ran and waited, and its turns, since the look before.
type had struct {
	state       string
	ran, waited float64
	turns       int64
}

// The numbers of the loop are those of a process on a host with 31 processes that want one of two processors: it loops, and Go's collector asks all
// threads to stop, and wakes after each 0.1 ms.
func TestASilentProgramThatRunsIsNotKeptFromItsWork(t *testing.T) {
	const step = 10 * time.Millisecond
	for _, c := range []struct {
		name  string
		each  []had // threads, the same in each look
		spare int   // how many looks it is spared; -1: always
	}{
		{"a loop", []had{{"R", 9.8, 0.1, 2}, {"S", 0, 0, 0}}, 0},
		{"a loop, and a thread that wakes again and again", []had{{"R", 7, 1.5, 10}, {"R", 0.3, 1.8, 90}, {"S", 0.1, 0.3, 5}}, 0},
		{"a loop on a busy host", []had{{"R", 3, 7, 3}, {"R", 0.3, 9, 15}}, 3},
		{"a loop on a very busy host", []had{{"R", 1.2, 8.5, 10}, {"R", 0.3, 9, 15}}, 8},
		{"all wait for another one", []had{{"S", 0, 0.1, 1}, {"S", 0, 0.2, 1}}, 0},
		{"stopped", []had{{"T", 0, 0, 0}, {"T", 0, 0, 0}}, 0},
		{"no turn", []had{{"S", 0, 0, 0}, {"R", 0, 0, 0}}, -1},
		{"no turn, while another thread runs now and then", []had{{"S", 0.1, 0.2, 2}, {"R", 0, 0, 0}}, -1},
		{"no turn, while another thread collects garbage", []had{{"R", 9.9, 0.1, 1}, {"R", 0, 0, 0}}, 12},
		{"no turn, while another thread is in a loop, and seldom runs", []had{{"R", 1.2, 8.5, 1}, {"R", 0, 0, 0}}, 100},
		{"it has ended", nil, -1},
		{"it has ended, and one of its threads has not", []had{{"Z", 0, 0, 0}, {"R", 9.8, 0.1, 2}}, -1},
		{"long waits", []had{{"S", 0.1, 5.5, 1}, {"S", 0, 0, 0}}, -1},
		{"threads that wait in turn", []had{{"S", 0.1, 3, 1}, {"S", 0.1, 3, 1}}, -1},
		{"a disk, and a loop", []had{{"R", 9.8, 0.1, 2}, {"D", 0, 0, 0}}, -1},
		{"a debugger", []had{{"t", 0, 0, 0}, {"t", 0, 0, 0}}, -1},
	} {
		of := func(look int) map[string]thread {
			all := map[string]thread{}
			for i, h := range c.each {
				length := func(ms float64) time.Duration { return time.Duration(float64(look+1) * ms * float64(time.Millisecond)) }
				all[strconv.Itoa(i)] = thread{h.state, spent{length(h.ran), length(h.waited), int64(look+1) * h.turns}}
			}
			return all
		}
		all := &threads{had: of(0), first: of(0)}
		const most = 200
		n := 0
		for ; n < most && all.judge(step, of(n+1)); n++ {
			all.had = of(n + 1)
		}
		if n != c.spare && (n < most || c.spare >= 0) {
			t.Errorf("%s: spared for %d looks, not %d", c.name, n, c.spare)
		}
	}
}
