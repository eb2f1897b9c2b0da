//go:build unix

package brokertest

import (
	"os"
	"syscall"
)

// alone waits until no other process is in here with the same folder. Tests of several packages run at the same time, and each would
// compile the same message broker, for a minute. Where the file system has no locks, they do. The lock is one of the folder, since the go
// command itself locks go.mod.
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
