package explain

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	contract "ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain/setting"
	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/record"
)

// scale is a clock that is set once, for the comparison with the model, which has one time for all. Its rate stays the same.
type scale struct {
	base   *timebase      // of its first life
	jumps  []setting.Knot // it went ahead by that just before a time, in no time of the others
	offset int64          // from its readings to times, which are nanoseconds of about the wall clock
	last   int64          // the last time
	drifts bool           // its rate is not 1
	rate   float64        // by which part it is to be moved
	at, by int64          // and from which time on, and by how much then
	ahead  int64          // how far it went ahead, for those that find jumps: what Boottime has more than Monotonic
}

// exactly is how exactly readings of clocks are compared: each counts whole units, and two are not taken at once.
const exactly = int64(100 * time.Microsecond)

// scaleOf returns the scale of a life. Lives on one machine have one. A life of which the machine is not known has that of the life before, if its clock went on.
func (l *line) scaleOf(v *life, known []*scale) *scale {
	begun := int64(v.head.Begun.Boottime)
	for _, s := range slices.Backward(known) {
		switch {
		case v.base.machine && s.base == v.base:
			return s
		case !v.base.machine && !s.base.machine && l.owner(s.base) == v.member() && begun >= s.last-s.offset:
			return s
		}
	}
	if v.base.machine {
		return &scale{base: v.base, offset: v.base.offset}
	}
	return &scale{base: v.base, offset: v.head.Wall - begun, last: v.head.Wall, ahead: int64(v.head.Begun.Boottime - v.head.Begun.Monotonic)}
}

// owner returns the member whose life has a clock of its own.
func (l *line) owner(b *timebase) uint64 {
	return l.lives[slices.IndexFunc(l.lives, func(v *life) bool { return v.base == b })].member()
}

// reads takes an entry of a life, and the reading of Boottime with which its step was made, if it is one. It returns that as a time. A machine that is known is really suspended: then
// time passes for the others, too. In a test in memory its clock goes ahead in no time.
func (s *scale) reads(v *life, e *record.Entry, ticks time.Duration) (at int64) {
	of := func(boottime time.Duration) int64 { return s.offset + int64(v.head.Begun.Boottime+boottime) }
	over := int64(v.head.Begun.Boottime - v.head.Begun.Monotonic)
	at = of(ticks)
	by := over + int64(e.At.Boottime-e.At.Monotonic) - s.ahead
	if by > exactly && !s.base.machine {
		where := of(e.At.Boottime)
		earlier := over+int64(ticks-e.At.Monotonic) > s.ahead+exactly                                      // the step knows of it
		if ambiguous := int64(e.At.Boottime-ticks) > by+exactly; earlier || ambiguous && at >= s.last+by { // the entry is much later than its step, which is rare
			where = at
		}
		s.jumps, s.ahead = append(s.jumps, setting.Knot{At: where, By: by}), s.ahead+by
	}
	s.last = max(s.last, of(e.At.Boottime))
	return at
}

// flat returns a time without the jumps before it.
func (s *scale) flat(at int64) int64 {
	left := int64(0)
	for _, j := range s.jumps {
		if at < j.At {
			return min(at, j.At-j.By) - left // amid a jump is its beginning
		}
		left += j.By
	}
	return at - left
}

// moved returns where a time without jumps is when the clock is set.
func (s *scale) moved(flat int64) int64 {
	return flat + s.by + int64(math.Floor(s.rate*float64(flat-s.at)))
}

// back is the inverse of moved: the first time that is moved to one, or beyond.
func (s *scale) back(to int64) int64 {
	flat := s.at + int64(float64(to-s.by-s.at)/(1+s.rate))
	for s.moved(flat) >= to {
		flat--
	}
	for s.moved(flat) < to {
		flat++
	}
	return flat
}

