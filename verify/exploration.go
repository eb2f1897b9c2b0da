package verify

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/memory"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/search"
)

// exploration explores all setups. If there are many, each searcher takes the next one; otherwise one searcher uses all
// cores. Verdicts are merged in the order of the setups, so that nothing depends on the number of searchers.
type exploration struct {
	program  *process.Program
	o        *Options
	settings *search.Options
	all      *enumeration
	report   *Report
	monitor  *search.Monitor
	sum      Part // of the verdicts so far
	timed    bool // sum has the extremes of time
	shortest int  // transitions to the violation; -1 if there is none

	mutex   sync.Mutex
	next    uint64            // the number of the next setup
	given   int               // setups given to searchers
	merged  int               // verdicts merged
	waiting map[int]postponed // in the order in which setups were given
	err     error
}

// postponed is a verdict that cannot be merged before that of an earlier setup.
type postponed struct {
	search.Verdict
	setup  network.Setup
	number uint64
}

func newExploration(program *process.Program, o *Options) *exploration {
	return &exploration{program: program, o: o, settings: o.search(), all: enumerate(program.Declaration, o), report: &Report{Complete: true}, shortest: -1}
}

func (x *exploration) run() (*Report, error) {
	count := countSetups(x.program.Declaration, x.o)
	x.monitor, x.waiting = search.NewMonitor(x.settings, count), map[int]postponed{}
	defer memory.Limited(x.monitor.Enough())()
	about, err := model.NewChecker(x.program, &x.settings.Options, firstSetup(x.program.Declaration, x.o))
	if err != nil {
		return nil, err
	}
	searchers, cores := 1, max(1, x.o.Cores)
	if x.o.Wardens { // proofs of death are numbered, and reported in the order of their numbers
		cores = 1
	}
	if count >= 2*cores {
		searchers, cores = cores, 1
	}
	if x.next < x.all.len() {
		search.Parallel(searchers, func(int) { x.search(search.NewSearcher(x.program, x.settings, x.monitor, cores)) })
	}
	r := x.report
	x.sum.report(r)
	r.Symmetry = r.Symmetry || x.o.alike
	r.Outside, r.Coverage = about.Unclaimed(about.Options.Unused(), election.Units(uint64(about.Options.Delay))), coverageOf(about, x.sum.Seen)
	if r.Complete && r.Violation == nil {
		r.MaxMessages, r.MinMessages = x.sum.Messages.messages()
	}
	if r.MinMessages != nil && x.o.Extremes && x.err == nil {
		known := &x.sum
		if !x.timed {
			known = nil
		}
		if r.Extremes, x.err = x.attained(); x.err == nil {
			r.Extremes.Time, r.Extremes.NoTime, x.err = timesOf(x.program, x.o, known)
		}
	}
	if u := (search.Unfinished{}); errors.As(x.err, &u) && u.Reached == search.NoLimit {
		r.Extremes, x.err = nil, nil // all else is known
	} else if u != (search.Unfinished{}) {
		x.err = fmt.Errorf("%s %w: %w", x.program.Name, ErrLimit, u)
	}
	return r, x.err
}

// attained finds runs that attain the extremes.
func (x *exploration) attained() (*Extremes, error) {
	e, l := &Extremes{}, search.NewSearcher(x.program, x.settings, x.monitor, 1)
	for i, extreme := range []*Extreme{&e.Total, &e.Election, &e.Announcement} {
		var err error
		if *extreme, err = x.sum.Costs[i].extreme(l, x.all, search.Counted(model.CostNames[i])); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// search explores setups until there is none.
func (x *exploration) search(l *search.Searcher) {
	for {
		place, w, fewer, ok := x.take()
		if !ok {
			return
		}
		var err error
		w.Verdict, err = l.Explore(w.setup, fewer)
		x.monitor.Done(&l.Search)
		x.merge(l, place, w, err)
	}
}

// take returns the next setup, its place among those that were given, and the number of transitions of the shortest
// violation so far.
func (x *exploration) take() (place int, w postponed, fewer int, ok bool) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if !x.report.Complete || x.err != nil {
		return 0, w, 0, false
	}
	for x.next < x.all.len() && !ok {
		w.number = x.next
		w.setup, ok = x.all.at(w.number)
		x.next++
	}
	place = x.given
	x.given++
	return place, w, x.shortest, ok
}

// merge adds a verdict to the report, and those that waited for it. A search for violations that were not short enough
// is made again.
func (x *exploration) merge(l *search.Searcher, place int, w postponed, err error) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.waiting[place] = w
	for r := x.report; err == nil && x.err == nil && r.Complete; x.merged++ {
		w, found := x.waiting[x.merged]
		if !found {
			return
		}
		delete(x.waiting, x.merged)
		if w.Fewer != x.shortest {
			if w.Verdict, err = l.Explore(w.setup, x.shortest); err != nil {
				break
			}
		}
		x.add(&w)
	}
	x.err = cmp.Or(x.err, err)
	x.monitor.End()
}

// add adds the verdict on a setup to the report.
func (x *exploration) add(w *postponed) {
	r := x.report
	x.sum.add(&w.Verdict, w.number, x.o)
	r.Complete, r.Limit, r.Growing = w.Complete, Limit(w.Reached), w.Growing
	if x.o.most > 0 && x.sum.States > x.o.most && w.Found == nil && r.Violation == nil {
		r.Complete, r.Limit = false, StateLimit
	}
	if w.Found != nil {
		x.shortest = len(w.Found.Path)
		r.Violation = (*Violation)(w.Violation)
	}
}
