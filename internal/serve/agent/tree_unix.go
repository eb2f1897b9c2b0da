//go:build unix && !linux

package agent

import (
	"os"
	"syscall"
)

// deaf are the signals that a keeper does not act upon: the member decides about the command.
var deaf = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// least is what ends a command in any case.
const least = ProcessGroup

func (p post) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if p.user != nil {
		a.Credential = p.user.system()
	}
	return a
}

// ask asks the process group to end.
func (t *tree) ask() {
	_ = syscall.Kill(-t.command.Process.Pid, syscall.SIGTERM) // it may have ended
	_ = syscall.Kill(-t.command.Process.Pid, syscall.SIGCONT) // a stopped process cannot end by itself
}

func (t *tree) kill() { _ = syscall.Kill(-t.command.Process.Pid, syscall.SIGKILL) }

func exitStatus(s *os.ProcessState) int {
	const signalled = 128
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return signalled + int(w.Signal())
	}
	return s.ExitCode()
}
