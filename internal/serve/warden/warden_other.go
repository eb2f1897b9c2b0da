//go:build !linux

package warden

import (
	"fmt"
	"os"
	"runtime"
)

func watch() error { return fmt.Errorf("%w on %s: it needs Linux", ErrNone, runtime.GOOS) }

func keep(uintptr) {} // no process passes a pipe

func mapPulses(*os.File) []int64 { return nil }

// NewGroup returns an error: only Linux has control groups.
func NewGroup(string) (string, error) {
	return "", fmt.Errorf("%s has no control groups", runtime.GOOS)
}

// KillGroup does nothing: there is none.
func KillGroup(string) error { return nil }
