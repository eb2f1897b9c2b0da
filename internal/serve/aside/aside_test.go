package aside

import (
	"bytes"
	"fmt"
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

func leftOut(missing int) string { return fmt.Sprintf("%d lines are missing\n", missing) }

func (t *terminal) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.SplitAfter(strings.TrimSuffix(t.text.String(), "\n"), "\n")
}

func TestALogThatNothingReadsHoldsNoMemberUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &terminal{held: make(chan struct{})}
		log, begun := New(out, leftOut), time.Now()
		const lines = 10_000
		for i := range lines {
			fmt.Fprintln(log, "line", i)
		}
		if took := time.Since(begun); took != moment {
			t.Errorf("%d lines have taken %v", lines, took)
		}
		close(out.held)
		synctest.Wait()
		got := out.lines()
		last := len(got) - 1
		for i, line := range got[:last] {
			if !strings.HasSuffix(line, fmt.Sprintf("line %d\n", i)) {
				t.Fatalf("line %d is %q", i, line)
			}
		}
		if want := strings.TrimSpace(leftOut(lines - last)); last < 100 || !strings.HasSuffix(got[last], want) {
			t.Errorf("the last of %d lines is %q; %q is wanted", last, got[last], want)
		}

		// All is as before then, and in order.
		begun = time.Now()
		for i := range 10 {
			fmt.Fprintln(log, "later", i)
			if all := out.lines(); !strings.HasSuffix(all[len(all)-1], fmt.Sprintf("later %d", i)) {
				t.Errorf("line %d is not written when its caller goes on", i)
			}
		}
		log.Close()
		fmt.Fprintln(log, "too late")
		if all := out.lines(); time.Since(begun) != 0 || len(all) != last+11 {
			t.Errorf("%d lines after %v", len(all), time.Since(begun))
		}
	})
}

func TestTheEndOfAMemberWaitsForItsLogForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &terminal{held: make(chan struct{})}
		log := New(out, leftOut)
		fmt.Fprintln(log, "line")
		time.AfterFunc(farewell/2, func() { close(out.held) })
		begun := time.Now()
		log.Close()
		if took := time.Since(begun); took != farewell/2-moment && took != farewell/2 || len(out.lines()) != 1 {
			t.Errorf("it is written after %v: %q", took, out.lines())
		}

		held := &terminal{held: make(chan struct{})}
		log = New(held, leftOut)
		fmt.Fprintln(log, "line")
		begun = time.Now()
		log.Close()
		if took := time.Since(begun); took != farewell {
			t.Errorf("it waits for %v", took)
		}
		close(held.held)
	})
}
