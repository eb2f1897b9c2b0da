package election

import (
	"errors"
	"fmt"
	"slices"
)

// Arrangement says which identifier stands at which position of a network.
type Arrangement interface {
	Len() int
	At(position int) uint64
	Dense() bool // the identifiers are exactly 1 … Len
}

// List is an arrangement that is written out.
type List []uint64

// Len is the number of positions.
func (l List) Len() int { return len(l) }

// At is the identifier at a position.
func (l List) At(position int) uint64 { return l[position] }

// Dense says that nothing is known about a list.
func (l List) Dense() bool { return false }

// Extent says for people which identifiers there are, of at least one.
func Extent(ids Arrangement) string {
	least, most := ids.At(0), ids.At(0)
	for q := range ids.Len() {
		least, most = min(least, ids.At(q)), max(most, ids.At(q))
	}
	return fmt.Sprintf("the %d there are have identifiers from %d to %d", ids.Len(), least, most)
}

// Instance is what an algorithm is run on: a network, who stands where, and parameters.
type Instance struct {
	IDs        Arrangement // clockwise on a ring; see [On]; on an anonymous network only Len counts
	Flipped    []bool      // rings: whose ports are exchanged; nil is an oriented ring
	Edges      [][2]int    // trees: between positions
	Ports      [][]int     // strangers: by position and port, whom it leads to; see [NewStrangers]
	Unwilling  []int       // positions that do not want to lead; on a complete graph counted by identifier
	Votes      []uint64    // whom the process with identifier IDs.At(i) votes for; nil: each for itself
	Duplicates bool        // allow identifiers that repeat against the declaration, to see what they do
	Parameters map[string]string
}

// On is the instance with these identifiers: clockwise on a ring, by position on a tree and among strangers,
// in any order on a complete graph of known members.
func On(ids ...uint64) Instance { return Instance{IDs: List(ids)} }

// ErrInstance says that an algorithm cannot be run on an instance; the text says why, and what would do.
var ErrInstance = errors.New("cannot run")

// MaxComputed is the greatest identifier that algorithms compute with; with FromZero the greatest is one less.
const MaxComputed = 1<<32 - 1

// Prepared is an instance that fits an algorithm: what engines ask of it.
type Prepared struct {
	Network    *Network
	Parameters Parameters

	d         *Declaration
	ids       Arrangement
	ranks     []uint32 // by position; nil where an identifier is its own rank, or there are none
	values    []uint64 // by rank-1
	zero      ID       // what processes know 0 as, where that is an identifier
	unwilling []int
	votes     []ID // by position; nil where nobody votes
	winner    ID   // of the votes
	edges     [][2]int
}

var errUnwilling = errors.New("nobody is willing to lead; at least one process must be")

// Prepare fits an instance to an algorithm or says why it does not fit.
func (d *Declaration) Prepare(i Instance) (*Prepared, error) {
	wrong := func(format string, args ...any) (*Prepared, error) {
		return nil, fmt.Errorf("%w %s: %s", ErrInstance, d.Name, fmt.Sprintf(format, args...))
	}
	if i.IDs == nil || i.IDs.Len() == 0 {
		return wrong("there are no processes; at least 1 is needed")
	}
	n := i.IDs.Len()
	p := &Prepared{d: d, ids: i.IDs, unwilling: slices.Clone(i.Unwilling), edges: i.Edges}
	var err error
	switch d.Topology {
	case Ring:
		if i.Flipped != nil && !d.Unoriented {
			return wrong("it needs an oriented ring")
		}
		p.Network, err = NewRing(n, i.Flipped)
	case Complete:
		p.Network, err = NewComplete(n)
	case Tree:
		p.Network, err = newTree(n, i.Edges, i.IDs.At)
	case Strangers:
		p.Network, err = NewStrangers(n, i.Ports)
	}
	if err != nil {
		return wrong("%v", err)
	}
	if i.Edges != nil && d.Topology != Tree {
		return wrong("it runs on a %s, so edges mean nothing", d.Topology)
	}
	if i.Ports != nil && d.Topology != Strangers {
		return wrong("it runs on a %s, so orders of ports mean nothing", d.Topology)
	}
	if i.Flipped != nil && d.Topology != Ring {
		return wrong("it runs on a %s, so exchanged ports mean nothing", d.Topology)
	}
	if p.Parameters, err = d.Set(i.Parameters); err != nil {
		return wrong("%v", err)
	}
	p.d = d.With(p.Parameters)
	if d.FromZero {
		p.zero = 1
	}
	if err = p.Parameters.tabulate(p.d, n); err != nil {
		return wrong("%v", err)
	}
	slices.Sort(p.unwilling)
	for _, u := range p.unwilling {
		if !d.Willingness {
			return wrong("it knows no unwilling processes")
		}
		if u < 0 || u >= n {
			return wrong("there is no position %d", u)
		}
	}
	// Where any processes may start, one that starts by itself takes part: see CheckStart.
	if p.unwilling = slices.Compact(p.unwilling); len(p.unwilling) == n && p.d.Starts != AnyStart {
		return wrong("%v", errUnwilling)
	}
	if err := p.rank(i); err != nil {
		return wrong("%v", err)
	}
	if err := p.readVotes(i); err != nil {
		return wrong("%v", err)
	}
	return p, nil
}

