package work

import "slices"

// Ranges is a set of units: disjoint ranges in order, of which no two touch.
type Ranges struct{ ranges []Piece }

// place returns the index of the first range that ends at unit or later.
func (r *Ranges) place(unit uint64) int {
	at, _ := slices.BinarySearchFunc(r.ranges, unit, func(p Piece, u uint64) int {
		if p.To < u {
			return -1
		}
		return 1
	})
	return at
}

// Add adds the units of a piece.
func (r *Ranges) Add(p Piece) {
	if p.From >= p.To {
		return
	}
	first := r.place(p.From)
	last := first
	for last < len(r.ranges) && r.ranges[last].From <= p.To {
		p.From, p.To = min(p.From, r.ranges[last].From), max(p.To, r.ranges[last].To)
		last++
	}
	r.ranges = slices.Replace(r.ranges, first, last, p)
}

// Meets reports whether a unit of the piece is in the set.
func (r *Ranges) Meets(p Piece) bool {
	at := r.place(p.From + 1)
	return p.From < p.To && at < len(r.ranges) && r.ranges[at].From < p.To
}

// Len returns the number of units in the set.
func (r *Ranges) Len() (units uint64) {
	for _, p := range r.ranges {
		units += p.Len()
	}
	return units
}

// Missing returns the ranges of 0 to units that are not in the set, in order.
func (r *Ranges) Missing(units uint64) (missing []Piece) {
	from := uint64(0)
	for _, p := range r.ranges {
		if p.From >= units {
			break
		}
		if p.From > from {
			missing = append(missing, Piece{from, p.From})
		}
		from = p.To
	}
	if from < units {
		missing = append(missing, Piece{from, units})
	}
	return missing
}
