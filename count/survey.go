package count

import (
	"context"
	"math"

	"ringleader.example/ringleader/election"
)

// distances are the hops from a processor to the nearest greater identifier, in either direction; the ring's size for
// the greatest of all.
type distances struct{ clockwise, counter uint32 }

// survey passes over a ring in parallel parts. It hands every processor's distances to use, in batches and in no
// order, one at a time for each part, and returns a result with the leader.
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

// scan finds distances in one pass over a part of a ring. The identifiers that have been read and have not met a
// greater one are a decreasing sequence, kept as a stack: each identifier pops all smaller ones. The stack's expected
// height is ln n in a random order, and 2 in an increasing one. Consecutive processors with identifiers that decrease by
// one share an entry, so that a decreasing order needs one. No other order of interest makes it high; at worst it
// takes 16·n bytes.
//
// The first part begins after the greatest identifier, which lies below all others. In another part a mark lies below
// all others. An identifier that is popped down to the mark is greater than all before it in its part, and only
// earlier parts know the distance to a greater one. It is kept as a record for them, in the same compact form.
type scan struct {
	stack   []run // below top
	top     run
	marked  bool
	index   uint32 // of the last identifier read; the first one of the whole ring has 1
	records []run  // increasing
	found   []distances
	use     func([]distances)
}

// run is length consecutive processors. On the stack their identifiers decrease by one to id; among the records they
// increase by one to id.
type run struct {
	id     uint64
	last   uint32 // index of id
	length uint32
}

// newScan returns a scan of the part after the leader.
func newScan(leader uint64, use func([]distances)) *scan {
	return &scan{top: run{id: leader, length: 1}, found: make([]distances, 0, 1024), use: use}
}

// markedScan returns a scan of the indices after begin up to end.
func markedScan(begin, end int, use func([]distances)) *scan {
	s := newScan(math.MaxUint64, use)
	s.marked, s.index = true, uint32(begin)
	s.top.last = uint32(end) // no later identifier continues that row
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
				below := s.stack[len(s.stack)-1] // there is one: nothing pops the leader or the mark
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

// record keeps a single processor as a record, in a row with the last one if possible.
func (s *scan) record(single run) {
	if k := len(s.records) - 1; k >= 0 && single.id-s.records[k].id == 1 && single.last-s.records[k].last == 1 {
		single.length += s.records[k].length
		s.records = s.records[:k]
	}
	s.records = append(s.records, single)
}

// join continues with the part that follows, as if it had read that part: the next greater identifier after a record
// is the next record, and the rest does not concern earlier parts.
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
