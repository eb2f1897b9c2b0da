//go:build unix

package tcprun

import (
	"math"
	"syscall"
)

// mayOpen returns the limit of open files of this process. The runtime has raised the soft limit already.
func mayOpen() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt // then the system reports the limit when it is reached
	}
	return int(min(uint64(limit.Cur), math.MaxInt))
}
