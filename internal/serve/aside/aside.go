// Package aside writes the log of a member, and the lines of its warden, and holds neither up for a reader.
package aside

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// Writer is that of a log that waits for no reader. A pipe that no process reads takes nothing when it is full, nor does a terminal in which Ctrl-S was
// pressed. A member whose loop waited there would lose its lead, and its warden would kill it.
//
// A goroutine writes. A caller waits for it for a moment, so that the log and what others print are in order. A caller does not wait when a line before is
// still being written. Lines that find no room are left out, and counted in a line.
type Writer struct {
	out     io.Writer
	leftOut func(missing int) string // the line about lines that were left out

	mu      sync.Mutex
	lines   []*line // not yet written
	size    int     // of lines and of that which is being written, in bytes
	missing int     // since the last line that was taken
	writes  bool    // a goroutine does
	stuck   bool    // a caller has waited in vain, and not all is written since
	closed  bool
	idle    chan struct{} // is closed when a closed log is written
}

type line struct {
	text    []byte
	written chan struct{}
}

const (
	moment   = 5 * time.Millisecond // short against --hang of every preset
	room     = 64 << 10
	farewell = time.Second
)

// New returns what writes through to out. leftOut returns the line that tells how many lines were left out.
func New(out io.Writer, leftOut func(missing int) string) *Writer {
	return &Writer{out: out, leftOut: leftOut, idle: make(chan struct{})}
}

// Write implements io.Writer for a log: text is a line. It returns no error.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return len(text), nil
	}
	if w.missing > 0 || w.size+len(text) > room {
		w.missing++
		w.mu.Unlock()
		return len(text), nil
	}
	l := &line{bytes.Clone(text), make(chan struct{})}
	w.lines = append(w.lines, l)
	w.size += len(text)
	stuck := w.stuck
	if !w.writes {
		w.writes = true
		go w.write()
	}
	w.mu.Unlock()
	if stuck {
		return len(text), nil
	}
	late := time.NewTimer(moment)
	defer late.Stop()
	select {
	case <-l.written:
	case <-late.C:
		w.mu.Lock()
		w.stuck = w.writes
		w.mu.Unlock()
	}
	return len(text), nil
}

// write writes all lines.
func (w *Writer) write() {
	for l := w.next(nil); l != nil; l = w.next(l) {
		_, _ = w.out.Write(l.text)
		close(l.written)
	}
}

// next returns the line after one that was written, or nil.
func (w *Writer) next(before *line) *line {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before != nil {
		w.size -= len(before.text)
	}
	if len(w.lines) == 0 && w.missing > 0 {
		w.lines = append(w.lines, &line{[]byte(w.leftOut(w.missing)), make(chan struct{})})
		w.missing, w.size = 0, len(w.lines[0].text)
	}
	if len(w.lines) == 0 {
		w.writes, w.stuck = false, false
		if w.closed {
			close(w.idle)
		}
		return nil
	}
	l := w.lines[0]
	w.lines = w.lines[1:]
	return l
}

// Close waits until all is written, for a second at most. Nothing is written after it.
func (w *Writer) Close() {
	w.mu.Lock()
	closed, writes := w.closed, w.writes
	w.closed = true
	w.mu.Unlock()
	if closed || !writes {
		return
	}
	late := time.NewTimer(farewell)
	defer late.Stop()
	select {
	case <-w.idle:
	case <-late.C:
	}
}
