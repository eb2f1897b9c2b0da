package simulate

// fate is what becomes of a message on its link.
type fate uint8

const (
	once fate = iota
	lost
	twice
)

// draw decides what becomes of the messages that the last step sent.
func (r *run[S, M]) draw() {
	if r.luck == nil {
		return
	}
	r.fates = r.fates[:0]
	for range r.collect.Sent() {
		switch {
		case r.happens(r.o.Lose):
			r.fates = append(r.fates, lost)
			r.result.Lost++
		case r.happens(r.o.Duplicate):
			r.fates = append(r.fates, twice)
			r.result.Duplicated++
		default:
			r.fates = append(r.fates, once)
		}
	}
}

func (r *run[S, M]) happens(c Chance) bool { return c.Times > 0 && r.luck.Below(c.Of) < c.Times }

// fate is the fate of the i-th message of the last step.
func (r *run[S, M]) fate(i int) fate {
	if r.luck == nil {
		return once
	}
	return r.fates[i]
}
