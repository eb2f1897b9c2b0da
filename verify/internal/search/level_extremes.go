package search

import (
	"math"

	"ringleader.example/ringleader/verify/internal/model"
)

// levelExtremes computes the extremes of messages during a search in which every move leads from one level to the next. Then
// all paths to a state have the same length, and its extremes are known before it is expanded.
type levelExtremes struct {
	least [model.Costs]uint64 // of runs that end
	most  [model.Costs]uint64
	lost  bool // a move led to an earlier level, so that these are not the extremes
}

// unreached is the least cost of a state to which no run without faults leads.
const unreached = math.MaxUint32

// span holds the extremes of the runs to a state.
type span struct{ least, most [model.Costs]uint32 }

// reach adds the runs that come from a state by a move. It reports false if a sum is too large.
func (s *span) reach(from *span, by model.Cost) bool {
	if from.least[0] == unreached {
		return true
	}
	begun := s.least[0] != unreached
	for i, weight := range by.All() {
		if weight >= unreached || uint64(from.most[i])+weight >= unreached {
			return false
		}
		least, most := from.least[i]+uint32(weight), from.most[i]+uint32(weight)
		if !begun {
			s.least[i], s.most[i] = least, most
			continue
		}
		s.least[i], s.most[i] = min(s.least[i], least), max(s.most[i], most)
	}
	return true
}

// leave takes over the runs to a state, which may end there or not.
func (f *levelExtremes) leave(s *span, ends bool) {
	if s.least[0] == unreached {
		return
	}
	for i := range model.Costs {
		f.most[i] = max(f.most[i], uint64(s.most[i]))
		if ends {
			f.least[i] = min(f.least[i], uint64(s.least[i]))
		}
	}
}

func newLevelExtremes() levelExtremes {
	return levelExtremes{least: [model.Costs]uint64{endless, endless, endless}}
}
