package election

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
