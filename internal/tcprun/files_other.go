//go:build !unix

package tcprun

import "math"

// mayOpen is how many files this process may have open: here the system knows no limit but memory.
func mayOpen() int { return math.MaxInt }
