package work

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Part is a piece with its result.
type Part struct {
	Piece
	Result []byte
}

// Results holds what is known of a job. It is safe for several goroutines.
type Results struct {
	task Task
	keep func(Part) error // nil: results are in memory only

	mutex   sync.Mutex
	done    Ranges // computed, or not needed
	skipped Ranges // not needed, whatever the results are
	parts   []Part // computed: disjoint, in order, adjacent ones joined
}

// NewResults returns the results of a task, with those of earlier runs. Keep is called with each further result before
// its units count as computed; it may be nil. Earlier results may overlap: those are chosen that cover the most units.
func NewResults(t Task, earlier []Part, keep func(Part) error) (*Results, error) {
	r := &Results{task: t}
	for _, part := range choose(earlier) {
		if _, err := r.Take(part.Piece, part.Result); err != nil {
			return nil, err
		}
	}
	r.keep = keep
	return r, nil
}

// choose returns disjoint parts, in order, that cover as many units as possible.
func choose(parts []Part) []Part {
	if len(parts) == 0 {
		return nil
	}
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b Part) int { return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From)) })
	type best struct {
		units uint64 // that the parts so far cover
		taken bool   // with the last of them
		rest  int    // how many parts come before that one
	}
	all := make([]best, len(sorted)+1)
	for i, part := range sorted {
		before, _ := slices.BinarySearchFunc(sorted, part.From, func(p Part, from uint64) int {
			if p.To <= from {
				return -1
			}
			return 1
		})
		all[i+1] = best{units: all[i].units, rest: i}
		if units := all[before].units + part.Len(); units > all[i].units {
			all[i+1] = best{units, true, before}
		}
	}
	var chosen []Part
	for i := len(sorted); i > 0; i = all[i].rest {
		if all[i].taken {
			chosen = append(chosen, sorted[i-1])
		}
	}
	slices.Reverse(chosen)
	return chosen
}

// Take takes the result of a piece. It reports false, and drops the result, if a unit of the piece is there already or
// is not needed.
func (r *Results) Take(p Piece, result []byte) (taken bool, err error) {
	if units := r.task.Units(); p.From >= p.To || p.To > units {
		return false, fmt.Errorf("units %s are not among the %d of the job", p, units)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.done.Meets(p) {
		return false, nil
	}
	part := Part{p, result}
	if r.keep != nil {
		if err := r.keep(part); err != nil {
			return false, err
		}
	}
	r.done.Add(p)
	if t, ending := r.task.(Ending); ending && t.Ends(result) {
		r.done.Add(Piece{p.To, r.task.Units()})
	}
	return true, r.insert(part)
}

// insert adds a part, and joins it with its neighbours.
func (r *Results) insert(part Part) (err error) {
	at, _ := slices.BinarySearchFunc(r.parts, part.From, func(p Part, from uint64) int { return cmp.Compare(p.From, from) })
	from, to := at, at
	if at > 0 && r.parts[at-1].To == part.From {
		from--
		before := r.parts[from]
		if part.Result, err = r.task.Join(before.Result, part.Result); err != nil {
			return err
		}
		part.From = before.From
	}
	if at < len(r.parts) && r.parts[at].From == part.To {
		to++
		after := r.parts[at]
		if part.Result, err = r.task.Join(part.Result, after.Result); err != nil {
			return err
		}
		part.To = after.To
	}
	r.parts = slices.Replace(r.parts, from, to, part)
	return nil
}

// Skip marks units as not needed, unless they are computed.
func (r *Results) Skip(p Piece) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.done.Add(p)
	r.skipped.Add(p)
}

// Missing returns the units that are needed and not computed, in order.
func (r *Results) Missing() []Piece {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.done.Missing(r.task.Units())
}

// Needs reports whether a unit of the piece is needed and not computed.
func (r *Results) Needs(p Piece) bool {
	for _, missing := range r.Missing() {
		if missing.From < p.To && p.From < missing.To {
			return true
		}
	}
	return false
}

// Parts returns what is computed: disjoint, in order, adjacent parts joined.
func (r *Results) Parts() []Part {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.parts)
}

// Joined returns one result of all parts; nil if there are none.
func (r *Results) Joined() (result []byte, err error) {
	for i, part := range r.Parts() {
		if i == 0 {
			result = part.Result
		} else if result, err = r.task.Join(result, part.Result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// Complete reports whether no unit is missing. It makes the units of a [Growing] task that are needed the only ones.
func (r *Results) Complete() (complete bool, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if t, grows := r.task.(Growing); grows {
		var results [][]byte
		for _, part := range r.parts {
			results = append(results, part.Result)
		}
		pieces, err := t.Needed(results)
		if err != nil {
			return false, err
		}
		var needed Ranges
		for _, p := range pieces {
			needed.Add(p)
		}
		r.done = Ranges{needed.Missing(r.task.Units())}
		for _, p := range r.skipped.ranges {
			r.done.Add(p)
		}
		for _, part := range r.parts {
			r.done.Add(part.Piece)
		}
	}
	return len(r.done.Missing(r.task.Units())) == 0, nil
}

// Count returns the numbers of units that are computed, and that are missing.
func (r *Results) Count() (computed, missing uint64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, part := range r.parts {
		computed += part.Len()
	}
	return computed, r.task.Units() - r.done.Len()
}
