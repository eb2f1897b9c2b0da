//go:build !unix && !js

package cli

import "os"

// hangup has no signal: the system has none for this.
var hangup []os.Signal
