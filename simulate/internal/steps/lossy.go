package steps

import "ringleader.example/ringleader/faults"

// Fate is what happens to a message on its link.
type Fate uint8

// The fates of a message.
const (
	Once  Fate = iota // it arrives
	Lost              // it does not arrive
	Twice             // it arrives, and a copy of it
)

// Flawed reports whether links lose or duplicate messages, at random or by a cut.
func (r *Core) Flawed() bool { return r.Luck != nil || r.Severed != nil }

// Draw decides the fates of the messages of the last step.
func (r *Core) Draw() {
	if r.Flawed() {
		r.drawFates()
	}
}

func (r *Core) drawFates() {
	r.fates = r.fates[:0]
	for _, s := range r.Leaving() {
		switch {
		case r.Severed != nil && r.Severed[s.On()] > 0, r.hits(r.Lose):
			r.fates = append(r.fates, Lost)
			r.Outcome.Lost++
		case r.hits(r.Duplicate):
			r.fates = append(r.fates, Twice)
			r.Duplicated++
		default:
			r.fates = append(r.fates, Once)
		}
	}
}

func (r *Core) hits(c faults.Chance) bool { return c.Times > 0 && r.Luck.Below(c.Of) < c.Times }

// Fate returns the fate of the i-th message of the last step.
func (r *Core) Fate(i int) Fate {
	if !r.Flawed() {
		return Once
	}
	return r.fates[i]
}
