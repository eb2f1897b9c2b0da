//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package secret

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

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
