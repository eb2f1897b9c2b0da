// Package delays notices what is slow around a member: the processor of its process, its disk, and the answers of the others. What it is told are
// readings of a clock, and it has none.
package delays

import (
	"fmt"
	"log/slog"
	"time"
)

// Watch tells a process that it stood still, or that its timers are late again and again, for example because it gets too
// little of the processor. One that stands still cannot say so until it runs again.
type Watch struct {
	log     *slog.Logger
	late    time.Duration // a timer that is so late counts
	still   time.Duration // one that is so late, alone, is a standstill: the others suspect this member
	lastAt  time.Duration // when the last one came that counts
	row     int           // how many have come, each soon after the one before
	worst   time.Duration // of those that were not told
	count   int           // of them
	toldAt  time.Duration // when the last line about late timers was written
	told    bool          // there was one
	stoodAt time.Duration // when the last line about a standstill was written
	stood   bool          // there was one
	stops   int           // standstills that were not told
}

// Seldom is the least time between two lines of one kind.
const Seldom = time.Minute

// rowOf late timers in a row are no chance.
const rowOf = 3

// New returns a Watch of a process that the others suspect when it is silent for that long.
func New(log *slog.Logger, suspicion time.Duration) *Watch {
	return &Watch{log: log, late: suspicion / 2, still: suspicion}
}

// Woke takes a waking at a moment, and how late it was.
func (d *Watch) Woke(now, late time.Duration) {
	if late < d.late {
		return
	}
	calm := now - late - d.lastAt // how long all was in time before
	if d.lastAt == 0 || calm >= 2*d.still {
		d.row = 0
	}
	d.lastAt = now
	d.row++
	if d.row == 1 && late >= d.still {
		d.stops++
		if !d.stood || now-d.stoodAt >= Seldom {
			d.log.Warn("this process stood still", "standstill", late.Round(time.Millisecond), "times", d.stops)
			d.stood, d.stoodAt, d.stops = true, now, 0
		}
		return
	}
	d.count++
	d.worst = max(d.worst, late)
	if d.row >= rowOf && (!d.told || now-d.toldAt >= Seldom) {
		d.log.Warn("timers are late: this process gets too little of the processor", "lateness", d.worst.Round(time.Millisecond), "times", d.count)
		d.told, d.toldAt, d.count, d.worst = true, now, 0, 0
	}
}

// InSeconds returns a length of time for people.
func InSeconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
