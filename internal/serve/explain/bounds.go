package explain

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain/setting"
	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/record"
)

// bounds tells what the time without a leader consisted of. Others may have a proof of the death of a leader without a record.
func (l *line) bounds(c *Change, t, next *tenure, proof int64) {
	add := func(format string, args ...any) { c.Bounded = append(c.Bounded, fmt.Sprintf(format, args...)) }
	if next == nil {
		add("no record has a later leader")
		return
	}
	if next.begun <= t.ended {
		return
	}
	if !l.watched(t, next) {
		l.unwatched(c)
		return
	}
	begun := asked(t, next)
	if t.life != nil {
		proof = l.dead(t.life)
	}
	switch {
	case proof != 0 && proof <= next.begun && proof >= t.ended:
		if proof > t.ended {
			add("%s until the proof of its death", words.Lasts(time.Duration(proof-t.ended)))
		}
		add("%s from the proof of its death to the next leader", words.Lasts(time.Duration(next.begun-proof)))
	case c.Cause == Killed || c.Cause == Links || c.Cause == StoodStill || c.Cause == Unknown || c.Cause == Starved:
		if begun != 0 {
			add("%s until the next leader asked for votes: the promises to member %d ran, or no member suspected it", words.Lasts(time.Duration(begun-t.ended)), t.leader)
			add("%s", l.election(begun, next))
		} else if len(l.members) > 1 {
			add("the promises of the others to member %d, and an election", t.leader)
		}
	case begun != 0:
		add("%s until the next leader asked for votes, and %s", words.Lasts(time.Duration(begun-t.ended)), l.election(begun, next))
	}
	l.waits(t, next, add)
}

// election tells how long an election took, and how long its winner waited for a majority.
func (l *line) election(begun int64, next *tenure) string {
	text := words.Lasts(time.Duration(next.begun-begun)) + " of election"
	if heard := hears(next, len(l.members)/2); heard-begun > (next.begun-begun)/2 {
		text += fmt.Sprintf(", %s of it until member %d heard a majority", words.Lasts(time.Duration(heard-begun)), next.leader)
	}
	return text
}

// slowStart is how long the first election of a group may take until it is told what the time consisted of.
const slowStart = time.Second

// start tells what the time until the first leader consisted of, if that was long.
func (l *line) start(c *Change, from int64, t *tenure) {
	if t.life == nil || t.begun-from < int64(slowStart) {
		return
	}
	part := func(to int64, format string, args ...any) {
		if to > from {
			c.Bounded = append(c.Bounded, words.Lasts(time.Duration(to-from))+" "+fmt.Sprintf(format, args...))
			from = to
		}
	}
	majority, began := len(l.members)/2+1, map[uint64]int64{}
	for _, v := range l.lives {
		if at, is := began[v.member()]; !is || v.begun < at {
			began[v.member()] = v.begun
		}
	}
	if all := slices.Sorted(maps.Values(began)); len(all) >= majority {
		part(min(all[majority-1], t.begun), "until a majority of the members ran")
	}
	heard := hears(t, majority-1)
	l.refused(c, from, t.begun)
	lost, failed := l.troubles(from, heard)
	part(heard, "until member %d heard a majority: meanwhile the members lost others %s, and could not connect at least %s", t.leader, amount.Of(lost, "time"), amount.Of(failed, "time"))
	part(t.begun, "of election")
}

// never tells that the records have no leader.
func (l *line) never(from, to int64) Change {
	c := Change{Ended: wall(from), Nobody: time.Duration(to - from).Seconds(), Cause: Unknown, Certainty: None, Evidence: []string{}, Text: "no record has a leader"}
	lost, failed := l.troubles(from, to)
	c.Evidence = append(c.Evidence, fmt.Sprintf("the members lost others %s, and could not connect at least %s", amount.Of(lost, "time"), amount.Of(failed, "time")))
	if l.refused(&c, from, to); c.Prevent != "" {
		c.Cause, c.Certainty, c.Text = Links, Likely, "no record has a leader, and members refused the connections of others"
	}
	if without := l.unrecorded(); len(without) > 0 {
		c.Missing = append(c.Missing, "the records of "+words.Members(without))
	}
	return c
}

// mostRefusals is how many refusals are told of a time without a leader.
const mostRefusals = 6

// refused tells which members refused others in a time, and what prevents that.
func (l *line) refused(c *Change, from, to int64) {
	var why []string
	for s, d := range every[*record.Dialed](l) {
		if text := fmt.Sprintf("member %d could not connect to member %d: %s", s.life.member(), d.Peer, d.Error); s.at >= from && s.at <= to && words.Refuses(d.Error) && !slices.Contains(why, text) && len(why) < mostRefusals {
			why = append(why, text)
		}
	}
	if c.Evidence = append(c.Evidence, why...); len(why) > 0 {
		c.Prevent = words.PreventsLoss(why)
	}
}

