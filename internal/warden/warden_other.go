//go:build !linux

package warden

import (
	"fmt"
	"runtime"
)

func watch() error { return fmt.Errorf("%w on %s: it needs Linux", ErrNone, runtime.GOOS) }

func keep(uintptr) {} // no process passes a pipe
