//go:build unix

package agent

import (
	"os"
	"syscall"
)

// write writes a line to a pipe, if that has room for it. A line is shorter than the 512 bytes that a pipe takes as a whole.
func write(pipe *os.File, line []byte) (written bool) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return false // it is closed
	}
	_ = raw.Write(func(descriptor uintptr) bool {
		_, err := syscall.Write(int(descriptor), line)
		written = err == nil
		return true
	})
	return written
}
