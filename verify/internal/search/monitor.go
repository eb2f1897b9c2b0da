package search

import (
	"slices"
	"sync"

	"ringleader.example/ringleader/internal/core/memory"
)

// Monitor watches a whole exploration: it reports progress, and stops the exploration before it exceeds the memory limit.
type Monitor struct {
	o     *Options
	mutex sync.Mutex
	told  Progress
	open  []*Search // those under way
	stop  bool
}

// Progress is how far an exploration is.
type Progress struct {
	States   int // found so far
	Frontier int // of them, those that are to be explored
	Done     int // orders that are explored
	Orders   int // all orders
}

// The most that lies between two looks of one search at the monitor, but for a block: new states, and bytes of the configurations to which
// its moves led. Large configurations take much memory long before they are many.
const (
	interval      = 1 << 13
	intervalBytes = blockBytes / 2
)

// NewMonitor returns the monitor of an exploration of so many orders.
func NewMonitor(o *Options, orders int) *Monitor {
	return &Monitor{o: o, told: Progress{Orders: orders}}
}

// goes reports whether a search continues, with so many states before it.
func (m *Monitor) goes(x *Search, waiting int) bool {
	if x.States < x.looked+interval && x.States >= x.looked && x.made < intervalBytes {
		return true
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	x.looked, x.made = x.States, 0
	x.waiting = waiting
	if !slices.Contains(m.open, x) {
		m.open = append(m.open, x)
	}
	if m.stop {
		return false
	}
	if m.tight(x) {
		x.Reached = MemoryLimit
		return false
	}
	return m.tell()
}

// amid is goes for a look amid a step of a search, of which one worker or another may be the first to look. An error says why the search ends.
func (m *Monitor) amid(x *Search) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	switch {
	case !m.stop && m.tight(x):
		return Unfinished{MemoryLimit}
	case m.stop || !m.tell():
		return Unfinished{NoLimit}
	}
	return nil
}

// tell passes on the progress, and reports whether the exploration continues.
func (m *Monitor) tell() bool {
	if m.o.Progress == nil {
		return true
	}
	told := m.told
	for _, x := range m.open {
		told.States += x.looked
		told.Frontier += x.waiting
	}
	m.stop = !m.o.Progress(told)
	return !m.stop
}

// Done adds a search that has ended.
func (m *Monitor) Done(x *Search) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.open = slices.DeleteFunc(m.open, func(y *Search) bool { return y == x })
	m.told.States += x.States
	m.told.Done++
	if m.told.Done%(interval/8) == 0 {
		m.tell()
	}
}

// End ends all searches.
func (m *Monitor) End() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.stop = true
}

// judging is the number of bytes that judging the graph takes for each state.
const judging = 48

// sparing is the part of the memory that may be in use before garbage is spared. To spare it always costs a program that has much else in
// memory most of its time.
const sparing = 4

// tight reports whether the memory will not be enough for the next steps of a search.
func (m *Monitor) tight(x *Search) bool {
	need := uint64(0)
	if !x.lean {
		need = judging * uint64(x.States)
	}
	return m.Scarce(need)
}

// Scarce reports whether so many more bytes will not be there.
func (m *Monitor) Scarce(need uint64) bool {
	used := memory.Used()
	if used > m.Enough()/sparing {
		memory.Sparing()
	}
	if used+need < m.Enough() {
		return false
	}
	memory.Release()
	return memory.Used()+need >= m.Enough()
}

// Enough is the number of bytes that may be in use between two looks: some are left for what a search takes until it
// looks again, and for the program.
func (m *Monitor) Enough() uint64 { return m.o.Memory - m.o.Memory/8 - 1<<24 }
