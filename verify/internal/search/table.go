package search

import (
	"math/bits"

	"ringleader.example/ringleader/verify/internal/model"
)

// table is the set of the states up to the current level: from fingerprints to numbers. It is divided into shards that grow
// one by one, so that growing never needs a second copy of the whole. Different shards may be used at the same time.
//
// A shard is a list of fingerprints in increasing order, with gaps. Each stands at the place in proportion to its value,
// or as soon after it as there is room. So a search ends at the first greater one, even if a shard is nearly full.
type table struct {
	shards [shards]shard
	narrow bool // 64 bits of each fingerprint are kept, not 128
	lean   bool // numbers are not kept; they are 0
}

const shards = 64

type shard struct {
	lo, hi  []uint64 // lo 0 is a gap; hi is nil if the table is narrow
	numbers []uint32 // nil if the table is lean
	homes   int      // the first places, at which searches begin; the others are room behind the last home
	used    int
}

const (
	fullest = 0.92 // of the homes of a shard are as many fingerprints in it, at most
	growth  = 1.07 // of a shard that grows
	sparse  = 1024 // homes up to which a shard grows faster, since its memory does not count
)

// shardOf returns the index of the shard of a fingerprint. The place in the shard depends on the highest bits, the
// shard on the lowest ones.
func shardOf(f model.Fingerprint) int { return int(f.Lo % shards) }

// clear empties the table, and keeps its memory.
func (t *table) clear(lean bool) {
	for i := range t.shards {
		s := &t.shards[i]
		clear(s.lo)
		s.used = 0
		if t.narrow {
			s.hi = make([]uint64, len(s.lo))
		}
		if s.numbers = s.numbers[:0]; !lean {
			s.numbers = resized(s.numbers, len(s.lo))
		}
	}
	t.narrow, t.lean = false, lean
}

// resized returns a list of a length, in the memory of another list if there is enough.
func resized[T any](list []T, length int) []T {
	if cap(list) < length {
		return make([]T, length)
	}
	return list[:length]
}

// narrowed forgets half of each fingerprint.
func (t *table) narrowed() {
	t.narrow = true
	for i := range t.shards {
		t.shards[i].hi = nil
	}
}

// home returns the place at which the search for a fingerprint begins.
func (s *shard) home(lo uint64) int {
	place, _ := bits.Mul64(lo, uint64(s.homes))
	return int(place)
}

// find returns the number of a fingerprint, and whether it is in the table.
func (t *table) find(f model.Fingerprint) (number uint32, found bool) {
	s := &t.shards[shardOf(f)]
	f.Lo = max(f.Lo, 1) // 0 is a gap
	if s.used == 0 {
		return 0, false
	}
	for place := s.home(f.Lo); place < len(s.lo); place++ {
		switch lo := s.lo[place]; {
		case lo == 0 || lo > f.Lo:
			return 0, false
		case lo == f.Lo && (t.narrow || s.hi[place] == f.Hi):
			if !t.lean {
				number = s.numbers[place]
			}
			return number, true
		}
	}
	return 0, false
}

// add adds a fingerprint that is not in the table.
func (t *table) add(f model.Fingerprint, number uint32) {
	s := &t.shards[shardOf(f)]
	f.Lo = max(f.Lo, 1)
	if float64(s.used) >= fullest*float64(s.homes) {
		t.grow(s)
	}
	for !s.insert(f, number) {
		t.grow(s)
	}
}

// insert puts a fingerprint at its place. Those behind it give way, up to the next gap. It reports false if there is none.
func (s *shard) insert(f model.Fingerprint, number uint32) bool {
	place := s.home(f.Lo)
	for place < len(s.lo) && s.lo[place] != 0 && s.lo[place] <= f.Lo {
		place++
	}
	gap := place
	for gap < len(s.lo) && s.lo[gap] != 0 {
		gap++
	}
	if gap == len(s.lo) {
		return false
	}
	copy(s.lo[place+1:gap+1], s.lo[place:gap])
	s.lo[place] = f.Lo
	if len(s.hi) > 0 {
		copy(s.hi[place+1:gap+1], s.hi[place:gap])
		s.hi[place] = f.Hi
	}
	if len(s.numbers) > 0 {
		copy(s.numbers[place+1:gap+1], s.numbers[place:gap])
		s.numbers[place] = number
	}
	s.used++
	return true
}

// grow makes more room in a shard.
func (t *table) grow(s *shard) {
	old := *s
	for homes := old.homes; ; {
		if homes = int(growth*float64(homes)) + 16; homes < sparse {
			homes = 3 * homes / 2
		}
		if t.fill(s, &old, homes) {
			return
		}
	}
}

// fill fills a new list of a shard from its old one. It reports false if there is too little room behind the last home.
func (t *table) fill(s, old *shard, homes int) bool {
	size, end := homes+homes/128+16, 0
	*s = shard{lo: make([]uint64, size), homes: homes, used: old.used}
	if !t.narrow {
		s.hi = make([]uint64, size)
	}
	if !t.lean {
		s.numbers = make([]uint32, size)
	}
	for i, lo := range old.lo {
		if lo == 0 {
			continue
		}
		place := max(end, s.home(lo))
		if end = place + 1; end > size {
			return false
		}
		s.lo[place] = lo
		if !t.narrow {
			s.hi[place] = old.hi[i]
		}
		if !t.lean {
			s.numbers[place] = old.numbers[i]
		}
	}
	return true
}
