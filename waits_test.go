package ringleader_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
)

// slowSaves is a store whose flushes last for a time.
type slowSaves struct {
	storage.Storage
	lasts *atomic.Int64
}

func (s slowSaves) Save(records []storage.Record) error {
	<-time.After(time.Duration(s.lasts.Load()))
	return s.Storage.Save(records)
}

func TestAnElectionThatWaitsForSlowDisksSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Timing: ringleader.LAN()}, 1, 2, 3)
		defer c.Close()
		var lasts atomic.Int64
		journals := map[uint64]*journal{}
		c.Configure(func(id uint64, config *ringleader.Config) {
			journals[id] = &journal{text: "no leader is known", level: slog.LevelInfo}
			config.Logger = slog.New(journals[id])
			if id != 3 {
				config.Storage = slowSaves{config.Storage, &lasts}
			}
		})
		c.Start(1, 2, 3)
		c.Await(3)
		lasts.Store(int64(700 * time.Millisecond))
		if err := c.Member(3).Resign(t.Context()); err != nil {
			t.Error(err)
		}
		explains(t, c, 3, "member 1 is connected, and has not answered for 0.")
		explains(t, c, 3, "member 2 is slow, or its disk: an answer took 0.")
		explains(t, c, 1, "the disk of this member is slow: a flush has lasted for 0.")
		explains(t, c, 1, "the disk of this member is slow: a flush took 0.7 s")
		c.Pass(4 * time.Second)
		if flushes := journals[1].values("flush"); len(flushes) == 0 || len(flushes) > 2 || flushes[0] == "0s" {
			t.Errorf("member 1 logs flushes of %q, want a line or two with one of some hundred milliseconds", flushes)
		}
		if slow := journals[3].values("slow"); len(slow) == 0 || len(slow) > 2 || slow[len(slow)-1] != "[1 2]" {
			t.Errorf("member 3 logs that %q are slow, want a line or two, the last one with 1 and 2", slow)
		}
		c.Cut()
		lasts.Store(0)
		c.Pass(20 * time.Second)
		for _, id := range []uint64{1, 3} {
			if why := c.Member(id).Status().Why; len(why) == 0 || strings.Contains(fmt.Sprint(why), "slow") {
				t.Errorf("member %d tells of slow disks that are quick by now: %q", id, why)
			}
		}
		c.Heal()
		leader := c.AwaitAny()
		c.Cut()
		other := leader%3 + 1
		c.Until("the others have no leader", func() bool { return !c.Member(other).View().Known })
		if why := c.Member(other).Status().Why; strings.Contains(fmt.Sprint(why), "slow") {
			t.Errorf("the next election begins with what the last one waited for: %q", why)
		}
	})
}

func TestHistogramsHaveFlushesRoundTripsAndLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		var lasts atomic.Int64
		lasts.Store(int64(30 * time.Millisecond))
		c.Configure(func(id uint64, config *ringleader.Config) {
			config.Storage = slowSaves{config.Storage, &lasts}
		})
		c.Start(1, 2, 3)
		leader := c.AwaitAny()
		c.Pass(time.Second)
		before := c.Member(leader).Histograms().RoundTrips
		c.Hold(func(f ringleadertest.Frame) bool { return f.From == leader%3+1 && f.Kind == "grant" })
		c.Until("an answer is under way", func() bool { return len(c.Held()) > 0 })
		c.Pass(40 * time.Millisecond)
		c.Hold(nil)
		for len(c.Held()) > 0 {
			c.Deliver(0)
		}
		c.Settle()
		within := func(h *ringleader.Histogram, least, most time.Duration) (n uint64) {
			for _, b := range h.Buckets {
				switch b.Most {
				case least:
					n -= b.Count
				case most:
					n += b.Count
				}
			}
			return n
		}
		slow := within(&before, 25*time.Millisecond, 50*time.Millisecond) // the first renewals, which the others flush
		h, n := c.Member(leader).Histograms(), c.Member(leader).Counters()
		if within(&h.Saves, 25*time.Millisecond, 50*time.Millisecond) != n.Saves || h.Saves.Count != n.Saves || h.Saves.Sum != n.SaveTime || n.Saves == 0 {
			t.Errorf("flushes of 30 ms: %+v, and the counters %+v", h.Saves, n)
		}
		took := h.RoundTrips.Sum - before.Sum // the answer may have been under way before that was seen
		if within(&h.RoundTrips, 25*time.Millisecond, 50*time.Millisecond) != slow+1 || h.RoundTrips.Count <= before.Count || took < 40*time.Millisecond || took > 50*time.Millisecond {
			t.Errorf("round trips, of which one of 40 ms is new, and of %v altogether: %+v", took, h.RoundTrips)
		}
		if all := h.RoundTrips.Buckets[len(h.RoundTrips.Buckets)-1].Count; all != h.RoundTrips.Count || all == 0 {
			t.Errorf("%d of %d round trips are not above the last bound", all, h.RoundTrips.Count)
		}
		if h.Lateness.Count != n.Timers || h.Lateness.Sum != n.Lateness || n.Timers == 0 {
			t.Errorf("lateness: %+v, and the counters %+v", h.Lateness, n)
		}
	})
}
