package verify

import (
	"errors"
	"fmt"
	"sync"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/search"
)

// mostInterned is the number of process states after which a walker begins with empty tables.
const mostInterned = 1 << 16

// Walks makes random walks through the configurations of an election, for sizes that no search can exhaust. One event in
// eight is a fault, while its budget lasts. The same seed makes the same walks and finds the same violation, which is that of the
// first walk that has one, on any number of cores. The report is never complete; its States are the steps of all walks.
func Walks(a program.Program, o Options, count int, seed uint64) (*Report, error) {
	program := process.Opened(a)
	return guarded(program, &o, func() (*Report, error) { return walked(program, &o, count, seed) })
}

func walked(program *process.Program, o *Options, count int, seed uint64) (*Report, error) {
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return nil, err
	}
	if err := o.begins(program); err != nil {
		return nil, err
	}
	w := &walks{program: program, o: o, seed: seed, lengths: make([]uint32, count), first: count, monitor: search.NewMonitor(o.search(), count)}
	about, err := model.NewChecker(program, o.model(), w.setup(0))
	if err != nil {
		return nil, err
	}
	if err := w.make(max(1, o.Cores)); err != nil && !w.stopped {
		return nil, err
	}
	r := &Report{Walks: min(count, w.first+1), Bits: 128, Outside: about.Unclaimed(about.Options.Unused(), election.Units(uint64(about.Options.Delay)))}
	for _, length := range w.lengths[:r.Walks] {
		r.States += int(length)
		r.Depth = max(r.Depth, int(length))
	}
	if w.stopped {
		r.Walks, r.Stopped = w.next, true
	}
	if w.first == count {
		r.Coverage = coverageOf(about, w.seen)
		return r, nil
	}
	c, err := model.NewChecker(program, o.model(), w.setup(w.first))
	if err != nil {
		return nil, err
	}
	_, found := (&search.Walker{Checker: c, Locates: true}).Walk(w.source(w.first))
	r.Violation = (*Violation)(c.Violation(found))
	return r, nil
}

// walks is what the walkers share.
type walks struct {
	program *process.Program
	o       *Options
	seed    uint64
	monitor *search.Monitor // of the memory

	mutex   sync.Mutex
	next    int // the next walk
	first   int // with a violation
	lengths []uint32
	seen    uint32
	stopped bool
	err     error
}

// make makes all walks, on so many cores.
func (w *walks) make(cores int) (err error) {
	defer model.Halted(&err)
	search.Parallel(cores, func(int) { w.walk() })
	return w.err
}

// look returns an error if a walk is to end amid a step, since memory is scarce, or since the caller ends all walks.
func (w *walks) look() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.monitor.Scarce(0) {
		return fmt.Errorf("%s %w: one step has more outcomes than the memory holds", w.program.Name, ErrLimit)
	}
	w.stopped = w.stopped || w.o.Progress != nil && !w.o.Progress(Progress{Done: w.next, Orders: len(w.lengths)})
	if w.stopped {
		return errStopped
	}
	return nil
}

// errStopped reports that the caller ended what was under way amid a step.
var errStopped = errors.New("stopped amid a step")

// source returns the source of a walk's choices.
func (w *walks) source(number int) *random.Source {
	return random.New(w.seed, uint64(number)<<8|random.Schedule)
}

// setup returns the network of a walk: the given one, or a random order of identifiers.
func (w *walks) setup(number int) network.Setup {
	i := w.o.Setup
	if !w.shuffled() {
		return i
	}
	ids, source := w.o.rising(), random.New(w.seed, uint64(number)<<8|random.Order)
	for p := len(ids) - 1; p > 0; p-- {
		q := int(source.Below(uint64(p + 1)))
		ids[p], ids[q] = ids[q], ids[p]
	}
	i.IDs = ids
	return i
}

// shuffled reports whether walks have different networks.
func (w *walks) shuffled() bool {
	return w.o.Size > 0 && w.program.Topology != election.Complete && w.program.Identifiers != election.Anonymous
}

// take returns the number of a walk to make.
func (w *walks) take() (number int, ok bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.next >= w.first || w.stopped || w.err != nil {
		return 0, false
	}
	if w.o.Progress != nil && w.next%16 == 0 && !w.o.Progress(Progress{Done: w.next, Orders: len(w.lengths)}) {
		w.stopped = true
		return 0, false
	}
	w.next++
	return w.next - 1, true
}

// walk makes walks until there is none to make.
func (w *walks) walk() {
	var k *search.Walker
	for {
		number, ok := w.take()
		if !ok {
			return
		}
		if k == nil || len(k.Processes.Values) > mostInterned || w.shuffled() {
			if err := w.turn(&k, number); err != nil {
				w.mutex.Lock()
				w.err = err
				w.mutex.Unlock()
				return
			}
		}
		length, f := k.Walk(w.source(number))
		w.mutex.Lock()
		w.lengths[number] = uint32(length)
		w.seen |= k.Seen
		if f != nil {
			w.first = min(w.first, number)
		}
		w.mutex.Unlock()
	}
}

// turn turns a walker to the network of a walk. A new one, or one that has computed very much, begins with empty tables.
func (w *walks) turn(k **search.Walker, number int) error {
	if *k != nil && len((*k).Processes.Values) <= mostInterned {
		return (*k).On(w.setup(number))
	}
	c, err := model.NewChecker(w.program, w.o.model(), w.setup(number))
	if err != nil {
		return err
	}
	c.Look = w.look
	*k = &search.Walker{Checker: c}
	return nil
}
