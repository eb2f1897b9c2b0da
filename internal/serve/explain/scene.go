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
	from, to := ended-margin, begun+margin
	s := Scene{Change: c, From: wall(from), Lasts: time.Duration(to - from), Nobody: Span{time.Duration(ended - from), time.Duration(begun - from)}}
	span := func(a, b int64) (Span, bool) {
		return Span{time.Duration(max(a, from) - from), time.Duration(min(b, to) - from)}, a < to && b > from && a < b
	}
	for _, id := range l.members {
		lane := Lane{Member: id, Recorded: slices.Contains(g.Recorded, id)}
		for _, v := range l.lives {
			if v.member() != id {
				continue
			}
			if s, in := span(v.begun, v.last); in {
				lane.Alive = append(lane.Alive, s)
			}
			if dead := l.dead(v); dead > from && dead < to {
				lane.Proven = append(lane.Proven, time.Duration(dead-from))
			}
			for n := range v.facts {
				switch f := &v.facts[n]; body := f.body.(type) {
				case *record.Late:
					if s, in := span(f.at-int64(body.By), f.at); in && body.By > 20*time.Millisecond {
						lane.Still = append(lane.Still, s)
					}
				case *record.Flush:
					if s, in := span(f.at-int64(body.Took), f.at); in && body.Took > 20*time.Millisecond {
						lane.Flushes = append(lane.Flushes, s)
					}
				}
			}
		}
		for _, t := range l.tenures {
			ends := t.ended
			if !t.over {
				ends = to
			}
			if s, in := span(t.begun, ends); in && t.leader == id {
				lead := Lead{Span: s, Term: t.term}
				if t.until > from {
					lead.Until = time.Duration(min(t.until, to) - from)
				}
				lane.Leads = append(lane.Leads, lead)
			}
		}
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
