package ringleader_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
)

func TestAMemberIsLeaderOnlyWhileItsLeaseRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		if !c.Member(3).IsLeader() || c.Member(2).IsLeader() {
			t.Errorf("3 leads, and the members say %v and %v", c.Member(3).IsLeader(), c.Member(2).IsLeader())
		}
		c.Stop(3) // its loop does not run, so it cannot learn that its lease has ended
		c.Pass(2 * ringleader.Test().Lease)
		c.Continue(3)
		if c.Member(3).IsLeader() {
			t.Error("it was stopped for longer than its lease, and says that it leads")
		}
		c.Await(2)
	})
}

func TestAMemberWaitsToLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Members: []ringleader.MemberAddress{{ID: 1, Witness: true}}}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		if l, err := c.Member(3).WaitToLead(t.Context()); err != nil || !l.Valid() || l.Term() != c.Member(3).View().Term {
			t.Errorf("the leader has term %d and %v", l.Term(), err)
		}
		gone := errors.New("the program ends")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		_, err := c.Member(2).WaitToLead(ctx)
		lacks(t, err, gone, "the program ends")
		_, err = c.Member(1).WaitToLead(t.Context())
		lacks(t, err, ringleader.ErrConfig, "member 1 is a witness, which never leads")

		leads := make(chan ringleader.Leadership, 1)
		go func() {
			l, err := c.Member(2).WaitToLead(t.Context())
			if err != nil {
				t.Error(err)
			}
			leads <- l
		}()
		c.Settle()
		if len(leads) > 0 {
			t.Error("a follower waits no more")
		}
		before := c.Member(3).View().Term
		closed := c.Member(3)
		if err := closed.Close(); err != nil {
			t.Error(err)
		}
		if l := <-leads; !l.Valid() || l.Term() <= before {
			t.Errorf("it leads in term %d, after %d", l.Term(), before)
		}
		_, err = closed.WaitToLead(t.Context())
		lacks(t, err, ringleader.ErrClosed, "closed")
	})
}

func TestResignReturnsWhenTheLeadIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		err := c.Member(2).Resign(t.Context())
		lacks(t, err, ringleader.ErrNotLeader, "member 3 leads in term")

		began, stopped := make(chan struct{}), false
		go c.Member(3).Lead(t.Context(), func(ctx context.Context, _ ringleader.Leadership) error {
			close(began)
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, ringleader.ErrResigned) {
				t.Errorf("the work ends: %v", cause)
			}
			time.Sleep(ringleader.Test().Grace / 2)
			stopped = true
			return nil
		})
		<-began
		if err := c.Member(3).Resign(t.Context()); err != nil {
			t.Error(err)
		}
		if !stopped || c.Member(3).IsLeader() {
			t.Errorf("it has resigned; its work has stopped: %v; it leads: %v", stopped, c.Member(3).IsLeader())
		}
		c.Await(2)
	})
}

func TestResignThatIsAbandonedStillEndsTheLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		result := make(chan error, 1)
		go c.Member(3).Lead(t.Context(), func(ctx context.Context, _ ringleader.Leadership) error {
			result <- c.Member(3).Resign(ctx)
			return nil
		})
		lacks(t, <-result, ringleader.ErrResigned, "resigned")
		c.Await(2)
	})
}

func TestTheOnlyMemberLeadsAgainAfterItHasResigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1)
		defer c.Close()
		c.Start(1)
		c.Await(1)
		before := c.Member(1).View().Term
		if err := c.Member(1).Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l, err := c.Member(1).WaitToLead(t.Context()); err != nil || l.Term() <= before {
			t.Errorf("term %d after %d, %v", l.Term(), before, err)
		}
	})
}

func TestCloseEndsThoughTheDiskHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1)
		defer c.Close()
		c.Start(1)
		c.Await(1)
		second := ringleader.GroupConfig{Group: "second"}
		c.Join(second, 1)
		c.Until("it leads the second group", func() bool { return c.Group("second", 1).IsLeader() })
		gate := make(chan struct{})
		defer synctest.Wait()
		defer close(gate)
		c.Host(1).Disk.Intercept(func([]storage.Record) error { <-gate; return nil })
		if err := c.Group("second", 1).Resign(t.Context()); err != nil { // it claims again, and the claim is saved
			t.Error(err)
		}
		c.Pass(ringleader.Test().Lease)
		for _, m := range []*ringleader.Member{c.Group("second", 1), c.Member(1)} {
			begun := time.Now()
			err := m.Close()
			lacks(t, err, ringleader.ErrStorage, "the disk has not answered for 10s")
			if took := time.Since(begun); took > 12*time.Second {
				t.Errorf("it took %v", took)
			}
		}
	})
}

// Between the end of one Lead and the beginning of the next one the loop of the member may not have run.
func TestWorkBeginsOnceInATermThoughLeadIsCalledAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1)
		defer c.Close()
		c.Start(1)
		c.Await(1)
		last, wrong := uint64(0), errors.New("the work has ended")
		for range 20 {
			err := c.Member(1).Lead(t.Context(), func(_ context.Context, l ringleader.Leadership) error {
				if l.Term() <= last {
					t.Errorf("work begins in term %d after that of term %d", l.Term(), last)
				}
				last = l.Term()
				return wrong
			})
			if !errors.Is(err, wrong) {
				t.Fatal(err)
			}
		}
	})
}
