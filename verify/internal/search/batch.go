package search

import (
	"sync/atomic"

	"ringleader.example/ringleader/verify/internal/model"
)

// batch holds the moves out of the states of a page.
type batch struct {
	by    *worker
	page  *page
	exits []exit
	moves [][]move        // by the worker that looks for the states to which they lead
	sides []uint8         // of all moves in order: by which worker, below mostWorkers
	confs pieces          // where the moves lead that break nothing
	wrong []wrongMove     // those that do
	more  [fringes]uint32 // by shard of the frontier: how many moves lead there
	read  []int           // by worker: how many of its moves were read

	fresh    atomic.Uint32 // how many states were reached first by its moves
	first    uint32        // the number of the first of them
	pages    []*page       // for them
	ordinals []int         // of the moves by which they were reached
}

// begin empties a batch for the moves out of a page.
func (b *batch) begin(w *worker, p *page) {
	b.by, b.page, b.exits, b.sides, b.confs, b.wrong, b.more = w, p, b.exits[:0], b.sides[:0], b.confs.emptied(len(w.Next)), b.wrong[:0], [fringes]uint32{}
	for side := range b.moves {
		b.moves[side] = b.moves[side][:0]
	}
	b.fresh.Store(0)
}

// rewind begins to read the moves in order.
func (b *batch) rewind() { clear(b.read) }

// next returns the next move, the number of which is given.
func (b *batch) next(number uint32) *move {
	side := b.sides[number]
	m := &b.moves[side][b.read[side]]
	b.read[side]++
	return m
}

// pieces is a list of packed configurations of one length. It grows by pieces, so that nothing is copied, and no garbage is left.
type pieces struct {
	of    [][]uint32
	size  int // the length of a configuration
	each  int // how many configurations a piece has
	count int
}

// pieceNumbers is the number of numbers in a piece, about: at least one configuration is.
const pieceNumbers = 1 << 12

// emptied returns the list without configurations, for those of a length.
func (p *pieces) emptied(size int) pieces {
	if p.size == size {
		return pieces{p.of, size, p.each, 0}
	}
	return pieces{size: size, each: max(1, pieceNumbers/size)}
}

func (p *pieces) add(conf []uint32) {
	if p.count == len(p.of)*p.each {
		p.of = append(p.of, make([]uint32, p.each*p.size))
	}
	copy(p.at(p.count), conf)
	p.count++
}

// at returns the place of a configuration.
func (p *pieces) at(number int) []uint32 {
	begin := number % p.each * p.size
	return p.of[number/p.each][begin : begin+p.size]
}

// wrongMove is a move that breaks a property: of which state of the page, and which of its moves.
type wrongMove struct {
	state, ordinal int
	breach         *model.Breach
}

// exit is what is known of a state besides its moves.
type exit struct {
	moves   uint32 // in the batch, up to those of this state
	found   uint32 // new states that its moves reached first
	ends    bool   // a run may end here
	settled bool   // … and all is well then; of a service, for every state
	wrong   *model.Breach
}

// move is a transition as the search sees it.
type move struct {
	print  model.Fingerprint
	number uint32 // of the state to which it leads; its place in the frontier if that state has none yet
	cost   uint16 // by the numbers of the worker
	action uint16 // likewise
	state  uint8  // from which of the page it leads
	class  model.Class
	to     target
}

// target is what is known of the state to which a move leads.
type target uint8

const (
	known  target = iota
	fresh         // it is the first to lead there
	shared        // an earlier one of the same block leads there, or there is no room for the state
	broken        // it breaks a property, and leads nowhere
)

// broke notes that the next move breaks a property.
func (b *batch) broke(f *model.Breach) {
	state, begin := len(b.exits), uint32(0)
	if state > 0 {
		begin = b.exits[state-1].moves
	}
	b.wrong = append(b.wrong, wrongMove{state, len(b.sides) - int(begin), f})
}
