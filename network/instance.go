package network

import (
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
)

// Extent describes the range of identifiers, of at least one.
func Extent(ids election.Arrangement) string {
	least, most := ids.At(0), ids.At(0)
	for q := range ids.Len() {
		least, most = min(least, ids.At(q)), max(most, ids.At(q))
	}
	return fmt.Sprintf("the %d processes have identifiers from %d to %d", ids.Len(), least, most)
}

// Setup is a configuration: a network, identifiers by position, and parameters for an algorithm.
type Setup struct {
	IDs        election.Arrangement // clockwise on a ring; see [On]; on an anonymous network only Len counts
	Flipped    []bool               // rings: the processes with exchanged ports; nil is an oriented ring
	Edges      [][2]int             // trees: between positions
	Ports      [][]int              // unknown neighbours: by position and port, the process behind it; see [NewUnknownNeighbours]
	Unwilling  []int                // positions that do not initiate but take part; on a complete graph counted by identifier
	Votes      []uint64             // the vote of the process with identifier IDs.At(i); nil: each for itself
	Priorities []uint16             // of the process with identifier IDs.At(i); nil: all have priority 1
	Duplicates bool                 // allow identifiers that repeat against the declaration, to see the effect
	Parameters map[string]string
}

// On returns the setup with these identifiers: clockwise on a ring, by position on a tree and with unknown
// neighbours, in any order on a complete graph of known members.
func On(ids ...uint64) Setup { return Setup{IDs: election.List(ids)} }

// ErrSetup reports that an algorithm cannot run on a setup; the text gives the reason and a remedy.
var ErrSetup = errors.New("cannot run")

// MaxComputed is the greatest identifier for algorithms that use identifier values; with FromZero it is one less.
const MaxComputed = 1<<32 - 1

// Instance is a setup that fits an algorithm, in the form that engines need.
type Instance struct {
	Network    *Network
	Parameters election.Parameters

	d         *election.Declaration
	ids       election.Arrangement
	ranks     []uint32    // by position; nil if an identifier is its own rank, or there are none
	values    []uint64    // by rank-1
	zero      election.ID // the ID that stands for identifier 0, where that is an identifier
	unwilling []int

	incarnations map[int]uint64 // by position, of hosts that give their processes numbers
	votes        []election.ID  // by position; nil without votes
	winner       election.ID    // of the votes
	priority     []uint16       // by position; nil where there are none
	edges        [][2]int
}

// Prepare fits a setup to an algorithm, or returns the reason why it does not fit.
func Prepare(d *election.Declaration, i Setup) (*Instance, error) {
	p, err := prepare(d, i)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrSetup, d.Name, err)
	}
	return p, nil
}

