//go:build !js

package report

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Aside is the log of a member that waits for no reader. A pipe that no process reads takes nothing when it is full, nor does a terminal in which Ctrl-S was
// pressed. A member whose loop waited there would lose its lead, and its warden would kill it.
//
// A goroutine writes. A caller waits for it for a moment, so that the log and what others print are in order. A caller does not wait when a line before is
// still being written. Lines that find no room are left out, and counted in a line.
type Aside struct {
	out io.Writer
	id  uint64

	mu      sync.Mutex
	lines   []*asideLine // not yet written
	size    int          // of lines and of that which is being written, in bytes
	missing int          // since the last line that was taken
	writes  bool         // a goroutine does
	stuck   bool         // a caller has waited in vain, and not all is written since
	closed  bool
	idle    chan struct{} // is closed when a closed log is written
}

type asideLine struct {
	text    []byte
	written chan struct{}
}

const (
	asideMoment   = 5 * time.Millisecond // short against --hang of every preset
	asideRoom     = 64 << 10
	asideFarewell = time.Second
)

// NewAside returns a log of the member with an identifier, for people, and what it writes through.
func NewAside(out io.Writer, id uint64, level slog.Leveler) (slog.Handler, *Aside) {
	a := &Aside{out: out, id: id, idle: make(chan struct{})}
	return NewLog(a, id, level), a
}

// Write implements io.Writer for a log: text is a line. It returns no error.
func (a *Aside) Write(text []byte) (int, error) {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return len(text), nil
	}
	if a.missing > 0 || a.size+len(text) > asideRoom {
		a.missing++
		a.mu.Unlock()
		return len(text), nil
	}
	l := &asideLine{append([]byte(nil), text...), make(chan struct{})}
	a.lines = append(a.lines, l)
	a.size += len(text)
	stuck := a.stuck
	if !a.writes {
		a.writes = true
		go a.write()
	}
	a.mu.Unlock()
	if stuck {
		return len(text), nil
	}
	moment := time.NewTimer(asideMoment)
	defer moment.Stop()
	select {
	case <-l.written:
	case <-moment.C:
		a.mu.Lock()
		a.stuck = a.writes
		a.mu.Unlock()
	}
	return len(text), nil
}

// write writes all lines.
func (a *Aside) write() {
	for l := a.next(nil); l != nil; l = a.next(l) {
		_, _ = a.out.Write(l.text)
		close(l.written)
	}
}

// next returns the line after one that was written, or nil.
func (a *Aside) next(before *asideLine) *asideLine {
	a.mu.Lock()
	defer a.mu.Unlock()
	if before != nil {
		a.size -= len(before.text)
	}
	if len(a.lines) == 0 && a.missing > 0 {
		text := fmt.Sprintf("warning: %d lines of the log are left out here: nothing took them", a.missing)
		a.lines = append(a.lines, &asideLine{[]byte(memberLine(time.Now(), a.id, text)), make(chan struct{})})
		a.missing, a.size = 0, len(a.lines[0].text)
	}
	if len(a.lines) == 0 {
		a.writes, a.stuck = false, false
		if a.closed {
			close(a.idle)
		}
		return nil
	}
	l := a.lines[0]
	a.lines = a.lines[1:]
	return l
}

// Close waits until all is written, for a second at most. Nothing is written after it.
func (a *Aside) Close() {
	a.mu.Lock()
	closed, writes := a.closed, a.writes
	a.closed = true
	a.mu.Unlock()
	if closed || !writes {
		return
	}
	farewell := time.NewTimer(asideFarewell)
	defer farewell.Stop()
	select {
	case <-a.idle:
	case <-farewell.C:
	}
}
