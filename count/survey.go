package count

import (
	"context"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
)

// maxRing is the size of the largest ring: distances are kept in 32 bits.
const maxRing = 1<<32 - 1

// distances are how many hops it is from a processor to the nearest one of greater identifier, either
// way round; the ring's size for the greatest of all.
type distances struct{ clockwise, counter uint32 }

// survey passes over a ring. It hands every processor's distances to use, in batches and in no order,
// and returns a result that says who leads.
func survey(ctx context.Context, ids election.Arrangement, progress func(done, of int), use func([]distances)) (*Result, error) {
	n := ids.Len()
	if n < 1 || uint64(n) > maxRing {
		return nil, fmt.Errorf("%w: a ring has 1 to %d processes, not %d", ErrRing, uint64(maxRing), n)
	}
	if !ids.Dense() {
		if twice, found := duplicate(ids); found {
			return nil, fmt.Errorf("%w: identifier %d occurs twice; exact counts need distinct ones", ErrRing, twice)
		}
	}
	leader := greatest(ids)
	use([]distances{{uint32(n), uint32(n)}})
	s := newScan(ids.At(leader), use)
	block := make([]uint64, min(n, 8192))
	done := 0
	for _, part := range [][2]int{{leader + 1, n}, {0, leader + 1}} { // all the way round to the leader again
		for from := part[0]; from < part[1]; from += len(block) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			read := block[:min(len(block), part[1]-from)]
			fill(ids, read, from)
			s.next(read)
			done += len(read)
			if progress != nil {
				progress(done, n)
			}
		}
	}
	s.flush()
	return &Result{Leader: ids.At(leader), Position: leader}, nil
}

// duplicate is an identifier that occurs more than once.
func duplicate(ids election.Arrangement) (id uint64, found bool) {
	sorted := make([]uint64, ids.Len())
	fill(ids, sorted, 0)
	slices.Sort(sorted)
	for i, id := range sorted[1:] {
		if id == sorted[i] {
			return id, true
		}
	}
	return 0, false
}

// greatest is the position of the greatest identifier.
func greatest(ids election.Arrangement) int {
	if inverse, ok := ids.(interface{ Position(id uint64) int }); ok && ids.Dense() {
		return inverse.Position(uint64(ids.Len()))
	}
	at, greatest := 0, ids.At(0)
	for p := range ids.Len() {
		if id := ids.At(p); id > greatest {
			at, greatest = p, id
		}
	}
	return at
}

func fill(ids election.Arrangement, into []uint64, from int) {
	if row, ok := ids.(interface {
		Fill(ids []uint64, from int)
	}); ok {
		row.Fill(into, from)
		return
	}
	for i := range into {
		into[i] = ids.At(from + i)
	}
}

// scan finds distances in one pass that starts after the greatest identifier and ends with it. Read so
// far, and waiting for a greater one to come, is a falling sequence of identifiers, kept as a stack: what
// comes pops all that is less. Its expected height is ln n in a random order, and 2 in an increasing one.
// Processors in a row whose identifiers fall by one share an entry, so that a decreasing order needs one.
// No other order of interest makes it high; at worst it takes 16·n bytes.
type scan struct {
	stack []run // below top
	top   run
	index uint32 // of what was read last; the leader has 0, and n when it comes again
	found []distances
	use   func([]distances)
}

// run is length processors in a row of identifiers id+length-1, … id+1, id.
type run struct {
	id     uint64
	last   uint32 // index of id
	length uint32
}

func newScan(leader uint64, use func([]distances)) *scan {
	return &scan{top: run{id: leader, length: 1}, found: make([]distances, 0, 1024), use: use}
}

func (s *scan) next(ids []uint64) {
	top, index := s.top, s.index // in registers
	for _, id := range ids {
		index++
		for top.id < id {
			d := distances{clockwise: index - top.last, counter: 1}
			if top.length > 1 {
				top = run{top.id + 1, top.last - 1, top.length - 1}
			} else {
				below := s.stack[len(s.stack)-1] // there is one: nothing pops the leader
				s.stack = s.stack[:len(s.stack)-1]
				d.counter = top.last - below.last
				top = below
			}
			if s.found = append(s.found, d); len(s.found) == cap(s.found) {
				s.flush()
			}
		}
		if top.id-id == 1 && index-top.last == 1 {
			top = run{id, index, top.length + 1}
			continue
		}
		s.stack = append(s.stack, top)
		top = run{id, index, 1}
	}
	s.top, s.index = top, index
}

func (s *scan) flush() {
	s.use(s.found)
	s.found = s.found[:0]
}
