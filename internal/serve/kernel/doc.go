// Package kernel asks the kernel of Linux for what a process cannot promise by itself, since it may be stopped, starved or
// suspended at any moment: to be killed at a given time, and to run before others until then. It also has calls on sockets that cost less than those
// of package net. On other systems each function returns [ErrNone], and there are no such sockets.
package kernel

import (
	"errors"
	"math"
	"time"
)

// ErrNone reports that this system has no such thing.
var ErrNone = errors.New("it needs Linux")

// Never is a moment that does not come.
const Never = time.Duration(math.MaxInt64)