// hears returns since when the leader of a tenure has heard so many others when it began to lead; 0: that is not known.
func hears(t *tenure, others int) (since int64) {
	heard := map[uint64]bool{}
	for _, f := range t.life.facts {
		switch body := f.body.(type) {
		case *record.Decision:
			if body.Role == "leader" && body.Term == t.term {
				return min(since, t.begun)
			}
		case *record.Connected:
			if heard[body.Peer] = true; len(heard) == others {
				since = f.at
			}
		case *record.Lost:
			if delete(heard, body.Peer); len(heard) < others {
				since = 0
			}
		}
	}
	return 0
}

// troubles counts how often members lost another one in some time, and could not connect to one for a new reason.
func (l *line) troubles(from, to int64) (lost, failed int) {
	for s := range every[*record.Lost](l) {
		if s.at >= from && s.at <= to {
			lost++
		}
	}
	for s, d := range every[*record.Dialed](l) {
		if s.at >= from && s.at <= to && d.Error != "" {
			failed++
		}
	}
	return lost, failed
}

// waits tells what held members up meanwhile: their disks, the wait after a restart, that they were not able to lead, and that they did nothing.
func (l *line) waits(t, next *tenure, add func(string, ...any)) {
	outage := time.Duration(next.begun - t.ended)
	much := max(outage/3, 5*time.Millisecond) // a shorter delay does not explain the outage
	for _, id := range l.members {
		if lasts, why := l.unable(id, t.ended, next.begun); lasts > much {
			add("member %d was not able to lead for %s of it: %s", id, words.Lasts(lasts), why)
		}
	}
	for _, v := range l.lives {
		flush := time.Duration(0)
		for at, f := range each[*record.Flush](v) {
			if f.Groups > 0 && at >= t.ended && at <= next.begun+int64(f.Took) {
				flush = max(flush, f.Took)
			}
		}
		if flush > much {
			add("a flush of member %d took %s of it", v.member(), words.Lasts(flush))
		}
		if v.recovering && setting.Common(v.begun, waited(v), t.ended, next.begun) > 0 {
			add("member %d had restarted at %s: it granted and claimed nothing for the length of a lease", v.member(), words.Clock(v.begun))
		}
		still := time.Duration(0)
		for at, late := range each[*record.Late](v) {
			still += setting.Common(at-int64(late.By), at, t.ended, next.begun)
		}
		if still > much && v != t.life { // that of the leader is the cause, if it is one
			add("member %d did nothing for %s of it", v.member(), words.Lasts(still))
		}
	}
}

// waited returns when the wait of a restarted member has ended, or its life before that. At the latest it is over twice the length of a lease after the start.
func waited(v *life) int64 {
	for at, step := range each[*record.Step](v) {
		if step.Input.What == process.Expired && step.Input.Timer == wait && v.head.Algorithm == quorumBully {
			return at
		}
	}
	return min(v.last, v.begun+int64(2*max(v.head.Entitled, time.Second)))
}

// unable returns for how long a member was not able to lead within a time, and why: by its own record, or else by one that was told.
func (l *line) unable(id uint64, from, to int64) (longest time.Duration, why string) {
	own := slices.ContainsFunc(l.lives, func(v *life) bool { return v.member() == id })
	for _, v := range l.lives {
		if own && v.member() != id {
			continue
		}
		lasts, since, reason, last := time.Duration(0), int64(0), "", ""
		end := func(at int64) {
			if part := setting.Common(since, at, from, to); reason != "" && part > 0 {
				lasts, last = lasts+part, reason
			}
		}
		for at, s := range each[*record.Standing](v) {
			if s.Peer == id {
				end(at)
				since, reason = at, s.Unable
			}
		}
		if end(v.last); lasts > longest {
			longest, why = lasts, last
		}
	}
	return longest, why
}

// asked returns when the next leader asked for votes first, after the end of a tenure; 0: that is not known.
func asked(t, next *tenure) int64 {
	if next.life == nil || next.life.head.Algorithm != quorumBully {
		return 0
	}
	for at, step := range each[*record.Step](next.life) {
		for _, m := range step.Sent {
			if at >= t.ended && at <= next.begun && (m.Kind == claim || m.Kind == election) {
				return at
			}
		}
	}
	return 0
}

