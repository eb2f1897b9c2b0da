package verify

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
)

// Assumption is something that an exploration may assume, though an algorithm declares that it does not need it.
type Assumption uint8

// The assumptions, as bits.
const (
	InitiatorsFirst Assumption = 1 << iota // all processes initiate, before anything else happens
	OrderedLinks                           // links are FIFO
)

// mostWide is the number of states of all orders together at which a wide exploration ends without an answer.
const mostWide = 200_000

// Unneeded returns those of some assumptions that options make and the algorithm declares not to need.
func Unneeded(a program.Program, o Options, of Assumption) (unneeded Assumption, err error) {
	p, err := o.declared(a)
	if err != nil {
		return 0, err
	}
	d := p.Declaration()
	if o.Starts == AllFirst && o.Initiators == nil && d.Starts != election.Together && p.Size() > 1 {
		unneeded |= InitiatorsFirst
	}
	if !o.Unordered && !d.FIFO && d.Timing != election.Synchronous {
		unneeded |= OrderedLinks
	}
	return unneeded & of, nil
}

// declared returns the network on which an algorithm is explored, with what it declares there, and completes the options.
func (o *Options) declared(a program.Program) (*network.Instance, error) {
	program := process.Opened(a)
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return nil, err
	}
	return network.Prepare(program.Declaration, o.Setup)
}

// CountsOpen reports whether an algorithm declares that no schedule changes the number of its messages, and an exploration with these options does not judge that.
func CountsOpen(a program.Program, o Options) (bool, error) {
	p, err := o.declared(a)
	if err != nil {
		return false, err
	}
	d := p.Declaration()
	return d.Counts != election.CountsVary && !o.search().Fixed(d), nil
}

// Wider returns options that make fewer of some assumptions, those that make the fewest first. An exploration with them ends
// without an answer, at [StateLimit], where it is much larger than one that makes all.
func (o *Options) Wider(unneeded Assumption) (all []Options) {
	for _, dropped := range []Assumption{InitiatorsFirst | OrderedLinks, InitiatorsFirst, OrderedLinks} {
		if dropped &= unneeded; dropped != 0 && !slices.ContainsFunc(all, func(wide Options) bool { return wide.dropped == dropped }) {
			all = append(all, o.without(dropped))
		}
	}
	return all
}

// without returns options that do not make some assumptions.
func (o *Options) without(dropped Assumption) Options {
	wide := *o
	wide.dropped, wide.most = dropped, mostWide
	if dropped&InitiatorsFirst != 0 {
		wide.Starts = AnyTime
	}
	wide.Unordered = wide.Unordered || dropped&OrderedLinks != 0
	return wide
}
