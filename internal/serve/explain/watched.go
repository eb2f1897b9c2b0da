package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/record"
)

// blind returns the end of the last time before a moment in which a life could not hear from a member: it did not run, was not connected, or stood still.
// Of the last kind the beginning is known, too; else that is 0.
func blind(v *life, peer uint64, moment int64) (from, to int64) {
	n, _ := slices.BinarySearchFunc(v.facts, moment+1, func(f fact, at int64) int { return cmp.Compare(f.at, at) })
	for _, f := range slices.Backward(v.facts[:n]) {
		switch body := f.body.(type) {
		case *record.Connected:
			if body.Peer == peer {
				return 0, f.at
			}
		case *record.Late:
			if body.By >= v.head.EndsLease() {
				return f.at - int64(body.By), f.at
			}
		}
	}
	return 0, v.begun
}

// settled returns within how long a life hears of a leader that it can hear.
func settled(v *life) int64 { return int64(max(v.head.Entitled, v.head.Suspicion)) }

// leaves returns when a life has left a leader that it followed until a moment. If it has just stood still, it was to leave before that.
func leaves(v *life, leader uint64, at int64) int64 {
	if from, to := blind(v, leader, at); from != 0 && at-to < settled(v) {
		return from
	}
	return at
}

// watched reports whether a record tells when a lead has ended, and when the next one began.
func (l *line) watched(t, next *tenure) bool {
	return (t.life != nil || len(t.left) > 0) && l.begins(next, t.ended)
}

// begins reports whether a record tells when a lead began, that did not do so before some moment: that of its leader, or of a follower that would have heard
// of it sooner. A member that starts, connects or wakes hears of a lead that may be old.
func (l *line) begins(t *tenure, after int64) bool {
	if t.life != nil {
		return true
	}
	return slices.ContainsFunc(l.lives, func(v *life) bool {
		for at, d := range each[*record.Decision](v) {
			if d.Leader == t.leader && d.Term == t.term {
				_, to := blind(v, t.leader, at)
				return after != 0 && to <= after || at-to >= settled(v)
			}
		}
		return false
	})
}

// Ending is where the record of a member ends that does so before the last entry of all.
type Ending struct {
	Member uint64    `json:"member"`
	Time   time.Time `json:"time"`
	Closed bool      `json:"closed"` // the member has ended then, in order. Else it was removed or killed, or its record goes on elsewhere

	// Unlisted are the members whose lists did not have it at last: it was removed, and has nothing more to record. If it was Known to none of them before, it may not be there yet.
	Unlisted []uint64 `json:"unlisted_by,omitempty"`
	Known    bool     `json:"-"`
}

// endings returns the records that end early, in the order of members.
func (l *line) endings() (all []Ending) {
	for _, id := range l.members {
		var last *life
		for _, v := range l.lives {
			if v.member() == id && (last == nil || v.last > last.last) {
				last = v
			}
		}
		if last != nil && last.last < l.end()-int64(loosely) {
			all = append(all, Ending{id, wall(last.last), last.closed, unlisted(last), l.connected(id)})
		}
	}
	return all
}

// unlisted returns the members that a life dialed last in vain, as their lists have it not: they refuse one that was removed.
func unlisted(v *life) (by []uint64) {
	sign := fmt.Sprintf("has no member %d", v.member())
	for i := range v.facts {
		switch body := v.facts[i].body.(type) {
		case *record.Connected:
			by = slices.DeleteFunc(by, func(id uint64) bool { return id == body.Peer })
		case *record.Dialed:
			if by = slices.DeleteFunc(by, func(id uint64) bool { return id == body.Peer }); strings.HasSuffix(body.Error, sign) {
				by = append(by, body.Peer)
			}
		}
	}
	slices.Sort(by)
	return by
}

// connected reports whether a member was connected with another one.
func (l *line) connected(id uint64) bool {
	for s, c := range every[*record.Connected](l) {
		if s.life.member() == id || c.Peer == id {
			return true
		}
	}
	return false
}

// wants says that the record of a leader is missing, or ends or begins too early or too late.
func (i *inquiry) wants() {
	from, to := int64(0), int64(0)
	for _, v := range i.lives {
		if v.member() != i.tenure.leader {
			continue
		}
		if v.last <= i.tenure.noticed {
			to = max(to, v.last)
		} else if from == 0 {
			from = v.recorded()
		}
	}
	text := ""
	switch {
	case to != 0:
		text = ", of that time: what is here ends at " + words.Clock(to)
		if from != 0 {
			text += ", and goes on at " + words.Clock(from)
		}
	case from != 0:
		text = ", of that time: what is here begins at " + words.Clock(from)
	}
	i.lacks("the record of member %d, which led%s", i.tenure.leader, text)
}

// unrecorded returns the members that have no record here.
func (l *line) unrecorded() (without []uint64) {
	for _, id := range l.members {
		if !slices.ContainsFunc(l.lives, func(v *life) bool { return v.member() == id }) {
			without = append(without, id)
		}
	}
	return without
}

// unwatched tells that a time without a leader is not known.
func (l *line) unwatched(c *Change) {
	c.AtMost = true
	c.Bounded = append(c.Bounded, "not known: no member whose record is here watched the time; it was at most "+words.Lasts(time.Duration(c.Nobody*float64(time.Second))))
	switch without := l.unrecorded(); {
	case len(without) == 1:
		c.Missing = append(c.Missing, "the record of "+words.Members(without)+": how long nobody led")
	case len(without) > 0:
		c.Missing = append(c.Missing, "the records of "+words.Members(without)+": how long nobody led")
	default:
		c.Missing = append(c.Missing, "a record of that time: how long nobody led")
	}
}
