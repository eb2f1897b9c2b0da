package search

import (
	"errors"
	"math"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/reductions"
)

// Searcher explores one setup after another.
type Searcher struct {
	Search
	program *process.Program
	cores   int
	runner  *reductions.Runner // of single schedules on rings
	causes  *reductions.Causes // … and elsewhere
	edges   bool               // a search without edges was not enough for an earlier setup
}

// Verdict is what the exploration of one setup found.
type Verdict struct {
	result
	Fewer     int    // it searched for violations of fewer transitions only, unless negative
	Extremes  Ranges // if it is complete and shows no violation
	Found     *model.Finding
	Violation *model.Violation // what was found
	Growing   string           // a field that seems to grow without end, if it is not complete
	Seen      uint32           // the sights, as bits
}

// mostWorkers is the number of workers that a batch tells apart. Beyond it one search becomes no faster.
const mostWorkers = 1 << 8

// NewSearcher returns a searcher that uses so many cores, at most [mostWorkers].
func NewSearcher(program *process.Program, o *Options, m *Monitor, cores int) *Searcher {
	l := &Searcher{program: program, cores: min(cores, mostWorkers)}
	l.Options, l.Monitor, l.table, l.fringe = o, m, &table{}, &frontier{}
	return l
}

// Explore explores a setup. If fewer is not negative, it searches only for violations after fewer transitions.
func (l *Searcher) Explore(setup network.Setup, fewer int) (v Verdict, err error) {
	err = l.untilHalted(func() (err error) {
		v, err = l.verdict(setup, fewer)
		return err
	})
	if u := (Unfinished{}); errors.As(err, &u) { // a search without an answer
		v = Verdict{result: l.result, Fewer: fewer}
		if v.Complete = false; u.Reached == MemoryLimit {
			v.Reached = MemoryLimit
		}
		err = nil
	}
	return v, err
}

// untilHalted does something, and returns its error, or that of a [model.Halt] that ends it.
func (l *Searcher) untilHalted(do func() error) (err error) {
	defer model.Halted(&err)
	return do()
}

func (l *Searcher) verdict(setup network.Setup, fewer int) (v Verdict, err error) {
	if l.Options.Confluent {
		v, enough, err := l.decide(setup)
		if v.Fewer = fewer; enough || err != nil {
			return v, err
		}
	}
	if err := l.on(setup); err != nil {
		return v, err
	}
	if l.Options.Caused && l.decideCauses(&v) {
		v.Fewer = fewer
		return v, nil
	}
	v.Fewer = fewer
	if (l.Options.Partial || l.Options.Symmetric) && l.searchPartly(&v) {
		if !v.Complete {
			v.Growing = l.workers[0].Growing()
		}
		return v, nil
	}
	partly := v
	v = Verdict{Fewer: fewer}
	v.Found = l.searchAll(&v.Extremes, fewer)
	v.result = l.result
	switch {
	case v.Found != nil:
		v.Violation = l.workers[0].Violation(v.Found)
	case !v.Complete:
		v.Growing = l.workers[0].Growing()
		if partly.Found == nil && (l.Options.Confluent || l.Options.Caused) {
			l.remember(&partly, l.workers[0].firstSchedule(l.Options))
		}
		v.Found, v.Violation = partly.Found, partly.Violation
	}
	for _, w := range l.workers {
		v.Seen |= w.Seen
	}
	return v, nil
}

// searchAll explores the setup of the workers, without edges if that is enough.
func (l *Searcher) searchAll(extremes *Ranges, fewer int) *model.Finding {
	service := l.workers[0].Declaration.Task != election.Once
	lean := fewer >= 0 || service && l.Options.SafetyOnly || !service && !l.edges
	for {
		l.reset(lean)
		l.strict = lean && fewer < 0 && !service
		found := l.Search.explore(fewer)
		switch {
		case l.strict && !l.layered:
			lean, l.edges = false, true
		case found != nil || fewer >= 0 || !l.Complete:
			return found
		case !lean:
			return l.judge(extremes)
		case l.sum(extremes):
			return nil
		default: // edges show a run to what is wrong
			lean = false
		}
	}
}

// heavy is the number of values of which a worker keeps those of earlier setups.
const heavy = 1 << 20

// on turns the workers to a setup. What an earlier setup computed is used again if only the order of
// identifiers differs.
func (l *Searcher) on(setup network.Setup) error {
	if l.workers != nil && !l.workers[0].Declaration.Leased && l.Options.Setup.Votes == nil && len(l.Options.Setup.Unwilling) == 0 && l.workers[0].Values.Len() < heavy {
		for _, w := range l.workers {
			if err := w.On(setup); err != nil {
				return err
			}
		}
		return nil
	}
	if l.workers, l.share = nil, nil; l.cores > 1 {
		l.share = newExchange()
	}
	for range l.cores {
		c, err := model.NewChecker(l.program, &l.Options.Options, setup)
		if err != nil {
			return err
		}
		c.Look = func() error { return l.Monitor.amid(&l.Search) }
		l.workers = append(l.workers, newWorker(c, l.share))
	}
	return nil
}

// reset prepares a search of the setup of the workers.
func (x *Search) reset(lean bool) {
	x.table.clear(lean)
	x.fringe.next()
	x.free = append(x.free, x.following...) // those of the current level were freed
	x.current, x.following = x.current[:0], x.following[:0]
	x.result, x.Found, x.tree, x.graph = result{Complete: true, Bits: 128}, nil, discoveries{}, graph{}
	x.graph.number(model.Cost{}) // of what is not a step
	x.actions = map[model.ActionKey]uint16{}
	x.lean, x.layered, x.levels, x.looked, x.made, x.beyond = lean, true, newLevelExtremes(), 0, 0, 0
	places := len(x.workers[0].Next)
	x.blocked = max(1, min(blockStates, blockBytes/(4*places*places)))
	x.paged = min(pageStates, x.blocked)
	x.limit = min(math.MaxUint32-1, math.MaxInt)
	if x.Options.MaxStates > 0 {
		x.limit = min(x.limit, x.Options.MaxStates)
	}
	if x.Options.Most > 0 {
		x.limit = min(x.limit, x.Options.Most)
	}
	for _, w := range x.workers {
		w.costNumbers, w.lean = w.costNumbers[:0], lean
	}
}

// sum adds the extremes of a search without edges. It reports false if something is declared wrongly of them.
func (x *Search) sum(extremes *Ranges) bool {
	f := &x.levels
	for i, of := range model.CostNames {
		if f.lost {
			break
		}
		if breach, _ := x.wrong(of, f.least[i], f.most[i]); breach != nil {
			return false
		}
	}
	if extremes.Unknown = f.lost; !f.lost {
		for i := range model.CostNames {
			extremes.add(i, f.least[i], f.most[i])
		}
	}
	return true
}
