package count

import (
	"context"

	"ringleader.example/ringleader/election"
)

// value is the value of an active process in some phase.
type value struct {
	id    uint64
	at    uint32 // the position of the process
	owner uint32 // the owner's position of that identifier
}

// rule applies a phase to the values of the active processes, clockwise: it appends the survivors to next. A row of
// consecutive values decides about each; rule decides all whose rows lie within values.
type rule func(values, next []value) []value

// chain takes the values of a ring through the phases of an election, all phases in one pass: a phase reads the
// survivors of the phase before, and keeps only a few values. So n may be 10⁹.
//
// A chain may read a part of a ring. Values that it cannot decide, without the values before its first and after its
// last ones, wait until the chains of all parts are joined and the ring is closed.
type chain struct {
	rule   func(phase int) rule // phases count from 0 here
	row    int                  // the number of consecutive values that decide about one
	phases []*link
}

// link is one phase of a chain.
type link struct {
	first  []value // the first row-1 values, or all while there are fewer
	values []value // the last values
	used   int     // how many of these were used before, as earlier ones of a row: at most row-1
	count  uint64  // how many were used in all
}

const linkLen = 512 // 8 KB

func (c *chain) link(phase int) *link {
	if phase == len(c.phases) {
		c.phases = append(c.phases, &link{values: make([]value, 0, linkLen)})
	}
	return c.phases[phase]
}

// room returns the link of a phase, with room for that many more values.
func (c *chain) room(phase, more int) *link {
	l := c.link(phase)
	if cap(l.values)-len(l.values) < more {
		c.settle(phase)
	}
	return l
}

// settle decides all values of a phase that can be decided.
func (c *chain) settle(phase int) {
	l := c.link(phase)
	l.count += uint64(len(l.values) - l.used)
	if len(l.first) < c.row-1 { // so no value has been dropped
		l.first = append(l.first, l.values[len(l.first):min(c.row-1, len(l.values))]...)
	}
	if rows := len(l.values) - (c.row - 1); rows > 0 {
		next := c.room(phase+1, rows)
		next.values = c.rule(phase)(l.values, next.values)
	}
	l.used = min(c.row-1, len(l.values))
	l.values = append(l.values[:0], l.values[len(l.values)-l.used:]...)
}

// feed reads the identifiers of consecutive positions.
func (c *chain) feed(position int, ids []uint64) {
	for len(ids) > 0 {
		l := c.room(0, 1)
		some := min(len(ids), cap(l.values)-len(l.values))
		for i, id := range ids[:some] {
			at := uint32(position + i)
			l.values = append(l.values, value{id, at, at})
		}
		ids, position = ids[some:], position+some
	}
}

// add reads one value.
func (c *chain) add(v value) {
	l := c.room(0, 1)
	l.values = append(l.values, v)
}

// join continues with the part that follows, as if it had read that part.
func (c *chain) join(part *chain) {
	for phase := 0; phase < len(part.phases); phase++ { // settling may add some
		part.settle(phase)
		l, other := c.room(phase, len(part.phases[phase].first)), part.phases[phase]
		l.values = append(l.values, other.first...)
		c.settle(phase)
		l.count += other.count - uint64(len(other.first))
		if len(other.first) == c.row-1 {
			l.values = append(l.values[:0], other.values...)
		}
	}
}

// close closes the ring: the first values follow the last ones. It returns how many values enter each phase, up to the first that
// at most few enter, and those values.
func (c *chain) close(few int) (entered []uint64, values []value) {
	for p := 0; ; p++ {
		c.settle(p)
		l := c.link(p)
		entered = append(entered, l.count)
		if l.count <= uint64(few) {
			return entered, l.values
		}
		l.values = append(l.values, l.first...)
		c.settle(p)
	}
}

// phases takes a ring through the phases of an election, until at most few processes are active. It returns how many are active in
// each.
func phases(ctx context.Context, ids election.Arrangement, parts int, progress func(done, of int), row, few int, rule func(phase int) rule) (entered []uint64, values []value, err error) {
	if err := distinct(ids); err != nil {
		return nil, nil, err
	}
	chains := make([]chain, parts)
	for part := range chains {
		chains[part] = chain{rule: rule, row: row}
	}
	err = read(ctx, ids, 0, parts, progress, func(part, index int, block []uint64) { chains[part].feed(index, block) })
	if err != nil {
		return nil, nil, err
	}
	whole := &chains[0]
	for part := range chains[1:] {
		whole.join(&chains[part+1])
	}
	entered, values = whole.close(few)
	return entered, values, nil
}