// rank sorts identifiers.
func (p *Prepared) rank(i Instance) error {
	d, n := p.d, i.IDs.Len()
	if d.Identifiers == Anonymous || i.IDs.Dense() && d.Topology != Complete && d.Promise == nil {
		return nil
	}
	p.values = make([]uint64, n)
	for q := range n {
		p.values[q] = i.IDs.At(q)
	}
	if d.Topology == Complete { // port j-1 leads to member j, so position is rank
		p.ids = List(slices.Clone(p.values))
		slices.Sort(p.ids.(List))
	}
	slices.Sort(p.values)
	distinct := slices.Compact(p.values)
	switch {
	case i.Duplicates && d.Topology != Complete:
	case d.Promise != nil:
		if err := d.Promise(i.IDs); err != nil {
			return err
		}
	case len(distinct) < n:
		return fmt.Errorf("identifier %d occurs twice", firstTwice(i.IDs))
	}
	p.values = distinct
	if d.Identifiers == Computed {
		if distinct[0] == 0 && !d.FromZero {
			return errors.New("it computes with identifiers, where 0 stands for nobody; at least 1")
		}
		if last, most := distinct[len(distinct)-1], MaxComputed-uint64(p.zero); last > most {
			return fmt.Errorf("it computes with identifiers, so %d is too large; at most %d", last, most)
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

func firstTwice(ids Arrangement) uint64 {
	seen := map[uint64]bool{}
	for q := range ids.Len() {
		if seen[ids.At(q)] {
			return ids.At(q)
		}
		seen[ids.At(q)] = true
	}
	panic("election: no identifier occurs twice")
}

// Declaration is what the algorithm declares, with these parameters.
func (p *Prepared) Declaration() *Declaration { return p.d }

// Size is the number of processes.
func (p *Prepared) Size() int { return p.Network.Size() }

// Anonymous says whether processes have no identifiers.
func (p *Prepared) Anonymous() bool { return p.d.Identifiers == Anonymous }

// ID is what the process at a position knows as its identifier.
func (p *Prepared) ID(position int) ID {
	switch {
	case p.Anonymous():
		return 0
	case p.ranks != nil:
		return ID(p.ranks[position])
	}
	return ID(p.ids.At(position)) + p.zero
}

// Real is the identifier that stands at a position, as it was given; on an anonymous network 0.
func (p *Prepared) Real(position int) uint64 {
	if p.Anonymous() {
		return 0
	}
	return p.ids.At(position)
}

// Name is what people call the process at a position.
func (p *Prepared) Name(position int) string {
	if p.Anonymous() {
		return fmt.Sprintf("the process at position %d", position)
	}
	return fmt.Sprintf("process %d", p.Real(position))
}

// RealOf translates an identifier that an algorithm speaks of; 0 and unheard-of ones stay as they are.
func (p *Prepared) RealOf(id ID) uint64 {
	if p.values == nil && id != 0 {
		return uint64(id - p.zero)
	}
	if id == 0 || int(id) > len(p.values) {
		return uint64(id)
	}
	return p.values[id-1]
}

// Local is what the process at a position knows at birth.
func (p *Prepared) Local(position int) Local {
	l := Local{ID: p.ID(position), Degree: p.Network.Degree(position), Willing: p.Willing(position), Parameters: p.Parameters}
	if p.d.KnowsSize {
		l.N = p.Network.Size()
	}
	if p.d.Votes {
		l.Vote = p.votes[position]
	}
	return l
}

// Willing says whether the process at a position takes part in an election that others begin.
func (p *Prepared) Willing(position int) bool {
	_, unwilling := slices.BinarySearch(p.unwilling, position)
	return !unwilling
}

// Edges are the edges of a tree.
func (p *Prepared) Edges() [][2]int { return p.edges }
