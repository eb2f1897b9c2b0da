//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// lock locks a file that no other process has locked, until the result is closed or this process ends. What it writes into the file is told to the others.
func lock(path string) (io.WriteCloser, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
		if where, _ := io.ReadAll(io.LimitReader(f, 1<<10)); len(where) > 0 { // none: that server is not ready yet
			err = fmt.Errorf("%w: %s", ErrLocked, where)
		}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return locked{f}, nil
}

// locked is a file with a lock.
type locked struct{ *os.File }

// Close unlocks the file before it closes it. A child between fork and exec has a copy of the descriptor, which would keep the lock.
func (l locked) Close() error {
	err := syscall.Flock(int(l.Fd()), syscall.LOCK_UN)
	return errors.Join(err, l.File.Close())
}
