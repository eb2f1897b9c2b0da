package verify

import (
	"errors"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/memory"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/search"
)

// The extremes of time. The section Time of the package comment defines it, and proves that this search is exact.

// untimed returns why no time is stated, or "".
func (o *Options) untimed(d *election.Declaration) string {
	switch {
	case o.Lazy:
		return "in lazy time a message takes any time"
	case d.Leased:
		return "a leader renews its lease for ever"
	case o.Initiators == nil && (o.Starts == AnyTime || o.Starts == Each), o.Initiators != nil && d.Starts == election.AllStart,
		o.Starts == EverySet && d.Starts == election.AllStart:
		return "a process may initiate after any time"
	}
	return ""
}

// timed returns the options of the search for the extremes of time.
func (o Options) timed() *Options {
	o.times = true
	o.Crashes, o.Recoveries, o.Losses, o.Duplicates, o.Cuts, o.Suspicions, o.Commands, o.Wardens = 0, 0, 0, 0, 0, 0, 0, false
	return &o
}

// timings are the extremes of time of some orders.
type timings [3]outliers

// add adds those of one order, or reports that its time is beyond all measure.
func (t *timings) add(l *search.Searcher, setup network.Setup, number uint64) (beyond bool, err error) {
	defer func() {
		fault := recover()
		if wrong, is := fault.(error); is && errors.Is(wrong, election.ErrTime) {
			beyond = true
		} else if fault != nil {
			panic(fault)
		}
	}()
	g, err := l.GraphOf(setup)
	if err != nil {
		return false, err
	}
	parts := g.Components()
	for i, mark := range timeMarks {
		few, many := g.Overall(g.Extremes(parts, mark))
		t[i].add(mark.Value(few), mark.Value(many), number)
	}
	l.Monitor.Done(&l.Search)
	return false, nil
}

// timeMarks are the events of the times of a run.
var timeMarks = [...]search.Moment{search.Moment(model.Elects), search.Moment(model.Decides), search.Moment(model.Arrives)}

// attained returns the result, with runs found by a searcher.
func (t *timings) attained(l *search.Searcher, all *enumeration) (*Times, error) {
	times := &Times{}
	for i, e := range []*Extreme{&times.Elected, &times.Decided, &times.Quiet} {
		var err error
		if *e, err = t[i].extreme(l, all, timeMarks[i]); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// beyondTime is why no time is stated of runs that take too long.
const beyondTime = "time passes 2^128 units"

// timesOf finds the extremes of time, or why there are none. It uses those that are known.
func timesOf(program *process.Program, given *Options, known *Part) (times *Times, none string, err error) {
	if none := given.untimed(program.Declaration); none != "" {
		return nil, none, nil
	}
	o, all := given.timed(), enumerate(program.Declaration, given)
	settings := o.search()
	m := search.NewMonitor(settings, countSetups(program.Declaration, o))
	defer memory.Limited(m.Enough())()
	l := search.NewSearcher(program, settings, m, max(1, o.Cores))
	if known == nil {
		known = &Part{}
		for number := uint64(0); number < all.len() && !known.Beyond; number++ {
			if setup, ok := all.at(number); ok {
				if known.Beyond, err = known.Times.add(l, setup, number); err != nil {
					return nil, "", err
				}
			}
		}
	}
	if known.Beyond {
		return nil, beyondTime, nil
	}
	times, err = known.Times.attained(l, all)
	return times, "", err
}
