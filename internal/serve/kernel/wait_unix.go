//go:build unix && !linux

package kernel

import "syscall"

// Wait is wait4(2) for a child, or for any one with -1.
func Wait(pid int, status *syscall.WaitStatus, options int) (int, error) {
	return syscall.Wait4(pid, status, options, nil)
}
