package ringleader_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// text is a log that several members write.
type text struct {
	mu sync.Mutex
	strings.Builder
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Builder.Write(b)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Builder.String()
}

func TestTheLogNamesTheStatesOfAMemberAsItsStatusDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines text
		c := ringleadertest.New(t, ringleader.Config{Logger: slog.New(slog.NewTextHandler(&lines, nil))}, 1, 2)
		defer c.Close()
		c.Start(1, 2)
		c.Await(2)
		c.Cut()
		c.Until("neither knows a leader", func() bool { return !c.Member(1).View().Known && !c.Member(2).View().Known })
		logged := map[ringleader.Role]bool{}
		for _, found := range regexp.MustCompile(`role=(\S+)`).FindAllStringSubmatch(lines.String(), -1) {
			logged[ringleader.Role(found[1])] = true
		}
		if got, want := slices.Sorted(maps.Keys(logged)), []ringleader.Role{ringleader.Electing, ringleader.Follower, ringleader.Leader}; !slices.Equal(got, want) {
			t.Errorf("the log has %q, and the status %q", got, want)
		}
	})
}

func TestALeaderWithoutAMajorityStopsItsWorkBeforeItsLeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		ended := make(chan error, 1)
		go c.Member(3).Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
			<-ctx.Done()
			if !l.Valid() {
				ended <- errors.New("the lease has ended before the work is to end")
			} else {
				ended <- context.Cause(ctx)
			}
			return nil
		})
		c.Settle()
		c.Kill(1)
		c.Kill(2)
		c.Until("the work ends", func() bool { return len(ended) > 0 })
		if err := <-ended; !errors.Is(err, ringleader.ErrLapsed) {
			t.Error(err)
		}
	})
}

func TestAnOverrunHasAName(t *testing.T) {
	for value, want := range map[ringleader.Overrun]string{ringleader.Exit: "exit", ringleader.Panic: "panic", ringleader.Log: "log"} {
		if got := value.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
