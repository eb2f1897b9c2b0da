package warden

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// spared are children of this process that may hang in the kernel and do no work: nothing kills them, and nothing waits for them.
var spared struct {
	mu   sync.Mutex
	pids map[int]bool
}

// StartSpared starts a command that may hang in the kernel and does no work of the program. [KillChildren] and the warden spare it: that
// proves the death of the program while that process hangs. The caller calls ended when it has reaped it.
func StartSpared(c *exec.Cmd) (ended func(), err error) {
	spared.mu.Lock()
	defer spared.mu.Unlock()
	if err := c.Start(); err != nil {
		return nil, err
	}
	pid := c.Process.Pid
	if spared.pids == nil {
		spared.pids = map[int]bool{}
	}
	spared.pids[pid] = true
	// If the warden does not hear it, it kills the process, and waits for its end.
	_ = tell(note{Spared: pid, Started: Started(pid)})
	return func() {
		spared.mu.Lock()
		defer spared.mu.Unlock()
		delete(spared.pids, pid)
	}, nil
}

// isSpared reports whether this process has started a child by [StartSpared].
func isSpared(pid int) bool {
	spared.mu.Lock()
	defer spared.mu.Unlock()
	return spared.pids[pid]
}

// Started returns when a process has started, as /proc tells it: no other process that gets its number has the same. Empty: there is none.
func Started(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	const startTime = 19 // the field 22, after the number and the name
	if fields := afterName(stat); len(fields) > startTime {
		return fields[startTime]
	}
	return ""
}

// spares reports whether the program has told of a process that may hang.
func (r *roll) spares(pid int) bool {
	s := r.spared[pid]
	return s != "" && s == Started(pid)
}
