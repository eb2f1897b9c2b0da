//go:build unix

package operate

import (
	"os"
	"syscall"
)

// hangup is the signal at which settings are read again.
var hangup = []os.Signal{syscall.SIGHUP}
