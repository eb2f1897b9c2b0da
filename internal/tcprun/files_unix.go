//go:build unix

package tcprun

import (
	"math"
	"syscall"
)

// mayOpen is how many files this process may have open. The runtime has raised the soft limit already.
func mayOpen() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt // then the system will say so when it comes to that
	}
	return int(min(uint64(limit.Cur), math.MaxInt))
}
