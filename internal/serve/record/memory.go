package record

import "sync"

// Memory keeps the segments of a [Writer] in memory, for tests.
type Memory struct {
	mu       sync.Mutex
	finished []byte
	present  []byte
}

// Begin implements [Sink].
func (m *Memory) Begin(uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finished, m.present = append(m.finished, m.present...), nil
	return nil
}

// WriteAt implements [Sink].
func (m *Memory) WriteAt(block []byte, at int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.present = append(m.present[:at], block...)
	return nil
}

// Close implements [Sink].
func (m *Memory) Close() error { return nil }

// Archive returns all segments so far. The writer may have some entries still: see [Writer.Sync].
func (m *Memory) Archive() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(append([]byte(nil), m.finished...), m.present...)
}
