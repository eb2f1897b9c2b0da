package explain

import (
	"time"

	contract "ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain/setting"
	"ringleader.example/ringleader/internal/serve/record"
)

// ends finds the end of a tenure whose leader has no record, by those that followed it. A record that ends meanwhile has seen it until then. What the leader told counts more.
func (l *line) ends(t, next *tenure) {
	begun := int64(1<<63 - 1)
	if next != nil {
		begun = next.begun
	}
	if t.over { // one that stood still leaves late
		t.ended = setting.Last(t.left, begun)
	}
	switch told := l.toldEnd(t); {
	case told != 0:
		t.ended, t.over = told, true
	case t.over && t.seen > t.ended && next == nil:
		t.over = false
	case t.over && t.seen > t.ended:
		t.ended = t.seen
	}
	t.ended = min(t.ended, begun)
}

// toldEnd returns when a leader told that its lead had ended, as others have recorded; 0: it told none of them at once. What a member reads as it wakes, or connects, is older.
func (l *line) toldEnd(t *tenure) (at int64) {
	for s, told := range every[*record.Told](l) {
		if told.Peer == t.leader && told.Term == t.term && t.term != 0 && s.life.member() != t.leader && (at == 0 || s.at < at) {
			if _, to := blind(s.life, t.leader, s.at); s.at-to >= settled(s.life) {
				at = s.at
			}
		}
	}
	return at
}

// tells reports whether the record of the leader itself has why its lead ended.
func (l *line) tells(t *tenure) bool {
	for _, told := range each[*record.Told](t.life) {
		if told.Peer == t.leader && told.Term == t.term {
			return true
		}
	}
	return false
}

// extend finds the last end of the lease of each tenure, which has ended then at the latest.
func (l *line) extend() {
	for n, t := range l.tenures {
		if t.life != nil && t.ended == t.life.last && !t.life.closed {
			before := int64(1<<63 - 1)
			if n+1 < len(l.tenures) {
				before = l.tenures[n+1].begun
			}
			l.goesOn(t, before)
		}
		t.noticed = t.ended
		if t.life == nil || t.cut {
			continue
		}
		known := t.lapsed
		for i := range t.life.facts {
			f := &t.life.facts[i]
			step, is := f.body.(*record.Step)
			if !is || f.unit <= 0 {
				continue
			}
			for _, e := range step.Effects {
				if e.Op == contract.Lead && uint64(e.Term) == t.term && e.Deadline {
					if ends := process.Moment(time.Duration(step.Ticks)*f.unit, e.Ticks, f.unit); ends != process.Never {
						t.until = max(t.until, t.life.at(record.Clocks{Boottime: ends}))
						known = known || f.at >= t.ended-int64(around) // the last renewals are here
					}
				}
			}
		}
		if known && t.over {
			t.ended = min(t.ended, t.until)
		}
	}
}

// goesOn ends a tenure whose record ends amid it where others have seen its end, before a moment.
func (l *line) goesOn(t *tenure, before int64) {
	if last := l.renewed(t, before); last > t.ended+int64(loosely) {
		t.ended, t.cut = last, true
	}
	if told := min(l.toldEnd(t), before); told > t.ended && !l.tells(t) {
		t.ended, t.over, t.cut = told, true, true
	}
}

// renewed returns when another member has last heard the leader of a tenure renew its lease before a moment; 0: none has. What a member hears as it wakes is from before it
// stood still.
func (l *line) renewed(t *tenure, before int64) (last int64) {
	if dead := l.dead(t.life); dead != 0 {
		before = min(before, dead)
	}
	for s, step := range every[*record.Step](l) {
		if s.at < before && step.Input.What == process.Received && step.Peer == t.leader && step.Input.Kind == renew && s.life.head.Algorithm == quorumBully {
			if last < s.at {
				last = max(last, leaves(s.life, t.leader, s.at))
			}
		}
	}
	return last
}
