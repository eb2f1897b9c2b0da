package demo

import (
	"errors"
	"os"
)

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
