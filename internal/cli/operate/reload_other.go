//go:build !unix && !js

package operate

import "os"

// hangup has no signal: the system has none for this.
var hangup []os.Signal
