package live

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/recorder"
)

// stuck is a sink that fails, or hangs until it is let go.
type stuck struct {
	record.Memory
	gate chan struct{} // nil: it fails
}

func (s *stuck) WriteAt(b []byte, at int64) error {
	if s.gate == nil {
		return errors.New("no space left")
	}
	<-s.gate
	return s.Memory.WriteAt(b, at)
}

// logLines counts the lines of a log by their messages.
type logLines struct {
	slog.Handler
	mu    sync.Mutex
	count map[string]int
}

func (l *logLines) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *logLines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[r.Message]++
	return nil
}

func TestARecordThatFailsOrHangsStopsNoMember(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := leased(t, 3)
			defer c.stopAll()
			log, sink := &logLines{Handler: slog.DiscardHandler, count: map[string]int{}}, &stuck{}
			if hangs {
				sink.gate = make(chan struct{})
			}
			c.recorded = func(id uint64) (*recorder.Config, *slog.Logger) {
				if id != 3 {
					return nil, nil
				}
				return &recorder.Config{Sink: sink}, slog.New(enabled{log})
			}
			c.start(1, 2, 3)
			c.follow(3)
			<-time.After(time.Minute)
			c.follow(3)
			if changes := c.members[3].Group.Counts().Changes; changes != 1 {
				t.Errorf("the leader has changed %d times", changes)
			}
			want := 1
			if hangs {
				want = 0
				close(sink.gate)
			}
			if told := log.count["the record of this member stops; the member goes on"]; told != want {
				t.Errorf("hangs %v: it was said %d times", hangs, told)
			}
		})
	}
}

// enabled lets a handler have all lines.
type enabled struct{ *logLines }

func (enabled) Enabled(context.Context, slog.Level) bool { return true }

func (e enabled) WithAttrs([]slog.Attr) slog.Handler { return e }

// A process that is stopped amid a step stands still as one that waits.
func TestALoopThatStandsStillWhileItWorksIsInTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 1)
		sink := &record.Memory{}
		c.recorded = func(uint64) (*recorder.Config, *slog.Logger) {
			return &recorder.Config{Sink: sink}, slog.New(slog.DiscardHandler)
		}
		c.start(1)
		c.follow(1)
		const still = 1600 * time.Millisecond
		_ = c.members[1].Amend(func(*book.Book) (bool, error) { // in the loop
			<-time.After(still)
			return false, errors.New("no change")
		})
		c.stopAll()
		var longest time.Duration
		for e := range record.Parse("", sink.Archive()).Logs[0].Entries() {
			if late, is := e.Body.(*record.Late); is {
				longest = max(longest, late.By)
			}
		}
		if longest < still {
			t.Errorf("it was late by %v at most", longest)
		}
	})
}

func TestEachSegmentHasASnapshotBeforeItsSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 3)
		sink := &record.Memory{}
		c.recorded = func(id uint64) (*recorder.Config, *slog.Logger) {
			if id != 3 {
				return nil, nil
			}
			return &recorder.Config{Sink: sink, Options: record.Options{Segment: 4 << 10}}, slog.New(slog.DiscardHandler)
		}
		c.start(1, 2, 3)
		c.follow(3)
		<-time.After(3 * time.Minute)
		c.stopAll()
		segments := record.Parse("", sink.Archive()).Logs[0].Segments
		if len(segments) < 4 {
			t.Fatalf("%d segments", len(segments))
		}
		for i, s := range segments {
			snapshot := false
			for e := range s.Entries() {
				switch e.Body.(type) {
				case *record.Snapshot:
					snapshot = true
				case *record.Step:
					if !snapshot {
						t.Fatalf("segment %d has a step before its snapshot", i)
					}
				}
			}
		}
	})
}

// The record tells for which flushes a step has waited: not for those of the lead.
func TestTheRecordTellsWhichFlushesWereWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 3)
		sink := &record.Memory{}
		c.recorded = func(id uint64) (*recorder.Config, *slog.Logger) {
			if id != 2 {
				return nil, nil
			}
			return &recorder.Config{Sink: sink}, slog.New(slog.DiscardHandler)
		}
		c.start(1, 2, 3)
		c.until(2, "follows 3", follows(3))
		c.crash(3)
		c.until(2, "leads", leads)
		settle()
		c.stopAll()
		steps, waited, others := 0, 0, 0
		for e := range record.Parse("", sink.Archive()).Logs[0].Entries() {
			switch body := e.Body.(type) {
			case *record.Step:
				if body.Durable {
					steps++
				}
			case *record.Flush:
				if waited += body.Groups; body.Groups == 0 {
					others++
				}
			}
		}
		if waited != steps || steps < 3 || others < 2 {
			t.Errorf("%d steps waited for a flush, and flushes for which %d did; nothing waited for %d: two leaders are to be among these", steps, waited, others)
		}
	})
}
