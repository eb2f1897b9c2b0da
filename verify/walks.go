package verify

import (
	"slices"
	"sync"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/internal/random"
	"ringleader.example/ringleader/network"
)

// longestWalk is the largest number of transitions of a random walk. Services have no last one.
const longestWalk = 1000

// mostInterned is the number of process states after which a walker begins with empty tables.
const mostInterned = 1 << 18

// Walks makes random walks through the configurations of an election, for sizes that no search can exhaust. One event in
// eight is a fault, while its budget lasts. The same seed makes the same walks and finds the same violation, which is that of the
// first walk that has one, on any number of cores. The report is never complete; its States are the steps of all walks.
func Walks(program *process.Program, o Options, count int, seed uint64) (*Report, error) {
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return nil, err
	}
	w := &walks{program: program, o: &o, seed: seed, lengths: make([]uint32, count), first: count}
	about, err := newChecker(program, &o, w.instance(0))
	if err != nil {
		return nil, err
	}
	parallel(max(1, o.Cores), func(int) { w.walk() })
	if w.err != nil {
		return nil, w.err
	}
	r := &Report{Walks: min(count, w.first+1), Bits: 128, Outside: about.unclaimed(about.unused())}
	for _, length := range w.lengths[:r.Walks] {
		r.States += int(length)
		r.Depth = max(r.Depth, int(length))
	}
	if w.stopped {
		r.Walks, r.Stopped = w.next, true
	}
	if w.first == count {
		r.Sometimes = about.sometimes(w.seen)
		return r, nil
	}
	c, err := newChecker(program, &o, w.instance(w.first))
	if err != nil {
		return nil, err
	}
	_, found := w.one(c, w.first)
	r.Violation = c.violation(found)
	return r, nil
}

// walks is what the walkers share.
type walks struct {
	program *process.Program
	o       *Options
	seed    uint64

	mutex   sync.Mutex
	next    int // the next walk
	first   int // with a violation
	lengths []uint32
	seen    uint32
	stopped bool
	err     error
}

// source returns the source of a walk's choices.
func (w *walks) source(number int) *random.Source {
	return random.New(w.seed, uint64(number)<<8|random.Schedule)
}

// instance returns the network of a walk: the given one, or a random order of identifiers.
func (w *walks) instance(number int) network.Setup {
	i := w.o.Instance
	if w.o.Size == 0 || w.program.Topology == election.Complete || w.program.Identifiers == election.Anonymous {
		return i
	}
	ids, source := upTo(w.o.Size), random.New(w.seed, uint64(number)<<8|random.Order)
	for p := len(ids) - 1; p > 0; p-- {
		q := int(source.Below(uint64(p + 1)))
		ids[p], ids[q] = ids[q], ids[p]
	}
	i.IDs = ids
	return i
}

// take returns the number of a walk to make.
func (w *walks) take() (number int, ok bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.next >= w.first || w.stopped || w.err != nil {
		return 0, false
	}
	if w.o.Progress != nil && w.next%256 == 0 && !w.o.Progress(Progress{Done: w.next, Orders: len(w.lengths)}) {
		w.stopped = true
		return 0, false
	}
	w.next++
	return w.next - 1, true
}

// walk makes walks until there is none to make.
func (w *walks) walk() {
	var c *checker
	for {
		number, ok := w.take()
		if !ok {
			return
		}
		var err error
		if c == nil || len(c.processes.values) > mostInterned {
			c, err = newChecker(w.program, w.o, w.instance(number))
		} else {
			err = c.on(w.instance(number))
		}
		if err != nil {
			w.mutex.Lock()
			w.err = err
			w.mutex.Unlock()
			return
		}
		length, f := w.one(c, number)
		w.mutex.Lock()
		w.lengths[number] = uint32(length)
		w.seen |= c.seen
		if f != nil {
			w.first = min(w.first, number)
		}
		w.mutex.Unlock()
	}
}

// one makes one walk. It returns the number of its steps, and its violation or nil.
func (w *walks) one(c *checker, number int) (length int, f *finding) {
	source := w.source(number)
	roots := c.beginnings()
	root := int(source.Below(uint64(len(roots))))
	conf := slices.Clone(roots[root])
	var path []int
	for len(path) < longestWalk {
		var chosen [2]struct { // of other events, and of faults
			ordinal, of int
			next        configuration
			breach      *breach
		}
		end, ordinal := true, 0
		c.transitions(conf, func(t *transition, next configuration) {
			end = end && t.class != due
			kind := 0
			if t.class == byFault {
				kind = 1
			}
			one := &chosen[kind]
			if one.of++; source.Below(uint64(one.of)) == 0 { // each of them is as likely in the end
				one.ordinal, one.breach = ordinal, t.breach
				one.next = append(one.next[:0], next...)
			}
			ordinal++
		})
		if end && !w.o.SafetyOnly {
			if f := c.settled(conf); f != nil {
				return len(path), &finding{breach: *f, root: root, path: path}
			}
		}
		kind := 0
		if chosen[1].of > 0 && (chosen[0].of == 0 || source.Below(8) == 0) {
			kind = 1
		}
		if chosen[kind].of == 0 {
			break
		}
		path = append(path, chosen[kind].ordinal)
		if b := chosen[kind].breach; b != nil {
			return len(path), &finding{breach: *b, root: root, path: path}
		}
		conf = append(conf[:0], chosen[kind].next...)
	}
	return len(path), nil
}
