package ringleader

import (
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/warden"
)

// fuse lets the kernel kill this process if its work has not returned half of Timing.Margin before the end of the lease, also if the
// process is stopped, or gets no processor. Config.Overrun does that before, in a process that runs. Nil does nothing.
type fuse struct {
	timer  *kernel.Timer
	early  time.Duration
	failed func(error)
}

// newFuse returns a fuse that is not set, or nil: Overrun is not Exit, or no warden kills what this process has started.
func (m *Member) newFuse() *fuse {
	if m.config.Overrun != Exit || warden.Hash() == [32]byte{} || !m.config.systemClock {
		return nil
	}
	failed := func(err error) {
		m.config.Logger.Warn("the kernel does not end this process if it is stopped at the end of its lease", "member", m.config.ID, "error", err)
	}
	timer, err := kernel.NewTimer(syscall.SIGKILL)
	if err != nil {
		failed(err)
		return nil
	}
	return &fuse{timer, m.config.Timing.Margin / 2, failed}
}

// set takes the end of the lease, on Boottime.
func (f *fuse) set(until time.Duration) {
	if f == nil || until == process.Never {
		return
	}
	if err := f.timer.Set(before(until, f.early)); err != nil {
		f.failed(err)
	}
}

// remove ends the fuse: the work has returned.
func (f *fuse) remove() {
	if f == nil {
		return
	}
	if err := f.timer.Close(); err != nil {
		f.failed(err)
	}
}
