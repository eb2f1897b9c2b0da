package ringleader_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/storetest"
	"ringleader.example/ringleader/ringleadertest"
)

// slowly is a cluster of three with slow stores. Member 3 leads.
func slowly(t *testing.T) (c *ringleadertest.Cluster, lasts *[4]atomic.Int64) {
	t.Helper()
	return slowlyWith(t, ringleader.Config{})
}

func slowlyWith(t *testing.T, config ringleader.Config) (c *ringleadertest.Cluster, lasts *[4]atomic.Int64) {
	t.Helper()
	c, lasts = ringleadertest.New(t, config, 1, 2, 3), new([4]atomic.Int64)
	c.Configure(func(id uint64, config *ringleader.Config) {
		config.Storage = storetest.Slow{Storage: config.Storage, Lasts: &lasts[id]}
	})
	c.Start(1, 2, 3)
	c.Await(3)
	return c, lasts
}

func TestALeaderWhoseDiskStallsHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, lasts := slowly(t)
		defer func() { <-time.After(time.Hour) }() // until no probe runs
		defer c.Close()
		causes := make(chan error, 1)
		go c.Member(3).Lead(t.Context(), func(ctx context.Context, _ ringleader.Leadership) error {
			<-ctx.Done()
			select {
			case causes <- context.Cause(ctx):
			default:
			}
			return nil
		})
		c.Settle()
		lasts[3].Store(int64(time.Minute))
		begun := time.Now()
		c.Await(2)
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("it took %v until another member leads", took)
		}
		if cause := <-causes; !errors.Is(cause, ringleader.ErrStorage) || !strings.Contains(cause.Error(), "the disk has not answered for 1.0 s") {
			t.Errorf("the cause is %v", cause)
		}
		for id := uint64(1); id <= 3; id++ {
			if m := c.Member(id).Status().Members[2]; !strings.Contains(m.Unable, "the disk has not answered") {
				t.Errorf("member %d knows of member 3: %+v", id, m)
			}
		}
		if err := c.Member(2).Transfer(3); !errors.Is(err, ringleader.ErrUnable) {
			t.Errorf("a transfer to it: %v", err)
		}
		lasts[3].Store(0)
		c.Until("the probe that hangs has ended", func() bool { return c.Member(3).Status().StorageProblem == "" })
		ended := time.Now()
		c.Until("member 3 is able again", func() bool { return c.Member(2).Status().Members[2].Unable == "" })
		if took := time.Since(ended); took < 700*time.Millisecond { // the probe that hung had failed, so three more have to succeed, 400 ms apart
			t.Errorf("it may lead %v after the probe, so after fewer than three that succeed", took)
		}
		c.Kill(2)
		c.Await(3)
	})
}

// A disk that is slow is not one that stalls.
func TestALeaderWithASlowDiskLeadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, lasts := slowly(t)
		defer func() { <-time.After(time.Hour) }() // until no probe runs
		defer c.Close()
		for id := range lasts {
			lasts[id].Store(int64(ringleader.LAN().Stall - 100*time.Millisecond))
		}
		term := c.Member(3).View().Term
		c.Pass(minutes(2))
		if v := c.Member(3).View(); v.Role != ringleader.Leader || v.Term != term {
			t.Errorf("it leads no more: %+v", v)
		}
	})
}
