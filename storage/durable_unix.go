//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package storage

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// errReadOnly is the error of a write to a read-only file system.
const errReadOnly = syscall.EROFS

// lockDirectory locks a directory that no other process has locked, until the result is closed or this process ends.
// The lock is on the directory itself: a file in it could be removed and made anew.
func lockDirectory(d *os.Root) (io.Closer, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(ErrLocked, f.Close())
	case err != nil:
		return nil, errors.Join(&os.PathError{Op: "lock", Path: d.Name(), Err: err}, f.Close())
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

// sameFileSystem reports whether two directories are on one.
func sameFileSystem(a, b string) bool {
	var of [2]syscall.Stat_t
	return syscall.Stat(a, &of[0]) == nil && syscall.Stat(b, &of[1]) == nil && of[0].Dev == of[1].Dev
}

// syncDirectory makes a renaming in a directory durable.
func syncDirectory(d *os.Root, sync func(*os.File) error) error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(sync(f), f.Close())
}
