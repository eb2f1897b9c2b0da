//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package live

import (
	"errors"
	"fmt"
	"os"
)

// lockFile refuses: without a lock two processes could be one member.
func lockFile(name string) (*os.File, error) {
	return nil, fmt.Errorf("%s: locks are not on this system: %w", name, errors.ErrUnsupported)
}

func syncDirectory(string, func(*os.File) error) error { return errors.ErrUnsupported }
