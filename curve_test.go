package ringleader_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
)

// spread is a store whose probes last for a time that varies by a quarter around a mean.
type spread struct {
	storage.Storage
	mean time.Duration
	draw *rand.Rand
}

func (s spread) Probe() error {
	<-time.After(time.Duration(float64(s.mean) * (0.75 + s.draw.Float64()/2)))
	return nil
}

var long = flag.Bool("long", false, "watch slow flushes for ten minutes each")

// TestTheCurveOfFalseChangesByTheTimeOfAFlush holds the table of docs/operate.md, which is counted with -long.
func TestTheCurveOfFalseChangesByTheTimeOfAFlush(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes of flushes, one like the other")
	}
	for _, test := range []struct {
		mean    time.Duration
		minutes int
		changes bool
	}{{400 * time.Millisecond, 2, false}, {800 * time.Millisecond, 4, false}, {900 * time.Millisecond, 4, true}, {1200 * time.Millisecond, 2, true}} {
		synctest.Test(t, func(t *testing.T) {
			c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
			c.Configure(func(id uint64, config *ringleader.Config) {
				if id == 3 {
					config.Storage = spread{config.Storage, test.mean, rand.New(rand.NewPCG(1, 2))}
				}
			})
			c.Start(1, 2, 3)
			c.Await(3)
			defer func() { <-time.After(time.Hour) }() // until no probe runs
			defer c.Close()
			stalls, before := 0, false
			led := func() bool { v := c.Member(3).View(); return v.Role == ringleader.Leader && v.Term == 1 }
			if *long {
				test.minutes = 10
			}
			seen := func() bool { return test.changes && stalls > 0 && !led() && !*long }
			for halves := test.minutes * 60 * 2; halves > 0 && !seen(); halves-- {
				c.Pass(500 * time.Millisecond)
				now := c.Member(1).Status().Members[2].Unable != ""
				if now && !before {
					stalls++
				}
				before = now
			}
			t.Logf("mean %v: %d times unable in at most %d minutes; it leads on: %v", test.mean, stalls, test.minutes, led())
			if test.changes != (stalls > 0) || led() == test.changes {
				t.Errorf("mean %v: %d times unable; it leads on: %v", test.mean, stalls, led())
			}
		})
	}
}
