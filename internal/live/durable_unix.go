//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens a file that nobody else has locked, and locks it until it is closed or we die.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(errLocked, f.Close())
	case err != nil:
		return nil, errors.Join(&os.PathError{Op: "lock", Path: name, Err: err}, f.Close())
	}
	return f, nil
}

// syncDirectory makes a renaming in a directory durable.
func syncDirectory(name string, sync func(*os.File) error) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(sync(d), d.Close())
}
