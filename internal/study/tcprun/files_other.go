//go:build !unix

package tcprun

import "math"

// mayOpen returns the limit of open files of this process: here the system has no limit but memory.
func mayOpen() int { return math.MaxInt }