// set sets the clock by messages, so that none arrives before it was sent, by more than what two readings are unsure.
func (s *scale) set(l *line, bounds []setting.Bound, unsure int64) error {
	low, high := setting.Limits(bounds, 0)
	if (s.drifts || low > high+unsure) && len(bounds) > 0 {
		s.rate, s.at, s.drifts = setting.Rate(bounds, l.drift), bounds[0].At, true
		low, high = setting.Limits(bounds, s.rate)
	}
	wide := high-low > int64(closely)
	switch {
	case low > high+unsure:
		return fmt.Errorf("%w: the clock of %s runs apart from the others by %s", errUnchecked, l.whose(s.base), words.Lasts(time.Duration(low-high)))
	case wide && (s.base.machine || low > 0 || high < 0): // without a machine, it is a test in memory, with one wall clock
		return fmt.Errorf("%w: the clock of %s is not known within %s", errUnchecked, l.whose(s.base), words.Lasts(closely))
	case low > 0 || high < 0 || s.drifts:
		s.by = low + (high-low)/2
	}
	return nil
}

// finer is by how much finer the model's time is than the unit of the members, if clocks drift: two readings of one are two times.
const finer = 4

// scales are the clocks of all members on the time of the model. They implement the clocks of package refine.
type scales struct {
	all      []*scale
	unit     int64 // of the members' time
	fine     int64 // of the model's time
	first    int64 // the beginning of the model's time
	slowest  float64
	slack    int                    // by how much steps are moved, since clocks are not known better
	readings map[contract.ID][]tick // by member, in order
}

// tick is a reading of a clock at a time of the model.
type tick struct {
	now   int
	scale *scale
	at    int64
}

// time returns the time of the model.
func (c *scales) time(moved int64) int { return int((moved - c.first) / c.fine) }

// at returns what the clock of a member has read last at a time, of which the model's begins with 1.
func (c *scales) at(member contract.ID, now int) tick {
	all := c.readings[member]
	i, found := slices.BinarySearchFunc(all, now, func(r tick, now int) int { return cmp.Compare(r.now, now) })
	switch {
	case found:
		return all[i]
	case i > 0:
		return all[i-1]
	}
	s := c.all[0] // of member 0, too, who has made the first voters
	if len(all) > 0 {
		s = all[0].scale
	}
	return tick{now, s, min(s.back(int64(now-1)*c.fine+c.first), s.last)}
}

// Ends implements the clocks of package refine.
func (c *scales) Ends(member contract.ID, now, left int) int {
	r := c.at(member, now)
	end := r.at + int64(left)*c.unit
	return c.reaches(member, r.scale, r.scale.flat(end), func(r *tick) bool { return r.at < end })
}

// Expires implements the clocks of package refine. Timers stand still when a clock jumps.
func (c *scales) Expires(member contract.ID, now, wait int) int {
	r := c.at(member, now)
	end := r.scale.flat(r.at) + int64(wait)*c.unit
	return c.reaches(member, r.scale, end, func(r *tick) bool { return r.scale.flat(r.at) < end })
}

// reaches returns when a clock of a member has come to a time without jumps: that is after each step with an earlier reading, of which some were moved.
func (c *scales) reaches(member contract.ID, s *scale, flat int64, earlier func(r *tick) bool) int {
	end := 1 + c.time(s.moved(flat))
	all := c.readings[member]
	i, _ := slices.BinarySearchFunc(all, end, func(r tick, end int) int { return cmp.Compare(r.now, end) })
	for ; i < len(all) && all[i].scale == s && earlier(&all[i]); i++ {
		end = all[i].now + 1
	}
	return end
}

// Shortest implements the clocks of package refine.
func (c *scales) Shortest(length int) int {
	if c.fine == c.unit {
		return length - c.slack
	}
	return int(float64(int64(length)*c.unit/c.fine)*c.slowest) - 1 - c.slack
}

// Unsure implements the clocks of package refine. Several clocks are set by few messages, and the rates that fit these may differ more than the true ones.
func (c *scales) Unsure() bool { return len(c.all) > 1 }

// aligned sets all clocks, and gives steps their times. The model compares times of one clock with each other, so each clock is set once, and for all steps.
func (l *line) aligned(all []happening, known []*scale) (*scales, error) {
	c := &scales{all: known, unit: 1, first: math.MaxInt64, slowest: 1, readings: map[contract.ID][]tick{}}
	for _, h := range all {
		c.unit = max(c.unit, int64(h.life.head.Unit))
	}
	c.fine = c.unit
	pairs, _ := passages(all)
	if err := l.set(known, pairs, exactly); err != nil {
		return nil, err
	}
	for _, s := range known {
		if s.drifts {
			c.fine = max(1, c.unit/finer)
			c.slowest = min(c.slowest, 1+s.rate)
		}
	}
	for _, h := range all {
		c.first = min(c.first, h.scale.moved(h.scale.flat(h.at)))
	}
	for i := range all {
		h := &all[i]
		h.step.At = c.time(h.scale.moved(h.scale.flat(h.at)))
	}
	return c, nil
}

