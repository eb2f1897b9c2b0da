package ringleader

import (
	"syscall"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/live"
)

// fuse lets the kernel kill this process if its work has not returned half of Timing.Margin before the end of the lease, also if the
// process is stopped, or gets no processor. Config.Overrun does that before, in a process that runs. Each renewal of the lease sets it anew: a look
// at the lease just before its end might be late, and kill a process whose lease goes on. Nil does nothing.
type fuse struct {
	timer  fuseTimer
	group  *live.Group
	term   election.Term
	early  time.Duration
	failed func(error)
}

// fuseTimer is a [kernel.Timer].
type fuseTimer interface {
	Set(at time.Duration) error
	Close() error
}

// newFuse returns a fuse for the lease of a term, or nil: Overrun is not Exit, or no warden kills what this process has started.
func (m *Member) newFuse(term election.Term) *fuse {
	if m.config.Overrun != Exit || m.config.fuse == nil {
		return nil
	}
	failed := func(err error) {
		m.config.Logger.Warn("the kernel does not end this process if it is stopped at the end of its lease", "member", m.config.ID, "error", err)
	}
	timer, err := m.config.fuse()
	if err != nil {
		failed(err)
		return nil
	}
	f := &fuse{timer, m.group, term, m.config.Timing.Margin / 2, failed}
	f.group.Renewed(f.renewed)
	return f
}

// renewed takes the end of a lease, on Boottime. That of a later term does not concern work that still stops.
func (f *fuse) renewed(term election.Term, ends time.Duration) {
	if term != f.term {
		return
	}
	if err := f.timer.Set(before(ends, f.early)); err != nil {
		f.failed(err)
	}
}

// burns keeps the fuse as it is, whatever renews the lease: the work may hang.
func (f *fuse) burns() {
	if f != nil {
		f.group.Renewed(nil)
	}
}

// remove ends the fuse: the work has returned.
func (f *fuse) remove() {
	if f == nil {
		return
	}
	f.burns()
	if err := f.timer.Close(); err != nil {
		f.failed(err)
	}
}

// kernelFuse makes the timer of a fuse.
func kernelFuse() (fuseTimer, error) { return kernel.NewTimer(syscall.SIGKILL) }
