//go:build !linux

package warden

import (
	"fmt"
	"runtime"
)

func watch() error { return fmt.Errorf("%w on %s: it needs Linux", ErrNone, runtime.GOOS) }

func keep(uintptr) {} // no process passes a pipe

// NewGroup returns an error: only Linux has control groups.
func NewGroup(string) (string, error) {
	return "", fmt.Errorf("%s has no control groups", runtime.GOOS)
}

// KillGroup does nothing: there is none.
func KillGroup(string) error { return nil }
