//go:build unix

package canary

import (
	"fmt"
	"os"
	"syscall"
)

// identity returns the device and the inode of a directory.
func identity(info os.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(s.Dev, ":", s.Ino)
}