// notes notes the readings of all steps in their order, for which some were moved.
func (c *scales) notes(sorted []happening) {
	for i := range sorted {
		h := &sorted[i]
		c.slack = max(c.slack, h.step.At-c.time(h.scale.moved(h.scale.flat(h.at))))
		r, all := tick{1 + h.step.At, h.scale, h.at}, c.readings[h.step.Member]
		if last := len(all) - 1; last >= 0 && all[last].now == r.now {
			all[last] = r
		} else {
			c.readings[h.step.Member] = append(all, r)
		}
	}
}

// turns is how often clocks are set at most. The first time each is set by those before it, and then by all others, until no message arrives before it was sent.
const turns = 40

// set sets all clocks but the first.
func (l *line) set(known []*scale, pairs [][2]*happening, unsure int64) (err error) {
	for turn := range turns {
		err = nil
		for i := 1; i < len(known); i++ {
			by := known
			if turn == 0 {
				by = known[:i]
			}
			err = errors.Join(err, known[i].set(l, known[i].bounds(by, pairs), unsure))
		}
		if err == nil {
			break
		}
	}
	for i := 1; i < len(known) && err == nil; i++ {
		known[i].calm(known[i].bounds(known, pairs), unsure)
	}
	return err
}

// calm gives a clock the least rate with which no message arrives before it was sent: a few messages allow many.
func (s *scale) calm(bounds []setting.Bound, unsure int64) {
	if !s.drifts || setting.Room(bounds, s.rate) < -unsure {
		return
	}
	least, fits := 0.0, s.rate
	for range 50 {
		if half := (least + fits) / 2; setting.Room(bounds, half) >= -unsure {
			fits = half
		} else {
			least = half
		}
	}
	low, high := setting.Limits(bounds, fits)
	s.rate, s.by = fits, low+(high-low)/2
}

// bounds returns what pairs of steps say about a clock, if others are set.
func (s *scale) bounds(others []*scale, pairs [][2]*happening) (bounds []setting.Bound) {
	for _, p := range pairs {
		from, to := p[0], p[1]
		switch {
		case to.scale == s && slices.Contains(others, from.scale):
			received := s.flat(to.at)
			bounds = append(bounds, setting.Bound{At: received, By: from.scale.moved(from.scale.flat(from.at)) - received})
		case from.scale == s && slices.Contains(others, to.scale):
			sent := s.flat(from.at)
			bounds = append(bounds, setting.Bound{At: sent, By: to.scale.moved(to.scale.flat(to.at)) - sent, Most: true})
		}
	}
	slices.SortStableFunc(bounds, func(a, b setting.Bound) int { return cmp.Compare(a.At, b.At) })
	return bounds
}

// passages returns the pairs of steps of which one is before the other: it sends what the other receives, or is the last one of a life of whose death the other has a proof. An orphan
// receives what none sends.
func passages(all []happening) (pairs [][2]*happening, orphan *happening) {
	sent, last := map[setting.Passage]*happening{}, map[*life]*happening{}
	for i := range all {
		h := &all[i]
		last[h.life] = h
		for _, m := range h.recorded.Sent {
			if k := setting.PassageOf(h.life.member(), m.Peer, m.Kind, m.Payload); sent[k] == nil && !m.Dropped {
				sent[k] = h
			}
		}
	}
	for i := range all {
		h := &all[i]
		switch in := &h.recorded.Input; {
		case in.What == process.Received:
			if from := sent[setting.PassageOf(h.recorded.Peer, h.life.member(), in.Kind, in.Message)]; from == nil {
				orphan = cmp.Or(orphan, h)
			} else if from.scale != h.scale {
				pairs = append(pairs, [2]*happening{from, h})
			}
		case in.What == process.Commanded && in.Command.Order == contract.Died:
			for v, end := range last {
				if end.step.Member == in.Command.Member && v.head.Incarnation <= in.Command.Number && end.scale != h.scale {
					pairs = append(pairs, [2]*happening{end, h})
				}
			}
		}
	}
	return pairs, orphan
}
