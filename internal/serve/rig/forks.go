package rig

import (
	"os/exec"
	"runtime"
)

// Forks starts processes from one thread that lives until it is closed: Linux sends the parent-death signal at the
// end of the thread that forked.
type Forks chan func()

// NewForks starts the thread. Close the channel to end it.
func NewForks() Forks {
	f := make(Forks)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		for start := range f {
			start()
		}
	}()
	return f
}

// Start starts a process that does not outlive us, if the system can see to that.
func (f Forks) Start(c *exec.Cmd) error {
	c.SysProcAttr = attributes()
	started := make(chan error)
	f <- func() { started <- c.Start() }
	return <-started
}
