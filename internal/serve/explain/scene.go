package explain

import (
	"slices"
	"time"

	"ringleader.example/ringleader/internal/serve/record"
)

// Scene is what a drawing of a change of the leader shows. All times are since From.
type Scene struct {
	Change  Change
	From    time.Time
	Lasts   time.Duration
	Members []Lane
	Nobody  Span // without a leader
	Arrows  []Arrow
}

// Lane is what happened at a member.
type Lane struct {
	Member   uint64
	Recorded bool
	Alive    []Span
	Leads    []Lead
	Still    []Span          // its loop stood still
	Flushes  []Span          // that took long
	Proven   []time.Duration // it was proven dead
}

// Span is a time.
type Span struct{ From, To time.Duration }

// Lead is a time in which a member leads.
type Lead struct {
	Span
	Term  uint64
	Until time.Duration // the end of its last lease; 0: not known
}

// Arrow is a message that decides something.
type Arrow struct {
	From, To       uint64
	Sent, Received time.Duration
	Kind           string
}

// arrows are the kinds of messages of quorum-bully that scenes show.
var arrows = map[uint8]string{claim: "claim", grant: "grant", nack: "nack", release: "release"}

// mostArrows is how many messages a scene shows.
const mostArrows = 400

// Scene returns the scene of a change.
func (g *Group) Scene(change int) Scene {
	c := g.Changes[change]
	l := g.line
	ended := c.Ended.UnixNano()
	begun := ended
	if !c.Begun.IsZero() {
		begun = c.Begun.UnixNano()
	}
	margin := min(max((begun-ended)/2, int64(400*time.Millisecond)), int64(3*time.Second))
	// What ends a lease has begun one before. Two leaders at once have no time between them.
	from, to := min(ended, begun)-max(margin, l.lease()*5/4), max(ended, begun)+margin
	nobody := Span{time.Duration(min(ended, begun) - from), time.Duration(begun - from)}
	s := Scene{Change: c, From: wall(from), Lasts: time.Duration(to - from), Nobody: nobody}
	for _, id := range l.members {
		lane := Lane{Member: id, Recorded: slices.Contains(g.Recorded, id)}
		for _, v := range l.lives {
			if v.member() == id {
				lane.live(l, v, from, to)
			}
		}
		lane.lead(l, from, to)
		s.Members = append(s.Members, lane)
	}
	for _, x := range l.crossings() {
		kind, shown := arrows[uint8(x.kind)]
		if !shown || x.from.head.Algorithm != quorumBully || x.sent < from || x.received > to || len(s.Arrows) == mostArrows {
			continue
		}
		if kind == "grant" && (x.received < ended || x.received > begun+int64(10*time.Millisecond)) { // and not each renewal
			continue
		}
		s.Arrows = append(s.Arrows, Arrow{x.from.member(), x.to.member(), time.Duration(x.sent - from), time.Duration(x.received - from), kind})
	}
	return s
}

// lease returns the longest lease of a leader.
func (l *line) lease() (longest int64) {
	for _, v := range l.lives {
		longest = max(longest, int64(v.head.Entitled))
	}
	return longest
}

// within returns a time as a part of a scene, and whether it is in it.
func within(a, b, from, to int64) (Span, bool) {
	return Span{time.Duration(max(a, from) - from), time.Duration(min(b, to) - from)}, a < to && b > from && a < b
}

// shown is how long something lasts that a scene shows.
const shown = 20 * time.Millisecond

// live adds what happened in a life.
func (lane *Lane) live(l *line, v *life, from, to int64) {
	if s, in := within(v.begun, v.last, from, to); in {
		lane.Alive = append(lane.Alive, s)
	}
	if dead := l.dead(v); dead > from && dead < to {
		lane.Proven = append(lane.Proven, time.Duration(dead-from))
	}
	for at, late := range each[*record.Late](v) {
		if s, in := within(at-int64(late.By), at, from, to); in && late.By > shown {
			lane.Still = append(lane.Still, s)
		}
	}
	for at, flush := range each[*record.Flush](v) {
		if s, in := within(at-int64(flush.Took), at, from, to); in && flush.Took > shown {
			lane.Flushes = append(lane.Flushes, s)
		}
	}
}

// lead adds the tenures of the member.
func (lane *Lane) lead(l *line, from, to int64) {
	for _, t := range l.tenures {
		ends := t.ended
		if !t.over {
			ends = to
		}
		s, in := within(t.begun, ends, from, to)
		if !in || t.leader != lane.Member {
			continue
		}
		lead := Lead{Span: s, Term: t.term}
		if t.until > from {
			lead.Until = time.Duration(min(t.until, to) - from)
		}
		lane.Leads = append(lane.Leads, lead)
	}
}
