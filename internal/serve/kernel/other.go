//go:build !linux

package kernel

import (
	"os"
	"syscall"
	"time"
)

// Timer is a timer of the kernel that sends a signal to this process.
type Timer struct{}

// NewTimer returns [ErrNone].
func NewTimer(syscall.Signal) (*Timer, error) { return nil, ErrNone }

// Set returns [ErrNone].
func (*Timer) Set(time.Duration) error { return ErrNone }

// Close returns [ErrNone].
func (*Timer) Close() error { return ErrNone }

// Socket is a socket of package net.
type Socket struct{}

// NewSocket returns nil.
func NewSocket(any) *Socket { return nil }

// WriteNow returns [ErrNone].
func (*Socket) WriteNow([]byte) (int, error) { return 0, ErrNone }

// Read returns [ErrNone].
func (*Socket) Read([]byte) (int, error) { return 0, ErrNone }

// Hurry returns [ErrNone].
func Hurry() error { return ErrNone }

// HurryAlone returns [ErrNone].
func HurryAlone() error { return ErrNone }

// HurryAll returns [ErrNone].
func HurryAll() error { return ErrNone }

// HurryProcess returns [ErrNone].
func HurryProcess(int) error { return ErrNone }

// RelaxAll returns [ErrNone].
func RelaxAll() error { return ErrNone }

// Retire returns [ErrNone].
func Retire() error { return ErrNone }

// IsRead returns true: it is not known.
func IsRead(*os.File) bool { return true }

// Used returns 0.
func Used() time.Duration { return 0 }
