//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package storage

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// errReadOnly is the error of a write to a read-only file system, if it had a number that is common to these systems.
var errReadOnly = errors.ErrUnsupported

// lockDirectory returns an error: without a lock two processes could be one member.
func lockDirectory(d *os.Root) (io.Closer, error) {
	return nil, fmt.Errorf("%s: locks are not on this system: %w", d.Name(), errors.ErrUnsupported)
}

func sameFileSystem(string, string) bool { return false }

func syncDirectory(*os.Root, func(*os.File) error) error { return errors.ErrUnsupported }
