package count

import (
	"math"

	"ringleader.example/ringleader/election"
)

// distances are the hops from a processor to the nearest greater identifier, in either direction; the ring's size for
// the greatest of all.
type distances struct{ clockwise, counter uint32 }

// surveyed returns the ranges of a ring in which every processor's distances are tallied, in batches and in no order. The
// ring is read after the greatest identifier, up to it. The result has that leader; complete adds the rest.
func surveyed(ids election.Arrangement, tally func(r *Range, batch []distances), complete func(r *Range, n uint64, found *Result)) (*Ranges, error) {
	if err := distinct(ids); err != nil {
		return nil, err
	}
	n, leader := ids.Len(), greatest(ids)
	kept := func(r *Range) *scan {
		s := markedScan(0, n, func(batch []distances) { tally(r, batch) })
		s.keep(r)
		return s
	}
	return &Ranges{
		ids: ids, begin: (leader + 1) % n,
		start: func(r *Range, from int) (func(int, []uint64), func(*Range)) {
			s := markedScan(from, n, func(batch []distances) { tally(r, batch) })
			return func(_ int, block []uint64) { s.next(block) }, s.end
		},
		join: func(r, later *Range) {
			s := kept(r)
			s.join(kept(later))
			s.end(r)
		},
		result: func(r *Range) *Result {
			largest := ids.At(leader)
			for _, row := range r.Records {
				if row.ID > largest {
					return nil
				}
			}
			for _, row := range r.Waiting {
				if row.ID > largest-uint64(row.Length-1) {
					return nil
				}
			}
			s := newScan(ids.At(leader), n, func(batch []distances) { tally(r, batch) })
			s.join(kept(r))
			s.flush()
			tally(r, []distances{{uint32(n), uint32(n)}})
			found := &Result{Leader: ids.At(leader), Position: leader}
			complete(r, uint64(n), found)
			return found
		},
	}, nil
}

// scan finds distances in one pass over a part of a ring. The identifiers that have been read and have not met a
// greater one are a decreasing sequence, kept as a stack: each identifier pops all smaller ones. The stack's expected
// height is ln n in a random order, and 2 in an increasing one. Consecutive processors with identifiers that decrease by
// one share an entry, so that a decreasing order needs one. No other order of interest makes it high; at worst it
// takes 16·n bytes.
//
// A mark lies below all others. An identifier that is popped down to the mark is greater than all before it in its
// range, and only what lies before the range determines the distance to a greater one. It is kept as a record, in the
// same compact form. When the whole ring is known, the greatest identifier takes the place of the mark.
type scan struct {
	stack   []run // below top
	top     run
	marked  bool
	index   uint32 // of the last identifier read; the first one of the whole ring has 1
	records []run  // increasing
	found   []distances
	use     func([]distances)
}

// run is consecutive processors. On the stack their identifiers decrease by one to ID; among the records they
// increase by one to ID.
type run struct {
	ID     uint64 `json:"id"`
	Last   uint32 `json:"last"`   // index of ID; the first one of the ring has 1
	Length uint32 `json:"length"` // the number of processors
}

// batchLen is the number of processors whose distances are handed on together.
const batchLen = 1024

// newScan returns a scan of a whole ring of n after the leader.
func newScan(leader uint64, n int, use func([]distances)) *scan {
	return &scan{top: run{ID: leader, Length: 1}, found: make([]distances, 0, min(n, batchLen)), use: use}
}

// markedScan returns a scan of the indices after begin.
func markedScan(begin, n int, use func([]distances)) *scan {
	s := newScan(math.MaxUint64, n, use)
	s.marked, s.index = true, uint32(begin)
	s.top.Last = math.MaxUint32 // no identifier continues that row
	return s
}

// keep continues a scan where a range has ended.
func (s *scan) keep(r *Range) {
	s.records = r.Records
	s.stack = append(append(s.stack, s.top), r.Waiting[:len(r.Waiting)-1]...)
	s.top = r.Waiting[len(r.Waiting)-1]
	s.index = s.top.Last
}

// end ends a range.
func (s *scan) end(r *Range) {
	s.flush()
	r.Records, r.Waiting = s.records, append(s.stack[1:], s.top)
}

func (s *scan) next(ids []uint64) {
	top, index := s.top, s.index // in registers
	for _, id := range ids {
		index++
		for top.ID < id {
			d := distances{clockwise: index - top.Last, counter: 1}
			if top.Length > 1 {
				top = run{top.ID + 1, top.Last - 1, top.Length - 1}
			} else {
				below := s.stack[len(s.stack)-1] // there is one: nothing pops the leader or the mark
				s.stack = s.stack[:len(s.stack)-1]
				if len(s.stack) == 0 && s.marked {
					s.record(top)
					top = below
					break
				}
				d.counter = top.Last - below.Last
				top = below
			}
			if s.found = append(s.found, d); len(s.found) == cap(s.found) {
				s.flush()
			}
		}
		if top.ID-id == 1 && index-top.Last == 1 {
			top = run{id, index, top.Length + 1}
			continue
		}
		s.stack = append(s.stack, top)
		top = run{id, index, 1}
	}
	s.top, s.index = top, index
}

// record keeps a single processor as a record, in a row with the last one if possible.
func (s *scan) record(single run) {
	if k := len(s.records) - 1; k >= 0 && single.ID-s.records[k].ID == 1 && single.Last-s.records[k].Last == 1 {
		single.Length += s.records[k].Length
		s.records = s.records[:k]
	}
	s.records = append(s.records, single)
}

// join continues with the scan of what follows, as if it had read that: the next greater identifier after a record is
// the next record, and the rest does not concern what lies before.
func (s *scan) join(part *scan) {
	waiting := append(part.stack[1:], part.top) // without the mark
	greatest := waiting[0]                      // its first is the last record
	part.record(run{greatest.ID + uint64(greatest.Length) - 1, greatest.Last - (greatest.Length - 1), 1})
	for _, row := range part.records {
		s.index = row.Last - row.Length
		for left := row.Length; left > 0; left-- {
			s.next([]uint64{row.ID - uint64(left-1)})
		}
	}
	s.top = run{greatest.ID, greatest.Last, s.top.Length + greatest.Length - 1}
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
