package agent

import (
	"os"
	"syscall"
)

// deaf are the signals that a keeper does not act upon: the member decides about the command.
var deaf = []os.Signal{os.Interrupt, syscall.SIGTERM}

// least is what ends a command in any case.
const least = FirstProcess

func (post) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// ask does nothing: Windows has no signal that asks a process to end. It is killed in time.
func (*tree) ask() {}

func (t *tree) kill() { _ = t.command.Process.Kill() } // it may have ended

func exitStatus(s *os.ProcessState) int { return s.ExitCode() }
