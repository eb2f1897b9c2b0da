//go:build unix

package cli

import (
	"os"
	"syscall"
)

// hangup is the signal at which settings are read again.
var hangup = []os.Signal{syscall.SIGHUP}
