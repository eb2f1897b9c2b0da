package count

import (
	"context"
	"math"

	"ringleader.example/ringleader/election"
)

// distances are how many hops it is from a processor to the nearest one of greater identifier, either
// way round; the ring's size for the greatest of all.
type distances struct{ clockwise, counter uint32 }

// survey passes over a ring in so many parts at the same time. It hands every processor's distances to
// use, in batches and in no order, one at a time for each part, and returns a result that says who leads.
func survey(ctx context.Context, ids election.Arrangement, parts int, progress func(done, of int), use func(part int, batch []distances)) (*Result, error) {
	if err := distinct(ids); err != nil {
		return nil, err
	}
	n := ids.Len()
	leader := greatest(ids)
	scans := make([]*scan, parts)
	for part := range scans {
		scans[part] = markedScan(part*n/parts, (part+1)*n/parts, func(batch []distances) { use(part, batch) })
	}
	first := newScan(ids.At(leader), scans[0].use)
	scans[0] = first
	use(0, []distances{{uint32(n), uint32(n)}})
	err := read(ctx, ids, (leader+1)%n, parts, progress, func(part, _ int, block []uint64) { scans[part].next(block) })
	if err != nil {
		return nil, err
	}
	for _, s := range scans[1:] {
		s.flush()
		first.join(s)
	}
	first.flush()
	return &Result{Leader: ids.At(leader), Position: leader}, nil
}

// scan finds distances in one pass over a part of a ring. Read so far, and waiting for a greater one to
// come, is a falling sequence of identifiers, kept as a stack: what comes pops all that is less. Its
// expected height is ln n in a random order, and 2 in an increasing one. Processors in a row whose
// identifiers fall by one share an entry, so that a decreasing order needs one. No other order of interest
// makes it high; at worst it takes 16·n bytes.
//
// The first part begins after the greatest identifier, which lies below all others. Below those of another
// part lies a mark. What is popped down to the mark is greater than all before it in its part, and only the
// parts before know the distance to a greater one: it is kept as a record for them, in as little memory.
type scan struct {
	stack   []run // below top
	top     run
	marked  bool
	index   uint32 // of what was read last; what is read first in the whole ring has 1
	records []run  // rising
	found   []distances
	use     func([]distances)
}

// run is length processors in a row. Their identifiers fall by one to id on the stack, and rise by one to
// id among the records.
type run struct {
	id     uint64
	last   uint32 // index of id
	length uint32
}

// newScan is a scan of what comes after the leader.
func newScan(leader uint64, use func([]distances)) *scan {
	return &scan{top: run{id: leader, length: 1}, found: make([]distances, 0, 1024), use: use}
}

// markedScan is a scan of the indices after begin up to end.
func markedScan(begin, end int, use func([]distances)) *scan {
	s := newScan(math.MaxUint64, use)
	s.marked, s.index = true, uint32(begin)
	s.top.last = uint32(end) // nothing that is read comes after that in a row
	return s
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
				below := s.stack[len(s.stack)-1] // there is one: nothing pops the leader, nor the mark
				s.stack = s.stack[:len(s.stack)-1]
				if len(s.stack) == 0 && s.marked {
					s.record(top)
					top = below
					break
				}
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

// record keeps a single processor as a record, in a row with the last one if it can be.
func (s *scan) record(single run) {
	if k := len(s.records) - 1; k >= 0 && single.id-s.records[k].id == 1 && single.last-s.records[k].last == 1 {
		single.length += s.records[k].length
		s.records = s.records[:k]
	}
	s.records = append(s.records, single)
}

// join goes on with the part that follows, as if it had read it: the greater one that comes next after a
// record is the next record, and the rest does not concern the parts before.
func (s *scan) join(part *scan) {
	waiting := append(part.stack[1:], part.top) // without the mark
	greatest := waiting[0]                      // its first is the last record
	part.record(run{greatest.id + uint64(greatest.length) - 1, greatest.last - (greatest.length - 1), 1})
	for _, row := range part.records {
		s.index = row.last - row.length
		for left := row.length; left > 0; left-- {
			s.next([]uint64{row.id - uint64(left-1)})
		}
	}
	s.top = run{greatest.id, greatest.last, s.top.length + greatest.length - 1}
	for _, r := range waiting[1:] {
		s.stack = append(s.stack, s.top)
		s.top = r
	}
	s.index = part.index
}

func (s *scan) flush() {
	s.use(s.found)
	s.found = s.found[:0]
}
