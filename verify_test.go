package ringleader_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// led runs a test on a cluster of three of which the third leads.
func led(t *testing.T, test func(t *testing.T, c *ringleadertest.Cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		test(t, c)
	})
}

// lacks reports an error that is not want, or whose text does not contain all parts.
func lacks(t *testing.T, err, want error, parts ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v; want %v", err, want)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

// verification is a call of VerifyLeader that has not returned.
func verification(ctx context.Context, m *ringleader.Member) <-chan error {
	done := make(chan error, 1)
	go func() { done <- m.VerifyLeader(ctx) }()
	synctest.Wait()
	return done
}

func returned(done <-chan error) bool { return len(done) > 0 }

func TestALeaderIsVerifiedByAQuorumRoundAtOnce(t *testing.T) {
	led(t, func(t *testing.T, c *ringleadertest.Cluster) {
		for range 100 {
			begun := time.Now()
			if err := c.Member(3).VerifyLeader(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > time.Millisecond { // and not with the next renewal
				t.Errorf("it took %v", took)
			}
			c.Pass(3 * time.Millisecond)
		}
	})
}

func TestNoAnswerToAnEarlierRequestVerifiesALeader(t *testing.T) {
	led(t, func(t *testing.T, c *ringleadertest.Cluster) {
		grant := func(f ringleadertest.Frame) bool { return f.Kind == "grant" }
		c.Hold(grant)
		answers := func() (n int) {
			for _, f := range c.Held() {
				if grant(f) {
					n++
				}
			}
			return n
		}
		c.Until("a renewal is answered", func() bool { return answers() == 2 })
		done := verification(t.Context(), c.Member(3))
		c.Until("a quorum round is answered", func() bool { return answers() == 4 })
		for range 2 {
			c.Deliver(slices.IndexFunc(c.Held(), grant))
		}
		if returned(done) {
			t.Fatal("an answer to a request from before the call counts")
		}
		c.Deliver(slices.IndexFunc(c.Held(), grant))
		if !returned(done) {
			t.Fatal("a majority has answered")
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// The leader counts only answers to its last requests. More calls than that at the same time must not end its lease.
func TestManyVerificationsAtOnceShareARoundAndCostNoLease(t *testing.T) {
	led(t, func(t *testing.T, c *ringleadertest.Cluster) {
		c.Hold(func(f ringleadertest.Frame) bool { return f.Kind == "renew" })
		var all []<-chan error
		for range 50 {
			all = append(all, verification(t.Context(), c.Member(3)))
			c.Pass(10 * time.Microsecond)
		}
		requests := 0
		for _, f := range c.Held() {
			if f.To == 1 {
				requests++
			}
		}
		if requests > 2 { // theirs, and perhaps a renewal
			t.Errorf("%d requests are under way", requests)
		}
		c.Hold(nil)
		for len(c.Held()) > 0 {
			c.Deliver(0)
		}
		for _, done := range all {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestALeaderThatIsCutOffIsNotVerified(t *testing.T) {
	led(t, func(t *testing.T, c *ringleadertest.Cluster) {
		c.Cut([]uint64{1, 2}, []uint64{3})
		ctx, cancel := context.WithTimeout(t.Context(), ringleader.Test().Lease/4)
		defer cancel()
		lacks(t, c.Member(3).VerifyLeader(ctx), context.DeadlineExceeded, "no majority has confirmed the leader of term")
		lacks(t, c.Member(3).VerifyLeader(t.Context()), ringleader.ErrNotLeader, "any more", "has ended before a majority has confirmed it")
		lacks(t, c.Member(3).VerifyLeader(t.Context()), ringleader.ErrNotLeader, "it knows no leader")
		c.Await(2)
		c.Heal()
		c.Await(2)
		lacks(t, c.Member(3).VerifyLeader(t.Context()), ringleader.ErrNotLeader, "member 2 leads in term")
		if err := c.Member(2).VerifyLeader(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestALeaderThatWasPausedIsNotVerified(t *testing.T) {
	led(t, func(t *testing.T, c *ringleadertest.Cluster) {
		c.Hold(func(f ringleadertest.Frame) bool { return f.Kind == "grant" && f.To == 3 })
		done := verification(t.Context(), c.Member(3))
		c.Stop(3)
		c.Await(2)
		c.Hold(nil)
		for slices.ContainsFunc(c.Held(), func(f ringleadertest.Frame) bool { return f.Kind == "grant" }) {
			c.Deliver(0)
		}
		c.Continue(3)
		lacks(t, <-done, ringleader.ErrNotLeader)
		lacks(t, c.Member(3).VerifyLeader(t.Context()), ringleader.ErrNotLeader)
	})
}

func TestNoMemberIsVerifiedWithoutALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(3)
		c.Pass(time.Second)
		lacks(t, c.Member(3).VerifyLeader(t.Context()), ringleader.ErrNotLeader, "it knows no leader")
	})
}

func TestTheOnlyMemberIsVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 7)
		defer c.Close()
		c.Start(7)
		c.Await(7)
		if err := c.Member(7).VerifyLeader(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// deaf is a test that no judge of two leases can fail: they are meant.
type deaf struct{ testing.TB }

func (deaf) Errorf(string, ...any) {}

// The clocks of 1 and 2 are far too fast. So they elect 2, while 3 leads still, and 2 may write. Then 1 is bound no more, and answers 3 again, by
// whose lease the answer counts. It has promised a higher term, so it confirms nothing.
func TestALeaderIsNotVerifiedByAMemberThatHasElectedAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(deaf{t}, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		if err := c.Member(3).VerifyLeader(t.Context()); err != nil {
			t.Fatal(err)
		}
		term := c.Member(3).View().Term
		c.Host(1).Clock.Run(5)
		c.Host(2).Clock.Run(5)
		c.Hold(func(f ringleadertest.Frame) bool { return f.From == 2 && f.Kind == "renew" })
		c.Cut([]uint64{1, 2}, []uint64{3})
		c.Until("2 leads", func() bool { return c.Member(2).View().Role == ringleader.Leader })
		c.Cut([]uint64{1, 3}, []uint64{2})
		grant := func(f ringleadertest.Frame) bool { return f.From == 1 && f.To == 3 && f.Kind == "grant" }
		c.Hold(grant)
		c.Until("1 follows 3 again", func() bool { return c.Member(1).View().Leader == 3 })
		for slices.ContainsFunc(c.Held(), grant) {
			c.Drop(slices.IndexFunc(c.Held(), grant))
		}
		done := verification(t.Context(), c.Member(3)) // 3 does not know yet what 1 has promised
		c.Until("1 has answered its request", func() bool { return slices.ContainsFunc(c.Held(), grant) })
		c.Hold(nil)
		c.Deliver(slices.IndexFunc(c.Held(), grant))
		lacks(t, <-done, ringleader.ErrDisputed, "this one leads in term")
		c.Pass(ringleader.Test().Lease) // 3 lives by the answers of 1
		if v := c.Member(3).View(); v.Role != ringleader.Leader || v.Term != term {
			t.Fatalf("3 has %+v", v)
		}
		begun := time.Now()
		lacks(t, c.Member(3).VerifyLeader(t.Context()), ringleader.ErrDisputed, "this one leads in term")
		if took := time.Since(begun); took > time.Millisecond {
			t.Errorf("it took %v", took)
		}
		c.Host(1).Clock.Run(1)
		c.Host(2).Clock.Run(1)
		c.Heal()
		c.Hold(nil)
		// Member 3 may know that another one leads before it can resign.
		if err := c.Member(3).Resign(t.Context()); err != nil && !errors.Is(err, ringleader.ErrNotLeader) {
			t.Error(err)
		}
		leader := c.AwaitAny()
		c.Until("the next leader is verified", func() bool {
			return c.Member(leader).VerifyLeader(t.Context()) == nil
		})
	})
}
