//go:build unix

package brokertest

import (
	"os"
	"syscall"
)

// alone waits until it has the lock of a folder. Without it, tests of several packages, which run at the same time, would each compile the same
// message broker for a minute. A file system without locks lets them. The lock is that of the folder because the go command itself locks go.mod.
func alone(folder string) (done func()) {
	f, err := os.Open(folder)
	if err != nil {
		return func() {}
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	return func() {
		if err == nil {
			syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		}
		f.Close()
	}
}