// violations returns the leases that ran at the same time, and the terms that fell.
func (l *line) violations() (all []Violation) {
	fell := map[*tenure]bool{}
	for i, a := range l.tenures {
		for _, b := range l.tenures[i+1:] {
			var v Violation
			switch {
			case a.term == 0 || b.term == 0 || fell[b]:
			case a.term > b.term:
				v = l.falls(a, b)
				fell[b] = v.What != ""
			case a.leader != b.leader && (a.term == b.term || a.life != nil && b.life != nil):
				v = l.compare(a, b)
			}
			if v.What != "" {
				v.Time, v.Step = wall(b.begun), l.breaker(a, b)
				all = append(all, v)
			}
		}
	}
	return all
}

// falls returns the violation that lead b, of a lower term, began after lead a, if the order is certain. Lead a had begun when the first member saw it. The
// record of b's leader has the beginning of b. Without that record, a member that followed a and then b breaks the rule itself: no member follows a lower term.
func (l *line) falls(a, b *tenure) (v Violation) {
	if b.life != nil {
		one, other := a.seenBy.base, b.life.base
		unsure, tied := one.unsure(a.begun), other.unsure(b.begun)
		if one == other || unsure >= 0 && tied >= 0 && time.Duration(b.begun-a.begun) > unsure+tied {
			v.Sure, v.What = true, fmt.Sprintf("member %d began to lead in term %d after member %d had led in term %d: terms did not rise", b.leader, b.term, a.leader, a.term)
		}
		return v
	}
	type voter struct {
		member uint64
		store  string
	}
	before := map[voter]bool{}
	for s, d := range every[*record.Decision](l) {
		who := voter{s.life.member(), s.life.head.Store}
		switch {
		case d.Term == a.term && d.Leader == a.leader:
			before[who] = true
		case d.Term == b.term && d.Leader == b.leader && before[who]:
			return Violation{Sure: true, What: fmt.Sprintf("member %d followed member %d in term %d after it had known member %d in term %d: terms did not rise", who.member, b.leader, b.term, a.leader, a.term)}
		}
	}
	return v
}

// compare compares the leases of a tenure and of a later one.
func (l *line) compare(a, b *tenure) (v Violation) {
	if a.term == b.term {
		return Violation{What: fmt.Sprintf("members %d and %d both led in term %d", a.leader, b.leader, a.term), Sure: true}
	}
	ends := a.ended
	switch {
	case !a.over:
		ends = max(a.until, a.life.last)
	case a.until != 0:
		ends = min(ends, a.until)
	}
	overlap, one, other := time.Duration(ends-b.begun), a.life.base, b.life.base
	if overlap <= 0 {
		return v
	}
	v.What = fmt.Sprintf("member %d began to lead in term %d while the lease of member %d in term %d ran for %s more", b.leader, b.term, a.leader, a.term, words.Lasts(overlap))
	if v.Sure = one == other; v.Sure {
		return v
	}
	unsure, tied := one.unsure(b.begun), other.unsure(b.begun)
	if unsure < 0 || tied < 0 {
		return Violation{} // nothing ties the clocks
	}
	unsure += tied
	if v.Sure = overlap > unsure; !v.Sure {
		v.What += fmt.Sprintf("; the clocks are known within %s only", words.Lasts(unsure))
	}
	return v
}

// breaker returns the step that broke a rule: a voter that granted the lead of b while its grant to a ran.
func (l *line) breaker(a, b *tenure) string {
	for _, v := range l.lives {
		if v.head.Algorithm != quorumBully {
			continue
		}
		if step := granted(v, a, b); step != "" {
			return step
		}
	}
	if a.until != 0 && a.over && a.noticed > a.until {
		return fmt.Sprintf("member %d led until %s; its lease had ended at %s", a.leader, words.Clock(a.noticed), words.Clock(a.until))
	}
	if without := l.unrecorded(); len(without) > 0 {
		return "no record that is here has the step; those missing are of " + words.Members(without)
	}
	return ""
}

// granted returns the step in which a voter granted the lead of b while its grant to a ran; empty: it has none.
func granted(v *life, a, b *tenure) string {
	last := int64(0)
	for at, step := range each[*record.Step](v) {
		for _, m := range step.Sent {
			switch {
			case m.Kind != grant || at > b.begun:
			case m.Peer == a.leader:
				last = at
			case m.Peer == b.leader && last != 0 && at > a.begun && at-last < int64(v.head.AtLeast()):
				return fmt.Sprintf("member %d granted member %d at %s, in tick %d, %s after it had granted member %d in term %d for at least %s", v.member(), b.leader, words.Clock(at), step.Ticks, words.Lasts(time.Duration(at-last)), a.leader, a.term, words.Lasts(v.head.AtLeast()))
			}
		}
	}
	return ""
}
