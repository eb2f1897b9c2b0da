package search

import (
	"math/bits"

	"ringleader.example/ringleader/verify/internal/model"
)

// frontier is the set of states of the following level, and of earlier ones that were met again. It is divided into
// shards, as the table is. The states of a level are few beside those of the table, and most moves lead there.
type frontier struct {
	shards [fringes]fringe
	level  uint32 // that of the spots that count
}

// fringes is the number of shards of the frontier, a divisor of that of the table.
const fringes = 16

// fringeOf returns the index of the shard of the frontier in which a fingerprint is.
func fringeOf(f model.Fingerprint) int { return shardOf(f) / (shards / fringes) }

// ownerOf returns the worker that alone uses a shard of the frontier, with those of the table that hold the same states.
func ownerOf(shard, workers int) int { return shard * workers / fringes }

// fringe is a shard of the frontier, open-addressed.
type fringe struct {
	spots []spot
	used  int
}

// spot is what is known of a state of the following level.
type spot struct {
	print  model.Fingerprint
	number uint32 // unnumbered if it has none yet
	level  uint32 // when the spot was filled
	span   span   // of a lean search
}

// unnumbered is the number of a state that has none yet.
const unnumbered = 1<<32 - 1

// next empties the frontier for the next level, and keeps its memory.
func (f *frontier) next() {
	f.level++
	if f.level == 0 { // it has come round
		*f = frontier{level: 1}
	}
	for i := range f.shards {
		f.shards[i].used = 0
	}
}

// reserve makes room in a shard, so that its spots stay where they are while so many are added.
func (f *frontier) reserve(index, more int) {
	s := &f.shards[index]
	const full = 0.8
	if float64(s.used+more) <= full*float64(len(s.spots)) {
		return
	}
	old := s.spots
	s.spots = make([]spot, max(4, int(1.25*float64(s.used+more)/full)+1))
	for i := range old {
		if old[i].level == f.level {
			s.spots[s.place(old[i].print, f.level)] = old[i]
		}
	}
}

// place returns the place of a state in its shard, or that of a spot for it.
func (s *fringe) place(print model.Fingerprint, level uint32) uint32 {
	place, _ := bits.Mul64(print.Lo, uint64(len(s.spots)))
	for s.spots[place].level == level && s.spots[place].print != print {
		if place++; int(place) == len(s.spots) {
			place = 0
		}
	}
	return uint32(place)
}

// spot returns the place of a state in its shard and its spot, and whether that was added just now, without a number.
// There must be room for it.
func (f *frontier) spot(print model.Fingerprint) (place uint32, s *spot, fresh bool) {
	shard := &f.shards[fringeOf(print)]
	place = shard.place(print, f.level)
	s = &shard.spots[place]
	if s.level == f.level {
		return place, s, false
	}
	*s = spot{print: print, number: unnumbered, level: f.level, span: span{least: [model.Costs]uint32{unreached}}}
	shard.used++
	return place, s, true
}
