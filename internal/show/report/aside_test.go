//go:build !js

package report

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// terminal takes nothing while it is held.
type terminal struct {
	mu   sync.Mutex
	held chan struct{} // closed: it is not held
	text bytes.Buffer
}

func (t *terminal) Write(b []byte) (int, error) {
	<-t.held
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *terminal) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.SplitAfter(strings.TrimSuffix(t.text.String(), "\n"), "\n")
}

func TestALogThatNothingReadsHoldsNoMemberUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &terminal{held: make(chan struct{})}
		handler, aside := NewAside(out, 3, slog.LevelInfo)
		log, begun := slog.New(handler), time.Now()
		const lines = 10_000
		for i := range lines {
			log.Info("line", "n", i)
		}
		if took := time.Since(begun); took != asideMoment {
			t.Errorf("%d lines have taken %v", lines, took)
		}
		close(out.held)
		synctest.Wait()
		got := out.lines()
		last := len(got) - 1
		for i, line := range got[:last] {
			if !strings.HasSuffix(line, fmt.Sprintf("  3 line n=%d\n", i)) {
				t.Fatalf("line %d is %q", i, line)
			}
		}
		if want := fmt.Sprintf("  3 warning: %d lines of the log are left out here: nothing took them", lines-last); last < 100 || !strings.HasSuffix(got[last], want) {
			t.Errorf("the last of %d lines is %q; %q is wanted", last, got[last], want)
		}

		// All is as before then, and in order.
		begun = time.Now()
		for i := range 10 {
			log.Info("later", "n", i)
			if all := out.lines(); !strings.HasSuffix(all[len(all)-1], fmt.Sprintf("later n=%d", i)) {
				t.Errorf("line %d is not written when its caller goes on", i)
			}
		}
		aside.Close()
		log.Info("too late")
		if all := out.lines(); time.Since(begun) != 0 || len(all) != last+11 {
			t.Errorf("%d lines after %v", len(all), time.Since(begun))
		}
	})
}

func TestTheEndOfAMemberWaitsForItsLogForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &terminal{held: make(chan struct{})}
		handler, aside := NewAside(out, 3, slog.LevelInfo)
		slog.New(handler).Info("line")
		time.AfterFunc(asideFarewell/2, func() { close(out.held) })
		begun := time.Now()
		aside.Close()
		if took := time.Since(begun); took != asideFarewell/2-asideMoment && took != asideFarewell/2 || len(out.lines()) != 1 {
			t.Errorf("it is written after %v: %q", took, out.lines())
		}

		held := &terminal{held: make(chan struct{})}
		handler, aside = NewAside(held, 3, slog.LevelInfo)
		slog.New(handler).Info("line")
		begun = time.Now()
		aside.Close()
		if took := time.Since(begun); took != asideFarewell {
			t.Errorf("it waits for %v", took)
		}
		close(held.held)
	})
}