func prepare(d *election.Declaration, i Setup) (*Instance, error) {
	if i.IDs == nil || i.IDs.Len() == 0 {
		return nil, errors.New("there are no processes; at least 1 is needed")
	}
	p := &Instance{d: d, ids: i.IDs, edges: i.Edges}
	var err error
	if p.Network, err = link(d, i); err != nil {
		return nil, err
	}
	if p.Parameters, err = d.Set(i.Parameters); err != nil {
		return nil, err
	}
	p.d = d.With(p.Parameters)
	if d.FromZero {
		p.zero = 1
	}
	if p.Parameters, err = p.d.Tabulate(p.Parameters, p.Size()); err != nil {
		return nil, err
	}
	for _, read := range []func(Setup) error{p.readUnwilling, p.rank, p.readVotes, p.readPriorities} {
		if err := read(i); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// link makes the network of a setup.
func link(d *election.Declaration, i Setup) (w *Network, err error) {
	n := i.IDs.Len()
	switch d.Topology {
	case election.Ring:
		if i.Flipped != nil && !d.Unoriented {
			return nil, errors.New("it needs an oriented ring")
		}
		w, err = NewRing(n, i.Flipped)
	case election.Complete:
		w, err = NewComplete(n)
	case election.Tree:
		w, err = newTree(n, i.Edges, i.IDs.At)
	case election.UnknownNeighbours:
		w, err = NewUnknownNeighbours(n, i.Ports)
	}
	switch {
	case err != nil:
	case i.Edges != nil && d.Topology != election.Tree:
		err = fmt.Errorf("it runs on a %s, so it takes no edges", d.Topology.Phrase(0))
	case i.Ports != nil && d.Topology != election.UnknownNeighbours:
		err = fmt.Errorf("it runs on a %s, so it takes no orders of ports", d.Topology.Phrase(0))
	case i.Flipped != nil && d.Topology != election.Ring:
		err = fmt.Errorf("it runs on a %s, so it takes no exchanged ports", d.Topology.Phrase(0))
	}
	return w, err
}

var errUnwilling = errors.New("no process is willing to lead; at least one must be")

// readUnwilling sorts the positions of unwilling processes.
func (p *Instance) readUnwilling(i Setup) error {
	p.unwilling = slices.Clone(i.Unwilling)
	slices.Sort(p.unwilling)
	for _, u := range p.unwilling {
		if !p.d.Willingness {
			return errors.New("it does not support unwilling processes")
		}
		if u < 0 || u >= p.Size() {
			return fmt.Errorf("there is no position %d", u)
		}
	}
	// If any processes may start, one that starts by itself takes part: see CheckStart.
	if p.unwilling = slices.Compact(p.unwilling); len(p.unwilling) == p.Size() && p.d.Starts != election.AnyStart {
		return errUnwilling
	}
	return nil
}

// rank sorts identifiers.
func (p *Instance) rank(i Setup) error {
	d, n := p.d, i.IDs.Len()
	if d.Identifiers == election.Anonymous || i.IDs.Dense() && d.Topology != election.Complete && d.AllowDuplicates == nil {
		return nil
	}
	p.values = make([]uint64, n)
	for q := range n {
		p.values[q] = i.IDs.At(q)
	}
	if d.Topology == election.Complete { // port j-1 leads to member j, so position is rank
		p.ids = election.List(slices.Clone(p.values))
		slices.Sort(p.ids.(election.List))
	}
	slices.Sort(p.values)
	distinct := slices.Compact(p.values)
	switch {
	case i.Duplicates && d.Topology != election.Complete:
	case d.AllowDuplicates != nil:
		if err := d.AllowDuplicates(i.IDs); err != nil {
			return err
		}
	case len(distinct) < n:
		return fmt.Errorf("identifier %d occurs twice", firstTwice(i.IDs))
	}
	p.values = distinct
	if d.Identifiers == election.Computed {
		if distinct[0] == 0 && !d.FromZero {
			return errors.New("it uses identifier values, where 0 means no process; identifiers start at 1")
		}
		if last, most := distinct[len(distinct)-1], MaxComputed-uint64(p.zero); last > most {
			return fmt.Errorf("it uses identifier values, so %d is too large; at most %d", last, most)
		}
		p.values = nil
		return nil
	}
	p.ranks = make([]uint32, n)
	for q := range n {
		rank, _ := slices.BinarySearch(distinct, p.ids.At(q))
		p.ranks[q] = uint32(rank) + 1
	}
	return nil
}

func firstTwice(ids election.Arrangement) uint64 {
	seen := map[uint64]bool{}
	for q := range ids.Len() {
		if seen[ids.At(q)] {
			return ids.At(q)
		}
		seen[ids.At(q)] = true
	}
	panic("election: no identifier occurs twice")
}

// Declaration returns the declaration of the algorithm with these parameters.
func (p *Instance) Declaration() *election.Declaration { return p.d }

// Size returns the number of processes.
func (p *Instance) Size() int { return p.Network.Size() }

// Anonymous reports whether processes have no identifiers.
func (p *Instance) Anonymous() bool { return p.d.Identifiers == election.Anonymous }

// ID returns the identifier of the process at a position as the process knows it.
func (p *Instance) ID(position int) election.ID {
	switch {
	case p.Anonymous():
		return 0
	case p.ranks != nil:
		return election.ID(p.ranks[position])
	}
	return election.ID(p.ids.At(position)) + p.zero
}

// Real returns the given identifier at a position; on an anonymous network 0.
func (p *Instance) Real(position int) uint64 {
	if p.Anonymous() {
		return 0
	}
	return p.ids.At(position)
}

// Name returns the name of the process at a position, for people.
func (p *Instance) Name(position int) string {
	if p.Anonymous() {
		return fmt.Sprintf("the process at position %d", position)
	}
	return fmt.Sprintf("process %d", p.Real(position))
}

// RealOf translates an identifier from an algorithm; 0 and unknown ones stay as they are.
func (p *Instance) RealOf(id election.ID) uint64 {
	if p.values == nil && id != 0 {
		return uint64(id - p.zero)
	}
	if id == 0 || int(id) > len(p.values) {
		return uint64(id)
	}
	return p.values[id-1]
}

// Local returns what the process at a position knows when it is made.
func (p *Instance) Local(position int) election.Local {
	l := election.Local{
		ID: p.ID(position), Degree: p.Network.Degree(position), Willing: p.Willing(position), Parameters: p.Parameters,
		Incarnation: p.incarnations[position],
	}
	if p.d.KnowsSize {
		l.N = p.Network.Size()
	}
	if p.d.Votes {
		l.Vote = p.votes[position]
	}
	if p.d.Priorities {
		l.Priority = p.priority[position]
	}
	return l
}

// Others returns the same network, where processes have other identifiers in the same order. Members of a complete graph keep theirs, which
// are the numbers of ports.
func (p *Instance) Others() *Instance {
	o := *p
	o.incarnations = nil
	if p.Anonymous() || p.d.Topology == election.Complete {
		return &o
	}
	n := election.ID(p.Size())
	other := func(id election.ID) election.ID {
		switch {
		case id == 0:
			return 0
		case p.d.Identifiers == election.Compared:
			return n + 2*id // a rank: so they have gaps as well
		case id > MaxComputed-n:
			return id - n
		}
		return id + n
	}
	o.ranks, o.votes, o.winner = make([]uint32, p.Size()), slices.Clone(p.votes), other(p.winner)
	for q := range o.ranks {
		o.ranks[q] = uint32(other(p.ID(q)))
	}
	for i, vote := range o.votes {
		o.votes[i] = other(vote)
	}
	return &o
}

// Incarnate sets the number of the next life of the process at a position; see [election.Local].
func (p *Instance) Incarnate(position int, incarnation uint64) {
	if p.incarnations == nil {
		p.incarnations = map[int]uint64{}
	}
	p.incarnations[position] = incarnation
}

// Prioritize sets the priority of the process at a position, in an algorithm that knows priorities. All may be 0 then.
func (p *Instance) Prioritize(position int, priority uint16) { p.priority[position] = priority }

// readPriorities sorts priorities by position.
func (p *Instance) readPriorities(i Setup) error {
	n := i.IDs.Len()
	switch {
	case !p.d.Priorities && i.Priorities != nil:
		return errors.New("it knows no priorities")
	case !p.d.Priorities:
		return nil
	case i.Priorities == nil:
		p.priority = slices.Repeat([]uint16{1}, n)
		return nil
	case len(i.Priorities) != n:
		return fmt.Errorf("each process has one priority, so %d have %[1]d, not %d", n, len(i.Priorities))
	case !slices.ContainsFunc(i.Priorities, func(priority uint16) bool { return priority > 0 }):
		return errors.New("all processes have priority 0, with which none may lead")
	}
	p.priority = slices.Clone(i.Priorities)
	if p.d.Topology == election.Complete { // its identifiers were sorted
		for q := range n {
			position, _ := slices.BinarySearch(p.values, i.IDs.At(q))
			p.priority[position] = i.Priorities[q]
		}
	}
	return nil
}

// Willing reports whether the process at a position takes part in an election that others begin.
func (p *Instance) Willing(position int) bool {
	_, unwilling := slices.BinarySearch(p.unwilling, position)
	return !unwilling
}

// Edges returns the edges of a tree.
func (p *Instance) Edges() [][2]int { return p.edges }
