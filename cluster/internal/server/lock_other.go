//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package server

import (
	"io"
	"os"
)

// lock opens a file. This system has no locks that end with the process, so only the server's port keeps a second one out.
func lock(path string) (io.WriteCloser, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}
