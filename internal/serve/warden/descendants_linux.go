package warden

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

const (
	setChildSubreaper = 36  // PR_SET_CHILD_SUBREAPER
	signalled         = 128 // and the number of a signal: the exit status of a process that it killed, as in a shell
)

// Adopt makes this process a subreaper: each descendant that loses its parent becomes its child, also if it has left the
// session.
func Adopt() error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("prctl: %w", errno)
	}
	return nil
}

// ExitStatus returns the exit status by which a shell reports how a process has ended.
func ExitStatus(s syscall.WaitStatus) int {
	if s.Signaled() {
		return signalled + int(s.Signal())
	}
	return s.ExitStatus()
}

// Foreground reports whether this process is in the foreground of a terminal. What it starts then stays in its process
// group, so that it may use the terminal, and the terminal's signals reach both. Otherwise what it starts has a group of
// its own: a signal to the group of this process does not reach it a second time.
func Foreground() bool {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return false
	}
	fields := afterName(stat)
	const group, foreground = 2, 5
	return len(fields) > foreground && fields[group] == fields[foreground]
}

// afterName returns the fields of /proc/PID/stat after the name of the process, which may have any bytes.
func afterName(stat []byte) []string {
	text := string(stat)
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
}

// KillChildren kills the children of this process, except those for which except reports true, and returns them. nil means
// that there are no exceptions but those of [StartSpared]. The death of one may give this process others. It does not kill grandchildren: their
// parents may reap them, and their numbers may be those of other processes then. For the same reason, no other goroutine
// may reap the children that it kills.
func KillChildren(except func(pid int) bool) (killed []int) {
	for _, pid := range excepting(except, children) {
		if firstOfNamespace(pid) && syscall.Kill(pid, Die) == nil {
			await(pid)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // if that is not allowed, we wait for its end
		killed = append(killed, pid)
	}
	return killed
}

// excepting returns the children of a list that are no exceptions. A list lacks some if others were reaped while the kernel wrote it. Those that were
// reaped are in it, and not in the next one: if both are the same, there are no more.
func excepting(except func(pid int) bool, list func() []int) []int {
	for all := list(); ; {
		rest := slices.DeleteFunc(slices.Clone(all), func(pid int) bool { return except != nil && except(pid) || isSpared(pid) })
		before := all
		if len(rest) > 0 {
			return rest
		}
		if all = list(); slices.Equal(all, before) {
			return nil
		}
	}
}

// Die is the signal by which the first process of a PID namespace is told to kill all others there before it ends. With SIGKILL it ends
// without that, and the kernel kills the others only when its last thread has ended: that thread can be late. The other real-time signals before
// it have uses in C libraries.
const Die = syscall.Signal(40)

// firstOfNamespace reports whether a process is the first of a PID namespace below that of this one.
func firstOfNamespace(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	_, numbers, _ := strings.Cut(string(status), "\nNSpid:")
	numbers, _, _ = strings.Cut(numbers, "\n") // its number here, and in each namespace below
	in := strings.Fields(numbers)
	return len(in) > 1 && in[len(in)-1] == "1"
}

// patience is how long a process may take to die by [Die]. One that is stopped, or ignores it, takes longer.
const patience = 5 * time.Millisecond

// await waits until a child has ended, for a short time. It does not reap it.
func await(pid int) {
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(patience / 20) {
		if kernel.Ended(pid) {
			return
		}
	}
}

// children returns the children of this process. The kernel has a list of those of each thread, so it does not matter how many
// processes the machine has. It may lack some if others come or go meanwhile: see [excepting].
func children() (all []int) {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		list, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if errors.Is(err, os.ErrNotExist) && !listed() {
			return search()
		}
		all = append(all, numbers(list)...)
	}
	return all
}

// numbers returns the numbers of a list.
func numbers(list []byte) (all []int) {
	for field := range strings.FieldsSeq(string(list)) {
		if n, err := strconv.Atoi(field); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// listed reports whether this kernel has lists of children. One that was built without CONFIG_PROC_CHILDREN has none.
var listed = sync.OnceValue(func() bool {
	_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	return err == nil
})

// search finds the children of this process among all processes, where there is no list of them.
func search() (all []int) {
	own := strconv.Itoa(os.Getpid())
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		fields := afterName(stat)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && len(fields) > 1 && fields[1] == own {
			all = append(all, pid)
		}
	}
	return all
}
