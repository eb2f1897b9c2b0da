package rig

import (
	"bytes"
	"sync"
)

// Text is a text that may be read while it is written, such as a log.
type Text struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the text.
func (t *Text) Write(more []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(more)
}

// String returns the text so far.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// Reset forgets all.
func (t *Text) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Reset()
}
