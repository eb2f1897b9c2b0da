package demo

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// memberAttributes put a member into a process group of its own, so that the terminal's Ctrl-C reaches
// the demo only, and have the kernel kill it, paused or not, when the thread that started it ends.
func memberAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// isPaused reports whether a process that is not our child is stopped.
func isPaused(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.HasPrefix(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " T")
}
