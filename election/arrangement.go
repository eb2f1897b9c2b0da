package election

// Arrangement gives the identifier at each position of a network.
type Arrangement interface {
	Len() int
	At(position int) uint64
	Dense() bool // the identifiers are exactly 1 … Len
}

// List is an arrangement that is stored.
type List []uint64

// Len returns the number of positions.
func (l List) Len() int { return len(l) }

// At returns the identifier at a position.
func (l List) At(position int) uint64 { return l[position] }

// Dense returns false: the identifiers of a list are not known to be 1 … Len.
func (l List) Dense() bool { return false }
