package live

import (
	"log/slog"
	"time"
)

// delays tells a process that it stood still, or that its timers are late again and again, for example because it gets too
// little of the processor. One that stands still cannot say so until it runs again.
type delays struct {
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

const (
	seldom = time.Minute // the least time between two lines of one kind
	rowOf  = 3           // so many in a row are no chance
)

func newDelays(log *slog.Logger, suspicion time.Duration) *delays {
	return &delays{log: log, late: suspicion / 2, still: suspicion}
}

// woke takes a waking at a moment, and how late it was.
func (d *delays) woke(now, late time.Duration) {
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
		if !d.stood || now-d.stoodAt >= seldom {
			d.log.Warn("this process stood still", "standstill", late.Round(time.Millisecond), "times", d.stops)
			d.stood, d.stoodAt, d.stops = true, now, 0
		}
		return
	}
	d.count++
	d.worst = max(d.worst, late)
	if d.row >= rowOf && (!d.told || now-d.toldAt >= seldom) {
		d.log.Warn("timers are late: this process gets too little of the processor", "lateness", d.worst.Round(time.Millisecond), "times", d.count)
		d.told, d.toldAt, d.count, d.worst = true, now, 0, 0
	}
}
