package storage

import (
	"os"
	"syscall"
)

// flush makes the content and the size of a file durable, and not its times: fsync would write these, too.
func flush(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		for failed = syscall.Fdatasync(int(fd)); failed == syscall.EINTR; {
			failed = syscall.Fdatasync(int(fd))
		}
	})
	if err == nil && failed != nil {
		err = &os.PathError{Op: "fdatasync", Path: f.Name(), Err: failed}
	}
	return err
}
