//go:build unix

package demo

import (
	"os"
	"syscall"

	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/show/report"
)

func pauseProcess(p *os.Process) error  { return p.Signal(syscall.SIGSTOP) }
func resumeProcess(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

// signalled is added to the number of the signal that ended a member, in the exit status of its warden.
const signalled = 128

// watchProcess reports when a child of ours is paused and resumed, by any process, until it has ended.
// It returns how it ended.
func watchProcess(p *os.Process, tell func(condition)) ending {
	for {
		var status syscall.WaitStatus
		_, err := kernel.Wait(p.Pid, &status, syscall.WUNTRACED|syscall.WCONTINUED)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return ending{err.Error(), true}
		case status.Stopped():
			tell(paused)
		case status.Continued():
			tell(running)
		case status.Signaled():
			return ending{"by signal: " + status.Signal().String(), false}
		case status.ExitStatus() > signalled: // a warden
			return ending{"by signal: " + syscall.Signal(status.ExitStatus()-signalled).String(), false}
		default:
			return ending{"by itself", status.ExitStatus() != report.ExitFine}
		}
	}
}
