package kerneltest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/kernel"
)

// NeedPriority ends a test where a thread may not run before others.
func NeedPriority(t testing.TB) {
	t.Helper()
	if err := MayHurry(); err != nil {
		needs.Missing(t, "%v", err)
	}
}

// MayHurry reports why a thread of this process may not run before others.
func MayHurry() error {
	allowed := make(chan error)
	go func() {
		runtime.LockOSThread() // it ends with this goroutine
		allowed <- kernel.Hurry()
	}()
	return <-allowed
}

// Children returns the processes that a process has started, and that have not been reaped.
func Children(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range lists {
		list, _ := os.ReadFile(name) // the thread may have ended
		for number := range strings.FieldsSeq(string(list)) {
			child, _ := strconv.Atoi(number)
			all = append(all, child)
		}
	}
	return all
}

// Descendants returns the children of a process, and theirs.
func Descendants(pid int) (all []int) {
	for _, child := range Children(pid) {
		all = append(append(all, child), Descendants(child)...)
	}
	return all
}

// Policies returns the policies of scheduling of the threads of a process, each once: 0 is SCHED_OTHER, and 2 is SCHED_RR.
func Policies(pid int) (found []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, name := range threads {
		if stat, err := os.ReadFile(name); err == nil { // the thread may have ended
			policy, _ := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[38])
			found = append(found, policy)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
