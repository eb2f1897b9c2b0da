package verify

import (
	"cmp"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/program"
)

// mostShrunk limits each search of Shrink, in states of one order.
const mostShrunk = 200_000

// Shrink searches for the same violation with fewer processes, smaller identifiers, fewer faults and shorter delays, one at a
// time, as long as it finds one. It returns the last options and their report, or nil if nothing can be left out.
func Shrink(a program.Program, o Options, property string) (*Options, *Report) {
	program := process.Opened(a)
	o.MaxStates, o.only = mostShrunk, property
	var best *Report
	for {
		at := slices.IndexFunc(smaller(&o), func(less Options) bool {
			r, err := Program(program, less)
			if err != nil || r.Violation == nil || r.Violation.Property != property {
				return false
			}
			o, best = less, r
			return true
		})
		if at < 0 {
			break
		}
	}
	if best == nil {
		return nil, nil
	}
	return &o, best
}

// smaller returns options with one thing less each.
func smaller(o *Options) (all []Options) {
	add := func(change func(*Options)) {
		less := *o
		change(&less)
		all = append(all, less)
	}
	if i := &o.Setup; i.Votes == nil && i.Edges == nil && i.Flipped == nil && i.Priorities == nil && i.Unwilling == nil && o.Initiators == nil {
		switch {
		case o.Size > 1:
			add(func(less *Options) { less.Size, less.Setup.IDs = o.Size-1, nil })
		case o.Size == 0 && i.IDs.Len() > 1:
			for p := range i.IDs.Len() {
				add(func(less *Options) { less.Setup.IDs = without(i.IDs, p) })
			}
		}
	}
	for _, budget := range []func(*Options) *int{
		func(o *Options) *int { return &o.Recoveries }, func(o *Options) *int { return &o.Crashes }, func(o *Options) *int { return &o.Losses },
		func(o *Options) *int { return &o.Duplicates }, func(o *Options) *int { return &o.Cuts }, func(o *Options) *int { return &o.Suspicions },
		func(o *Options) *int { return &o.Commands },
	} {
		if *budget(o) > 0 {
			add(func(less *Options) { *budget(less)-- })
		}
	}
	if o.Unordered {
		add(func(less *Options) { less.Unordered = false })
	}
	if o.Delay > 1 {
		add(func(less *Options) { less.Delay-- })
	}
	return all
}

// without returns the ranks of the identifiers without the one at a position: equal ones stay equal.
func without(ids election.Arrangement, position int) election.Arrangement {
	var left election.List
	for p := range ids.Len() {
		if p != position {
			left = append(left, ids.At(p))
		}
	}
	distinct := slices.Clone(left)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	for p := range left {
		rank, _ := slices.BinarySearchFunc(distinct, left[p], cmp.Compare[uint64])
		left[p] = uint64(rank) + 1
	}
	return left
}
