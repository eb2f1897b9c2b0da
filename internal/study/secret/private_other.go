//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package secret

import (
	"errors"
	"os"
)

// private returns an error for a folder. The folders of a user keep others out on these systems.
func private(info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is no file")
	}
	return nil
}
