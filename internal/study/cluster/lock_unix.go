//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cluster

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock locks a file that no other process has locked, until the result is closed or this process ends.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// private returns an error if a file is not this user's, or if others may read or write it.
func private(info os.FileInfo) error {
	switch owner, known := info.Sys().(*syscall.Stat_t); {
	case !info.Mode().IsRegular():
		return errors.New("it is no file")
	case !known || int(owner.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("its mode is %04o, and 0600 keeps it from others", info.Mode().Perm())
	}
	return nil
}
