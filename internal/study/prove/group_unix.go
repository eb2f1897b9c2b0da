//go:build unix

package prove

import (
	"os/exec"
	"syscall"
)

// grouped puts a process into a process group of its own, all of which is killed at the end of its context: a solver may be a script that
// starts another process.
func grouped(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
