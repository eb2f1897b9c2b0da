package verify

import "math/bits"

// table is the set of the states found so far: from fingerprints to numbers. It is open-addressed, and divided into
// shards that grow one by one, so that growing never needs a second copy of the whole. Different shards may be used
// at the same time.
type table struct {
	shards [shards]shard
	narrow bool // 64 bits of each fingerprint are kept, not 128
}

const shards = 64

type shard struct {
	lo, hi  []uint64 // lo 0 is an empty place; hi is nil if the table is narrow
	numbers []uint32
	used    int
}

// unnumbered is the number of a state that has none yet.
const unnumbered = 1<<32 - 1

// shardOf returns the index of the shard of a fingerprint. The place in the shard depends on the highest bits, the
// shard on the lowest ones.
func shardOf(f fingerprint) int { return int(f.lo % shards) }

// clear empties the table, and keeps its memory.
func (t *table) clear() {
	for i := range t.shards {
		s := &t.shards[i]
		clear(s.lo)
		s.used = 0
		if t.narrow {
			s.hi = make([]uint64, len(s.lo))
		}
	}
	t.narrow = false
}

// narrowed forgets half of each fingerprint.
func (t *table) narrowed() {
	t.narrow = true
	for i := range t.shards {
		t.shards[i].hi = nil
	}
}

// reserve makes room in a shard, so that the places of its entries stay as they are while so many are added.
func (t *table) reserve(index, more int) {
	s := &t.shards[index]
	const full = 0.85
	if float64(s.used+more) <= full*float64(len(s.lo)) {
		return
	}
	old := *s
	size := max(32, int(1.2*float64(s.used+more)/full)+1)
	s.lo, s.numbers = make([]uint64, size), make([]uint32, size)
	if !t.narrow {
		s.hi = make([]uint64, size)
	}
	for i, lo := range old.lo {
		if lo == 0 {
			continue
		}
		f := fingerprint{lo: lo}
		if !t.narrow {
			f.hi = old.hi[i]
		}
		place := s.empty(lo)
		s.set(place, f)
		s.numbers[place] = old.numbers[i]
	}
}

func (s *shard) set(place uint32, f fingerprint) {
	s.lo[place] = f.lo
	if s.hi != nil {
		s.hi[place] = f.hi
	}
}

// first returns the place at which the search for a fingerprint begins.
func (s *shard) first(lo uint64) uint32 {
	place, _ := bits.Mul64(lo, uint64(len(s.lo)))
	return uint32(place)
}

// empty returns the place for a fingerprint that is not in the shard.
func (s *shard) empty(lo uint64) uint32 {
	place := s.first(lo)
	for s.lo[place] != 0 {
		if place++; int(place) == len(s.lo) {
			place = 0
		}
	}
	return place
}

// add returns the place of a fingerprint in its shard, and whether it was added just now, without a number. There must
// be room for it.
func (t *table) add(f fingerprint) (place uint32, fresh bool) {
	s := &t.shards[shardOf(f)]
	f.lo = max(f.lo, 1) // 0 is none
	place = s.first(f.lo)
	for s.lo[place] != 0 {
		if s.lo[place] == f.lo && (t.narrow || s.hi[place] == f.hi) {
			return place, false
		}
		if place++; int(place) == len(s.lo) {
			place = 0
		}
	}
	s.set(place, f)
	s.numbers[place] = unnumbered
	s.used++
	return place, true
}
