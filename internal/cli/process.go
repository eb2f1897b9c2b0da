package cli

import (
	"os/exec"
	"runtime"
)

// forks starts processes from one thread that lives until it is closed: Linux sends the parent-death signal at the
// end of the thread that forked.
type forks chan func()

func newForks() forks {
	f := make(forks)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		for start := range f {
			start()
		}
	}()
	return f
}

// start starts a process that does not outlive us, if the system can see to that.
func (f forks) start(c *exec.Cmd) error {
	c.SysProcAttr = memberAttributes()
	started := make(chan error)
	f <- func() { started <- c.Start() }
	return <-started
}
