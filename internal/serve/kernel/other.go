//go:build !linux

package kernel

import "time"

// KillTimer is a timer of the kernel that kills this process.
type KillTimer struct{}

// NewKillTimer returns [ErrNone].
func NewKillTimer() (*KillTimer, error) { return nil, ErrNone }

// Set returns [ErrNone].
func (*KillTimer) Set(time.Duration) error { return ErrNone }

// Close returns [ErrNone].
func (*KillTimer) Close() error { return ErrNone }

// Hurry returns [ErrNone].
func Hurry() error { return ErrNone }

// HurryAlone returns [ErrNone].
func HurryAlone() error { return ErrNone }
