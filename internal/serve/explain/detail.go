package explain

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ringleader.example/ringleader/internal/serve/explain/setting"
	"ringleader.example/ringleader/internal/serve/record"
)

// around is how much before and after a change of the leader steps matter.
const around = 20 * time.Second

// matter returns the times around the changes of the leader, apart from each other.
func (l *line) matter() (apart [][2]int64) {
	var times [][2]int64
	for i, t := range l.tenures {
		from, to := t.begun-int64(around), t.begun+int64(around)
		if i > 0 {
			from = min(from, l.tenures[i-1].ended-int64(around))
		}
		times = append(times, [2]int64{from, to})
		if last := max(t.ended, t.seen); last != 0 {
			times = append(times, [2]int64{last - int64(around), last + int64(around)})
		}
	}
	slices.SortFunc(times, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for _, t := range times {
		if last := len(apart) - 1; last >= 0 && t[0] <= apart[last][1] {
			apart[last][1] = max(apart[last][1], t[1])
		} else {
			apart = append(apart, t)
		}
	}
	return apart
}

// wanted are the steps of a group that matter in a segment.
type wanted struct {
	life  *life
	times [][2]int64
	steps []fact
}

func (w *wanted) matters(c record.Clocks) bool {
	at := w.life.at(c)
	return slices.ContainsFunc(w.times, func(t [2]int64) bool { return t[0] <= at && at <= t[1] })
}

// detail reads the steps around the changes of the leader of groups of the same members. It reads each segment once.
func detail(ctx context.Context, lines []*line) {
	bySegment, segments := map[*record.Segment]map[string]*wanted{}, []*record.Segment{}
	for _, l := range lines {
		times := l.matter()
		for _, v := range l.lives {
			for i, s := range v.segments {
				inside := setting.Overlapping(times, v.spans[i])
				if len(inside) == 0 {
					continue
				}
				if bySegment[s] == nil {
					bySegment[s], segments = map[string]*wanted{}, append(segments, s)
				}
				bySegment[s][l.name] = &wanted{life: v, times: inside}
			}
		}
	}
	record.Together(ctx, len(segments), func(i int) (none struct{}) {
		readSteps(segments[i], bySegment[segments[i]])
		return none
	})
	for _, l := range lines {
		for _, v := range l.lives {
			more := [][]fact{v.facts}
			for _, s := range v.segments {
				if w := bySegment[s][l.name]; w != nil {
					more = append(more, w.steps)
				}
			}
			v.facts = slices.Concat(more...)
			slices.SortStableFunc(v.facts, func(a, b fact) int { return cmp.Compare(a.at, b.at) })
		}
	}
}

// readSteps reads the steps of a segment that are wanted, by group.
func readSteps(s *record.Segment, byGroup map[string]*wanted) {
	matters := func(group string, at record.Clocks) bool {
		w := byGroup[group]
		return w != nil && w.matters(at)
	}
	for e := range s.Detailed(matters) {
		if e == nil {
			continue
		}
		if step, is := e.Body.(*record.Step); is && matters(e.Group, e.At) {
			w := byGroup[e.Group]
			w.steps = append(w.steps, fact{w.life.at(e.At), e.Group, step, s.Head.Unit})
		}
	}
}
