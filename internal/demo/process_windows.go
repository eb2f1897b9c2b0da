package demo

import (
	"errors"
	"os"
	"syscall"
)

// memberAttributes put a member into a process group of its own, so that the console's Ctrl-C reaches
// the demo only. A member of a demo that was killed ends by --stop-with-stdin.
func memberAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

var errNoPause = errors.New("pausing a process is not on this system; kill it instead")

func pauseProcess(*os.Process) error  { return errNoPause }
func resumeProcess(*os.Process) error { return errNoPause }

// watchProcess waits for the end of a child of ours, and returns how it ended.
func watchProcess(p *os.Process, _ func(condition)) ending {
	state, err := p.Wait()
	if err != nil {
		return ending{err.Error(), true}
	}
	const terminated = 1 // by Process.Kill
	return ending{"by itself or by another process", state.ExitCode() > terminated}
}

func isPaused(int) bool { return false } // a member is our child here
