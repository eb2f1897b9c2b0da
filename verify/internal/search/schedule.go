package search

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify/internal/model"
)

// longestSchedule is the number of steps after which a schedule is given up.
const longestSchedule = 1 << 16

// firstSchedule makes one schedule from each beginning, and returns what is wrong with one of them, or nil.
func (w *worker) firstSchedule(o *Options) *model.Finding {
	for root, beginning := range w.Beginnings() {
		f := &model.Finding{Root: root}
		if wrong := w.follow(o, beginning, &f.Path); wrong != nil && (o.Only == "" || o.Only == wrong.Property) {
			f.Breach = *wrong
			return f
		}
	}
	return nil
}

// follow makes the first transition of each configuration until something is wrong, or none is left, and returns what is wrong.
func (w *worker) follow(o *Options, conf model.Configuration, path *[]int) *model.Breach {
	var sum model.Cost
	for len(*path) < longestSchedule {
		var wrong *model.Breach
		here, ends := slices.Clone(conf), true
		w.Transitions(here, func(t *model.Transition, next model.Configuration) {
			if ends {
				ends, wrong = false, t.Breach
				conf = append(conf[:0], next...)
				if t.Outcome != nil {
					sum.Election += w.Costs[t.Outcome.Cost].Election
					sum.Announcement += w.Costs[t.Outcome.Cost].Announcement
				}
			}
		})
		if ends {
			return w.ended(o, here, sum)
		}
		if *path = append(*path, 0); wrong != nil {
			return wrong
		}
	}
	return nil
}

// ended judges the end of a run without faults.
func (w *worker) ended(o *Options, conf model.Configuration, sum model.Cost) *model.Breach {
	if wrong := w.Settled(conf); wrong != nil && !o.SafetyOnly {
		return wrong
	}
	for i, of := range model.CostNames {
		count := sum.All()[i]
		if b := o.broken(w.Declaration, w.N, of, count, count); b != nil {
			return exceeds(b, uint64(w.N), election.Units(count))
		}
	}
	return nil
}
