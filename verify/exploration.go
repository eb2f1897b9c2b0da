package verify

import (
	"cmp"
	"iter"
	"math"
	"sync"

	"ringleader.example/ringleader/internal/memory"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/network"
)

// exploration explores all instances. If there are many, each lane takes the next one; otherwise one lane uses all
// cores. Verdicts are merged in the order of the instances, so that nothing depends on the number of lanes.
type exploration struct {
	program  *process.Program
	o        *Options
	report   *Report
	meter    *meter
	extremes tally
	shortest int    // transitions to the violation; -1 if there is none
	seen     uint32 // the sights so far, as bits
	outliers [costs]outliers

	mutex   sync.Mutex
	next    func() (network.Setup, bool)
	given   int               // instances given to lanes
	merged  int               // verdicts merged
	waiting map[int]postponed // by number of the instance
	err     error
}

// postponed is a verdict that cannot be merged before that of an earlier instance.
type postponed struct {
	verdict
	instance network.Setup
}

func newExploration(program *process.Program, o *Options) *exploration {
	return &exploration{program: program, o: o, report: &Report{Complete: true, Bits: 128, Symmetry: o.alike}, shortest: -1}
}

func (x *exploration) run() (*Report, error) {
	count := countInstances(x.program.Declaration, x.o)
	x.meter, x.waiting = newMeter(x.o, count), map[int]postponed{}
	defer memory.Limited(x.meter.enough())()
	next, stop := iter.Pull(instances(x.program.Declaration, x.o))
	defer stop()
	x.next = next
	about, err := newChecker(x.program, x.o, firstInstance(x.program.Declaration, x.o))
	if err != nil {
		return nil, err
	}
	lanes, cores := 1, max(1, x.o.Cores)
	if x.o.Wardens { // proofs of death are numbered, and reported in the order of their numbers
		cores = 1
	}
	if count >= 2*cores {
		lanes, cores = cores, 1
	}
	parallel(lanes, func(int) { x.lane(newLane(x.program, x.o, x.meter, cores)) })
	r := x.report
	r.Outside, r.Sometimes = about.unclaimed(about.unused()), about.sometimes(x.seen)
	if r.Complete && r.Violation == nil {
		r.MaxMessages, r.MinMessages = x.extremes.messages()
	}
	if r.MinMessages != nil && x.o.Extremes && x.err == nil {
		if r.Extremes, x.err = x.attained(); x.err == nil {
			r.Extremes.Time, r.Extremes.NoTime, x.err = timesOf(x.program, x.o)
		}
	}
	return r, x.err
}

// attained finds runs that attain the extremes.
func (x *exploration) attained() (*Extremes, error) {
	e, l := &Extremes{}, newLane(x.program, x.o, x.meter, 1)
	for i, extreme := range []*Extreme{&e.Total, &e.Election, &e.Announcement} {
		var err error
		if *extreme, err = x.outliers[i].extreme(l, counted(costNames[i])); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// lane explores instances until there is none.
func (x *exploration) lane(l *lane) {
	for {
		number, instance, fewer, ok := x.take()
		if !ok {
			return
		}
		v, err := l.explore(instance, fewer)
		x.meter.done(&l.search)
		x.merge(l, number, postponed{v, instance}, err)
	}
}

// take returns the next instance, and the number of transitions of the shortest violation so far.
func (x *exploration) take() (number int, instance network.Setup, fewer int, ok bool) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if !x.report.Complete || x.err != nil {
		return 0, instance, 0, false
	}
	number = x.given
	x.given++
	instance, ok = x.next()
	return number, instance, x.shortest, ok
}

// merge adds a verdict to the report, and those that waited for it. A search for violations that were not short enough
// is made again.
func (x *exploration) merge(l *lane, number int, w postponed, err error) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.waiting[number] = w
	for r := x.report; err == nil && x.err == nil && r.Complete; x.merged++ {
		w, found := x.waiting[x.merged]
		if !found {
			return
		}
		delete(x.waiting, x.merged)
		if w.fewer != x.shortest {
			if w.verdict, err = l.explore(w.instance, x.shortest); err != nil {
				break
			}
		}
		x.add(&w.verdict, w.instance)
	}
	x.err = cmp.Or(x.err, err)
	x.meter.end()
}

// add adds the verdict on an instance to the report.
func (x *exploration) add(v *verdict, instance network.Setup) {
	r := x.report
	r.Orders++
	r.States += v.states
	r.Transitions += v.transitions
	r.Finals += v.finals
	r.Confluent += v.confluent
	r.Partial += v.partial
	r.Symmetry = r.Symmetry || v.symmetric
	x.seen |= v.seen
	r.Depth = max(r.Depth, v.depth)
	r.Complete, r.Limit = v.complete, v.reached
	r.Bits = min(r.Bits, v.bits)
	r.Miss += math.Ldexp(float64(v.states)*float64(v.states), -v.bits-1)
	x.extremes.merge(&v.extremes)
	if v.extremes.seen && x.o.Extremes {
		few, many := v.extremes.min.all(), v.extremes.max.all()
		for i := range x.outliers {
			x.outliers[i].add(ticksOf(few[i]), ticksOf(many[i]), instance)
		}
	}
	if v.found != nil {
		x.shortest = len(v.found.path)
		r.Violation = v.violation
	}
}
