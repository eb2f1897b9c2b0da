package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/record"
)

// report explains the changes of one group.
func (l *line) report() *Group {
	g := &Group{Name: l.name, Changes: []Change{}, line: l}
	with := map[uint64]bool{}
	var from, to int64
	for _, v := range l.lives {
		if with[v.member()] = true; from == 0 || v.begun < from {
			from = v.begun
		}
		to = max(to, v.last)
	}
	g.From, g.To = wall(from), wall(to)
	for _, id := range l.members {
		if with[id] {
			g.Recorded = append(g.Recorded, id)
		} else {
			g.Missing = append(g.Missing, id)
		}
	}
	g.Clocks = l.clockTexts()
	if len(l.tenures) > 0 {
		g.Changes = append(g.Changes, l.first(from, l.tenures[0]))
	}
	for i, t := range l.tenures {
		var next *tenure
		if i+1 < len(l.tenures) {
			next = l.tenures[i+1]
		}
		if t.over {
			g.Changes = append(g.Changes, l.change(t, next))
		}
	}
	g.Violations = l.violations()
	return g
}

// clockTexts tells how the clocks are joined.
func (l *line) clockTexts() (texts []string) {
	if len(l.clocks) == 1 {
		for _, b := range l.clocks {
			if !strings.HasPrefix(b.name, "member ") {
				return []string{"all members ran on one machine: they had the same clock"}
			}
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(l.clocks)) {
		switch b := l.clocks[name]; {
		case b.conflict > 0:
			texts = append(texts, fmt.Sprintf("the clock of %s contradicts the others by %s: it has jumped, or drifts", l.whose(b), lasts(b.conflict)))
		case b.uncertainty < 0:
			texts = append(texts, fmt.Sprintf("no message ties the clock of %s to the others in both directions: its times are those of its wall clock", l.whose(b)))
		case b.uncertainty > 0:
			texts = append(texts, fmt.Sprintf("the clock of %s is known within %s, by %d messages", l.whose(b), lasts(b.uncertainty), l.compared))
		}
	}
	return texts
}

// whose returns the members that have a clock.
func (l *line) whose(b *timebase) string {
	var ids []uint64
	for _, v := range l.lives {
		if v.base == b && !slices.Contains(ids, v.member()) {
			ids = append(ids, v.member())
		}
	}
	return plural(ids)
}

func plural(ids []uint64) string {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
	if len(ids) == 1 {
		return "member " + text
	}
	return "members " + text
}

// lasts returns a length of time, for people.
func lasts(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// first tells the first leader that the records have.
func (l *line) first(from int64, t *tenure) Change {
	c := Change{To: &t.leader, Term: t.term, Ended: wall(from), Begun: wall(t.begun), Nobody: max(0, time.Duration(t.begun-from)).Seconds(), Cause: Elected, Certainty: Certain, Evidence: []string{}, Text: "no record has a leader before"}
	for _, v := range l.lives {
		if v.recovering && v.begun <= t.begun && t.begun-v.begun < int64(2*max(v.head.Entitled, time.Second)) {
			c.Bounded = append(c.Bounded, fmt.Sprintf("member %d had restarted %s before: a restarted member grants and claims nothing for the length of a lease", v.member(), lasts(time.Duration(t.begun-v.begun))))
		}
	}
	if len(c.Bounded) > 0 {
		c.Cause, c.Certainty, c.Text, c.Prevent = Restarted, Likely, "members had restarted, and had to wait", prevents[Restarted]
	}
	return c
}

// change tells why a tenure has ended.
func (l *line) change(t, next *tenure) Change {
	c := Change{From: &t.leader, FromTerm: t.term, Ended: wall(t.ended), Cause: Unknown, Certainty: None, Evidence: []string{}}
	to := t.ended
	if next != nil {
		c.To, c.Term, c.Begun = &next.leader, next.term, wall(next.begun)
		to = next.begun
	} else {
		to = l.end()
	}
	c.Nobody = max(0, time.Duration(to-t.ended)).Seconds()
	if i := (inquiry{line: l, tenure: t, change: &c}); t.life != nil {
		i.own()
	} else {
		i.foreign()
	}
	l.bounds(&c, t, next)
	c.Prevent = prevents[c.Cause]
	return c
}

// end returns the end of all records.
func (l *line) end() (at int64) {
	for _, v := range l.lives {
		at = max(at, v.last)
	}
	return at
}

// inquiry looks for the cause of the end of a tenure.
type inquiry struct {
	*line
	tenure *tenure
	change *Change
}

func (i *inquiry) is(c Cause, how Certainty, format string, args ...any) {
	i.change.Cause, i.change.Certainty, i.change.Text = c, how, fmt.Sprintf(format, args...)
}

func (i *inquiry) evidence(format string, args ...any) {
	i.change.Evidence = append(i.change.Evidence, fmt.Sprintf(format, args...))
}

func (i *inquiry) lacks(format string, args ...any) {
	i.change.Missing = append(i.change.Missing, fmt.Sprintf(format, args...))
}

// causesOfMembers are the causes that members tell, by their words.
var causesOfMembers = map[string]Cause{
	"resigned": Resigned, "transferred": Transferred, "preempted": Preempted, "unhealthy": Health, "disk": Disk, "closed": Closed,
	"suspended": Suspended, "duplicate": Duplicate,
}

// said returns the cause that a leader has told when its lead ended, in a record; false: in none.
func (i *inquiry) said() (told *record.Told, by *life) {
	for _, v := range i.lives {
		for n := range v.facts {
			f := &v.facts[n]
			t, is := f.body.(*record.Told)
			if is && t.Peer == i.tenure.leader && t.Term == i.tenure.term && t.Term != 0 && (told == nil || v == i.tenure.life) {
				told, by = t, v
			}
		}
	}
	return told, by
}

// plain concludes from what the leader has told, if that says it all.
func (i *inquiry) plain() bool {
	told, by := i.said()
	if told == nil {
		return false
	}
	cause, known := causesOfMembers[told.Cause]
	if !known {
		i.evidence("member %d told, as member %d has recorded: %s: %s", told.Peer, by.member(), told.Cause, told.Detail)
		return false
	}
	if cause == Health && (strings.Contains(told.Detail, "progress") || strings.Contains(told.Detail, "has no work")) {
		cause = Progress
	}
	i.is(cause, Certain, "%s: %s", told.Cause, told.Detail)
	i.evidence("member %d told so when its lead ended; it is in the record of member %d", told.Peer, by.member())
	return true
}

// window is how long before the end of a tenure its cause may be.
func (i *inquiry) window() time.Duration {
	window := time.Second
	if v := i.tenure.life; v != nil {
		window = max(window, 3*v.head.Entitled, 2*v.head.Suspicion, 2*v.head.Hang)
	}
	return min(window, time.Minute)
}

// own concludes from the record of the leader itself.
func (i *inquiry) own() {
	v, t := i.tenure.life, i.tenure
	if i.plain() {
		return
	}
	if t.ended >= v.last && !v.closed {
		i.vanished()
		return
	}
	if v.closed && v.reason != "" && v.last-t.ended < int64(time.Second) {
		i.is(Failed, Certain, "member %d stopped by an error: %s", t.leader, v.reason)
		i.evidence("its record ends with that")
		return
	}
	if i.still() || i.disk() {
		return
	}
	i.silent()
}

// vanished concludes from a record that just ends.
func (i *inquiry) vanished() {
	v, t := i.tenure.life, i.tenure
	proof, next := i.dead(v), i.after(v)
	if proof == 0 && next == nil && v.last >= i.end()-int64(time.Second) {
		i.is(Unknown, None, "the record ends here")
		i.lacks("what came after %s", wall(v.last).Format("15:04:05.000"))
		return
	}
	i.evidence("the record of member %d ends at %s, without an end of its life", t.leader, wall(v.last).Format("15:04:05.000"))
	closed := ""
	var seen int64 // when the others lost it first
	for _, other := range i.lives {
		for n := range other.facts {
			f := &other.facts[n]
			if lost, is := f.body.(*record.Lost); is && lost.Peer == t.leader && f.at >= v.last-int64(time.Second) && (seen == 0 || f.at < seen) {
				seen, closed = f.at, fmt.Sprintf("member %d lost it %s later: %s", other.member(), lasts(time.Duration(f.at-v.last)), lost.Reason)
			}
		}
	}
	if closed != "" {
		i.evidence("%s", closed)
	}
	if next != nil {
		i.evidence("its next life began %s later", lasts(time.Duration(next.begun-v.last)))
	}
	quiet := time.Duration(proof - v.last)
	switch hang := v.head.Hang; {
	case proof != 0 && hang > 0 && quiet >= hang && quiet > i.pause()+grace:
		i.evidence("its warden proved its death %s after its last entry, and kills it after %s without work", lasts(quiet), lasts(hang))
		i.is(Hung, Likely, "member %d did nothing for %s, and its warden killed it", t.leader, lasts(quiet))
		i.lacks("why it did nothing: it was stopped, blocked or in a loop; the output of its warden may tell")
	case proof != 0 && hang > 0 && quiet >= hang:
		i.evidence("its death was proven %s after its last entry; its warden kills it after %s without work", lasts(quiet), lasts(hang))
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed, or its warden killed it because it did nothing", t.leader)
		i.lacks("which of these: the output of its warden has it")
	case proof != 0:
		i.evidence("its death was proven %s after its last entry", lasts(quiet))
		i.is(Killed, Certain, "the process of member %d has ended: it was killed, or crashed", t.leader)
		i.lacks("who or what killed it; the output of its warden has the signal")
	case seen != 0 && time.Duration(seen-v.last) < max(2*v.head.Heartbeat, 300*time.Millisecond):
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed", t.leader)
		i.lacks("a proof of its death, which a warden gives")
	case next != nil || seen != 0:
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed, or its machine failed", t.leader)
		i.lacks("a proof of its death, which a warden gives")
	default:
		i.is(Unknown, None, "nothing is known of member %d after its last entry: its process, its machine or its record has ended", t.leader)
	}
}

// grace is how long it takes until a death is proven.
const grace = 25 * time.Millisecond

// pause returns the longest time between two of the last entries of the leader's record: so long its process may have been dead already when
// the next entry was due.
func (i *inquiry) pause() (longest time.Duration) {
	facts := i.tenure.life.facts
	for n := max(1, len(facts)-20); n < len(facts); n++ {
		longest = max(longest, time.Duration(facts[n].at-facts[n-1].at))
	}
	return longest
}

// still concludes from what the loop of the leader has seen of its own time.
func (i *inquiry) still() bool {
	v, t := i.tenure.life, i.tenure
	from, to := t.ended-int64(i.window()), t.ended+int64(200*time.Millisecond)
	var (
		late, worst, suspended time.Duration
		times, others          int
		at                     int64
	)
	for n := range v.facts {
		f := &v.facts[n]
		switch body := f.body.(type) {
		case *record.Suspended:
			if f.at >= from && f.at-int64(body.For) <= to {
				suspended = max(suspended, body.For)
			}
		case *record.Late:
			if f.at >= from && f.at-int64(body.By) <= to {
				if times++; body.By > worst {
					worst, at = body.By, f.at
				}
				late += body.By
			}
		}
	}
	much := max(v.head.Entitled/2, 50*time.Millisecond)
	for _, other := range i.lives {
		for n := range other.facts {
			f := &other.facts[n]
			if l, is := f.body.(*record.Late); is && other.member() != t.leader && other.base == v.base && f.at >= from && f.at <= to+int64(l.By) && l.By >= much/4 {
				others++
				break
			}
		}
	}
	switch {
	case suspended >= much:
		i.is(Suspended, Certain, "the machine of member %d was suspended for %s", t.leader, lasts(suspended))
		i.evidence("the clock that goes on meanwhile went ahead of the other one by that")
	case late < much:
		return false
	case times >= 3 && worst < 4*late/5:
		i.is(Starved, Likely, "the loop of member %d was late %d times, by %s together: it got too little of the processor", t.leader, times, lasts(late))
		i.evidence("the longest time was %s, up to %s", lasts(worst), wall(at).Format("15:04:05.000"))
	case others > 0 && worst < 2*v.head.Entitled:
		i.is(Starved, Likely, "the loop of member %d stood still for %s, and so did %d others on its machine", t.leader, lasts(worst), others)
		i.evidence("the whole machine was busy, or stood still, until %s", wall(at).Format("15:04:05.000"))
	default:
		i.is(StoodStill, Likely, "the process of member %d stood still for %s, and went on", t.leader, lasts(worst))
		i.evidence("its loop woke at %s, %s late", wall(at).Format("15:04:05.000"), lasts(worst))
		i.lacks("whether a signal stopped it, or it got no processor: no record has that")
	}
	return true
}

// disk concludes from the uses of the leader's storage.
func (i *inquiry) disk() bool {
	v, t := i.tenure.life, i.tenure
	for n := range v.facts {
		f := &v.facts[n]
		switch body := f.body.(type) {
		case *record.Flush:
			slow := body.Took >= v.head.Entitled/2 && v.head.Entitled > 0
			if (slow || body.Error != "") && f.at-int64(body.Took) <= t.ended && f.at >= t.ended-int64(i.window()) {
				i.is(Disk, Likely, "a flush of member %d took %s", t.leader, lasts(body.Took))
				i.evidence("it ended at %s; %s", wall(f.at).Format("15:04:05.000"), cmp.Or(body.Error, "it succeeded then"))
				return true
			}
		case *record.Disk:
			if body.Problem != "" && f.at-int64(body.Lasts) <= t.ended && f.at >= t.ended-int64(i.window()) {
				i.is(Disk, Likely, "the storage of member %d failed: %s", t.leader, body.Problem)
				i.evidence("its record has that at %s", wall(f.at).Format("15:04:05.000"))
				return true
			}
		}
	}
	return false
}

// way is what is known of the messages from one member to another at a moment.
type way struct {
	sent     int64 // the last one before the moment
	received int64 // likewise
}

// The kinds of messages of quorum-bully, by their numbers.
const (
	election = iota
	_
	claim
	renew
	grant
	nack
	release
)

// ofLease reports whether a message asks for a lease, or grants it.
func ofLease(v *life, kind int) bool {
	return v.head.Algorithm != quorumBully || kind == claim || kind == renew || kind == grant
}

const quorumBully = "quorum-bully"

// between returns the last messages about leases from one life to another before a moment.
func between(from, to *life, before int64) (w way) {
	for n := range from.facts {
		if step, is := from.facts[n].body.(*record.Step); is && from.facts[n].at <= before {
			for _, m := range step.Sent {
				if m.Peer == to.member() && ofLease(from, int(m.Kind)) {
					w.sent = max(w.sent, from.facts[n].at)
				}
			}
		}
	}
	for n := range to.facts {
		if step, is := to.facts[n].body.(*record.Step); is && to.facts[n].at <= before && step.Input.What == process.Received && step.Peer == from.member() && ofLease(to, int(step.Input.Kind)) {
			w.received = max(w.received, to.facts[n].at)
		}
	}
	return w
}

// living returns the life of a member at a moment, and whether a record of the member has that moment.
func (l *line) living(id uint64, at int64) (v *life, recorded bool) {
	for _, one := range l.lives {
		if one.member() == id {
			recorded = true
			if one.begun <= at && one.last >= at {
				v = one
			}
		}
	}
	return v, recorded
}

// voters returns those that the records have at a moment, and when they changed last; without agreed ones, all members.
func (l *line) voters(at int64) (members []uint64, changed int64) {
	members = l.members
	for _, v := range l.lives {
		for n := range v.facts {
			if body, is := v.facts[n].body.(*record.Voters); is && v.facts[n].at <= at && v.facts[n].at > changed && body.Term != 0 {
				members, changed = body.Members, v.facts[n].at
			}
		}
	}
	return members, changed
}

// silent concludes from which voters the leader has no answers, and why.
func (i *inquiry) silent() {
	v, t := i.tenure.life, i.tenure
	much := int64(max(v.head.Entitled/2, 50*time.Millisecond))
	voters, changed := i.line.voters(t.ended)
	var down, unheard, unknown, cut []uint64
	losses := 0
	for _, id := range voters {
		if id == t.leader {
			continue
		}
		other, recorded := i.living(id, t.ended)
		heard := i.heard(v, id, t.ended)
		switch {
		case heard != 0 && t.ended-heard < much/2:
			continue // it answers
		case recorded && other == nil:
			down = append(down, id)
			i.evidence("member %d was not running", id)
		case recorded && i.lateAt(other, t.ended) >= time.Duration(much):
			down = append(down, id)
			i.evidence("member %d stood still for %s", id, lasts(i.lateAt(other, t.ended)))
		case recorded && i.flushAt(other, t.ended) >= time.Duration(much):
			down = append(down, id)
			i.evidence("a flush of member %d took %s", id, lasts(i.flushAt(other, t.ended)))
		case !recorded:
			unknown = append(unknown, id)
			i.evidence("member %d did not answer %s", id, agoOf(heard, t.ended))
			i.lacks("the record of member %d: whether the requests reached it, and whether it answered", id)
		default:
			there, back := between(v, other, t.ended), between(other, v, t.ended)
			lostThere := there.sent-there.received > much/2
			lostBack := back.sent-back.received > much/2
			cut = append(cut, id)
			kind := "silence: the connection stood"
			if reason := i.lostAt(v, other, t.ended, much); reason != "" {
				kind, losses = "loss: "+reason, losses+1
			}
			switch {
			case lostThere && lostBack:
				i.evidence("nothing arrived from %d to %d, nor from %d to %d: %s", t.leader, id, id, t.leader, kind)
			case lostThere:
				i.evidence("nothing arrived from %d to %d after %s, though it was sent: %s", t.leader, id, clockOf(there.received), kind)
			case lostBack:
				i.evidence("nothing arrived from %d to %d after %s, though it was sent: %s", id, t.leader, clockOf(back.received), kind)
			default:
				unheard = append(unheard, id)
				i.evidence("member %d did not answer %s", id, agoOf(heard, t.ended))
			}
		}
	}
	conflict := time.Duration(0)
	for _, b := range i.clocks {
		conflict = max(conflict, b.conflict)
	}
	switch missing := len(down) + len(cut) + len(unknown); {
	case changed != 0 && t.ended-changed < 4*much && changed >= t.begun && missing > 0:
		i.is(Voters, Likely, "the voters had changed to %v %s before, and no majority of them renewed the lease", voters, lasts(time.Duration(t.ended-changed)))
	case missing == 0 && conflict > 0:
		i.is(Clock, Likely, "the clocks of members contradict each other by %s: one has jumped, or drifts beyond the bound", lasts(conflict))
	case missing == 0:
		i.superseded()
	case len(down) >= len(cut) && len(down) > 0 && len(unknown) == 0:
		i.is(Followers, Likely, "no majority was left to renew the lease of member %d: %s did not work", t.leader, plural(down))
	case len(unheard) == len(cut) && len(cut) > 0 && len(unknown) == 0:
		i.is(Links, Likely, "no majority renewed the lease of member %d: answers of %s came too late", t.leader, plural(cut))
	case len(cut) > 0:
		i.is(Links, Likely, "no majority renewed the lease of member %d: messages between it and %s did not arrive%s", t.leader, plural(cut), map[bool]string{true: ", and connections were lost", false: ""}[losses > 0])
	default:
		i.is(Unknown, None, "no majority renewed the lease of member %d: %s did not answer, or were not reached", t.leader, plural(unknown))
	}
}

// superseded concludes from a term that is higher.
func (i *inquiry) superseded() {
	t := i.tenure
	for n := range t.life.facts {
		f := &t.life.facts[n]
		if c, is := f.body.(*record.Change); is && c.From == t.leader && f.at >= t.ended-int64(time.Second) && f.at <= t.ended+int64(time.Second) {
			if cause, known := causesOfMembers[c.Cause]; known {
				i.is(cause, Certain, "%s: %s", c.Cause, c.Detail)
				i.evidence("member %d has recorded so", t.leader)
				return
			}
			i.evidence("member %d has recorded: %s: %s", t.leader, c.Cause, c.Detail)
			if c.Cause == "superseded" {
				i.is(Superseded, Certain, "%s", c.Detail)
				return
			}
		}
	}
	i.is(Unknown, None, "the lead ended, and no record has a reason")
}

func clockOf(at int64) string {
	if at == 0 {
		return "the beginning"
	}
	return wall(at).Format("15:04:05.000")
}

func agoOf(heard, at int64) string {
	if heard == 0 {
		return "at all"
	}
	return "for " + lasts(time.Duration(at-heard))
}

// heard returns when a life has last received something about a lease of a member before a moment; 0: nothing.
func (l *line) heard(v *life, id uint64, before int64) (at int64) {
	for n := range v.facts {
		if step, is := v.facts[n].body.(*record.Step); is && v.facts[n].at <= before && step.Input.What == process.Received && step.Peer == id && ofLease(v, int(step.Input.Kind)) {
			at = max(at, v.facts[n].at)
		}
	}
	return at
}

// lateAt returns for how long a life stood still around a moment.
func (l *line) lateAt(v *life, at int64) (worst time.Duration) {
	for n := range v.facts {
		f := &v.facts[n]
		if late, is := f.body.(*record.Late); is && f.at >= at-int64(time.Second) && f.at-int64(late.By) <= at {
			worst = max(worst, late.By)
		}
	}
	return worst
}

// flushAt returns how long the longest flush of a life took around a moment.
func (l *line) flushAt(v *life, at int64) (worst time.Duration) {
	for n := range v.facts {
		f := &v.facts[n]
		if flush, is := f.body.(*record.Flush); is && f.at >= at-int64(time.Second) && f.at-int64(flush.Took) <= at {
			worst = max(worst, flush.Took)
		}
	}
	return worst
}

// lostAt returns why the connection between two lives was lost before a moment; empty: it was not.
func (l *line) lostAt(a, b *life, before, window int64) string {
	for _, one := range [][2]*life{{a, b}, {b, a}} {
		for n := range one[0].facts {
			f := &one[0].facts[n]
			if lost, is := f.body.(*record.Lost); is && lost.Peer == one[1].member() && f.at <= before && f.at >= before-2*window {
				return fmt.Sprintf("member %d lost the connection: %s", one[0].member(), lost.Reason)
			}
		}
	}
	return ""
}

// foreign concludes from the records of others alone.
func (i *inquiry) foreign() {
	t := i.tenure
	i.lacks("the record of member %d, which led", t.leader)
	if i.plain() {
		return
	}
	for _, v := range i.lives {
		for n := range v.facts {
			f := &v.facts[n]
			switch body := f.body.(type) {
			case *record.Proof:
				if body.Peer == t.leader && f.at >= t.begun && f.at <= t.ended+int64(time.Second) {
					i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed, or its warden killed it because it hung", t.leader)
					i.evidence("member %d had a proof of its death at %s", v.member(), clockOf(f.at))
					return
				}
			case *record.Change:
				if body.From == t.leader && f.at >= t.ended-int64(time.Second) && f.at <= t.ended+int64(5*time.Second) {
					text := fmt.Sprintf("member %d has recorded: %s: %s", v.member(), body.Cause, body.Detail)
					if !slices.Contains(i.change.Evidence, text) {
						i.evidence("%s", text)
					}
				}
			}
		}
	}
	lost, all := 0, 0
	for _, v := range i.lives {
		for n := range v.facts {
			f := &v.facts[n]
			if body, is := f.body.(*record.Lost); is && body.Peer == t.leader && f.at >= t.ended-int64(5*time.Second) && f.at <= t.ended+int64(time.Second) {
				if all++; strings.Contains(body.Reason, "closed the connection") || strings.Contains(body.Reason, "reset") {
					lost++
				}
			}
		}
	}
	if lost > 0 && lost == all {
		i.is(Killed, Likely, "its connections were closed: the process of member %d has probably ended", t.leader)
		return
	}
	i.is(Unknown, None, "member %d was not heard: its process, its machine or the way to it; the others cannot tell these apart", t.leader)
}
