package count

import "ringleader.example/ringleader/election"

// value is the value of an active process in some phase.
type value struct {
	ID    uint64 `json:"id"`
	At    uint32 `json:"at"`    // the position of the process
	Owner uint32 `json:"owner"` // the owner's position of that identifier
}

// rule applies a phase to the values of the active processes, clockwise: it appends the survivors to next. A row of
// consecutive values decides about each; rule decides all whose rows lie within values.
type rule func(values, next []value) []value

// chain takes the values of a ring through the phases of an election, all phases in one pass: a phase reads the
// survivors of the phase before, and keeps only a few values. So n may be 10⁹.
//
// A chain may read a range of a ring. Values that it cannot decide, without the values before its first and after its
// last ones, wait until the chains of all ranges are joined and the ring is closed.
type chain struct {
	rule   func(phase int) rule // phases count from 0 here
	row    int                  // the number of consecutive values that decide about one
	n      int                  // the size of the ring
	phases []*link
}

// link is one phase of a chain.
type link struct {
	First  []value `json:"first"`  // the first row-1 values, or all while there are fewer
	Values []value `json:"values"` // the last values; in a range that is read, as many as First
	Count  uint64  `json:"count"`  // how many were used in all
	used   int     // how many of Values were used before, as earlier ones of a row: at most row-1
}

const linkLen = 128 // 2 KB: of a ring of 1024, making longer ones takes longer than the phases

func (c *chain) link(phase int) *link {
	if phase == len(c.phases) {
		c.phases = append(c.phases, &link{Values: make([]value, 0, min(linkLen, c.n+c.row))})
	}
	return c.phases[phase]
}

// room returns the link of a phase, with room for that many more values.
func (c *chain) room(phase, more int) *link {
	l := c.link(phase)
	if cap(l.Values)-len(l.Values) < more {
		c.settle(phase)
	}
	return l
}

// settle decides all values of a phase that can be decided.
func (c *chain) settle(phase int) {
	l := c.link(phase)
	l.Count += uint64(len(l.Values) - l.used)
	if len(l.First) < c.row-1 { // so no value has been dropped
		l.First = append(l.First, l.Values[len(l.First):min(c.row-1, len(l.Values))]...)
	}
	if rows := len(l.Values) - (c.row - 1); rows > 0 {
		next := c.room(phase+1, rows)
		next.Values = c.rule(phase)(l.Values, next.Values)
	}
	l.used = min(c.row-1, len(l.Values))
	l.Values = append(l.Values[:0], l.Values[len(l.Values)-l.used:]...)
}

// feed reads the identifiers of consecutive positions.
func (c *chain) feed(position int, ids []uint64) {
	for len(ids) > 0 {
		l := c.room(0, 1)
		some := min(len(ids), cap(l.Values)-len(l.Values))
		for i, id := range ids[:some] {
			at := uint32(position + i)
			l.Values = append(l.Values, value{id, at, at})
		}
		ids, position = ids[some:], position+some
	}
}

// add reads one value.
func (c *chain) add(v value) {
	l := c.room(0, 1)
	l.Values = append(l.Values, v)
}

// join continues with the range that follows, as if it had read that range.
func (c *chain) join(part *chain) {
	for phase := 0; phase < len(part.phases); phase++ { // settling may add some
		part.settle(phase)
		l, other := c.room(phase, len(part.phases[phase].First)), part.phases[phase]
		l.Values = append(l.Values, other.First...)
		c.settle(phase)
		l.Count += other.Count - uint64(len(other.First))
		if len(other.First) == c.row-1 {
			l.Values = append(l.Values[:0], other.Values...)
		}
	}
}

// close closes the ring: the first values follow the last ones. It returns how many values enter each phase, up to the first that
// at most few enter, and those values.
func (c *chain) close(few int) (entered []uint64, values []value) {
	for p := 0; ; p++ {
		c.settle(p)
		l := c.link(p)
		entered = append(entered, l.Count)
		if l.Count <= uint64(few) {
			return entered, l.Values
		}
		l.Values = append(l.Values, l.First...)
		c.settle(p)
	}
}

// end ends a range.
func (c *chain) end(r *Range) {
	r.Links = nil
	for p := 0; p < len(c.phases); p++ { // settling may add some
		c.settle(p)
		r.Links = append(r.Links, *c.phases[p])
	}
}

// keep continues where a range has ended.
func (c *chain) keep(r *Range) *chain {
	for p := range r.Links {
		l := c.link(p)
		l.First, l.Count = r.Links[p].First, r.Links[p].Count
		l.Values = append(l.Values, r.Links[p].Values...)
		l.used = len(l.Values)
	}
	return c
}

// phased returns the ranges of a ring that goes through the phases of an election, until at most few processes are active.
// Complete gets how many are active in each phase, and the last values: at least one.
func phased(ids election.Arrangement, row, few int, rule func(phase int) rule, complete func(n uint64, entered []uint64, last []value) *Result) (*Ranges, error) {
	if err := distinct(ids); err != nil {
		return nil, err
	}
	begin := func() *chain { return &chain{rule: rule, row: row, n: ids.Len()} }
	return &Ranges{
		ids: ids, row: row,
		start: func(*Range, int) (func(int, []uint64), func(*Range)) {
			c := begin()
			return c.feed, c.end
		},
		join: func(r, later *Range) {
			c := begin().keep(r)
			c.join(begin().keep(later))
			c.end(r)
		},
		result: func(r *Range) *Result {
			entered, last := begin().keep(r).close(few)
			if len(last) == 0 {
				return nil
			}
			return complete(uint64(ids.Len()), entered, last)
		},
	}, nil
}
