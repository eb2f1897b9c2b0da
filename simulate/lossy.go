package simulate

import "ringleader.example/ringleader/faults"

// fate is what happens to a message on its link.
type fate uint8

const (
	once fate = iota
	lost
	twice
)

// flawed reports whether links lose or duplicate messages, at random or by a cut.
func (r *core) flawed() bool { return r.luck != nil || r.severed != nil }

// draw decides the fates of the messages of the last step.
func (r *core) draw() {
	if r.flawed() {
		r.drawFates()
	}
}

func (r *core) drawFates() {
	r.fates = r.fates[:0]
	for _, s := range r.leaving() {
		switch {
		case r.severed != nil && r.severed[s.On()] > 0, r.hits(r.lose):
			r.fates = append(r.fates, lost)
			r.outcome.Lost++
		case r.hits(r.duplicate):
			r.fates = append(r.fates, twice)
			r.duplicated++
		default:
			r.fates = append(r.fates, once)
		}
	}
}

func (r *core) hits(c faults.Chance) bool { return c.Times > 0 && r.luck.Below(c.Of) < c.Times }

// fate returns the fate of the i-th message of the last step.
func (r *core) fate(i int) fate {
	if !r.flawed() {
		return once
	}
	return r.fates[i]
}
