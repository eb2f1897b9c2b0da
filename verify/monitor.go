package verify

import (
	"slices"
	"sync"

	"ringleader.example/ringleader/internal/core/memory"
)

// monitor watches a whole exploration: it reports progress, and stops the exploration before it exceeds the memory limit.
type monitor struct {
	o     *searchOptions
	mutex sync.Mutex
	told  progress
	open  []*search // those under way
	stop  bool
}

// progress is how far an exploration is.
type progress struct {
	States   int // found so far
	Frontier int // of them, those that are to be explored
	Done     int // orders that are explored
	Orders   int // all orders
}

// interval is the number of new states between two looks of one search at the monitor.
const interval = 1 << 13

func newMonitor(o *searchOptions, orders int) *monitor {
	return &monitor{o: o, told: progress{Orders: orders}}
}

// goes reports whether a search continues, with so many states before it.
func (m *monitor) goes(x *search, waiting int) bool {
	if x.States < x.looked+interval && x.States >= x.looked {
		return true
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	x.looked = x.States
	x.waiting = waiting
	if !slices.Contains(m.open, x) {
		m.open = append(m.open, x)
	}
	if m.stop {
		return false
	}
	if m.tight(x) {
		x.Reached = memoryLimit
		return false
	}
	return m.tell()
}

// tell passes on the progress, and reports whether the exploration continues.
func (m *monitor) tell() bool {
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
func (m *monitor) Done(x *search) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.open = slices.DeleteFunc(m.open, func(y *search) bool { return y == x })
	m.told.States += x.States
	m.told.Done++
	if m.told.Done%(interval/8) == 0 {
		m.tell()
	}
}

// End ends all searches.
func (m *monitor) End() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.stop = true
}

// judging is the number of bytes that judging the graph takes for each state.
const judging = 48

// many is the number of bytes from which on garbage is spared.
const many = 1 << 26

// tight reports whether the memory will not be enough for the next steps of a search.
func (m *monitor) tight(x *search) bool {
	need := uint64(0)
	if !x.lean {
		need = judging * uint64(x.States)
	}
	used := memory.Used()
	if used > many {
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
func (m *monitor) Enough() uint64 { return m.o.Memory - m.o.Memory/8 - 1<<24 }
