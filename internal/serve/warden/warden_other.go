//go:build !linux

package warden

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

func watch() error { return fmt.Errorf("%w on %s: it needs Linux", ErrNone, runtime.GOOS) }

func keep(uintptr) {} // no process passes a pipe

func share(*os.File, uintptr) {}

// Pulse is what a member shows its warden: there is none.
type Pulse struct{}

// NewPulse returns nil.
func NewPulse() *Pulse { return nil }

// Beat does nothing.
func (*Pulse) Beat() {}

// Watch does nothing.
func (*Pulse) Watch(time.Duration) {}

// Close does nothing.
func (*Pulse) Close() {}

// NewGroup returns an error: only Linux has control groups.
func NewGroup(string) (string, error) {
	return "", fmt.Errorf("%s has no control groups", runtime.GOOS)
}

// KillGroup does nothing: there is none.
func KillGroup(string) error { return nil }

// StartSpared starts a command that may hang in the kernel and does no work of the program. The caller calls ended when it has reaped it.
func StartSpared(c *exec.Cmd) (ended func(), err error) { return func() {}, c.Start() }
