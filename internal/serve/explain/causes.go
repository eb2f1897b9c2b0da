package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/record"
)

// report explains the changes of one group.
func (l *line) report() *Group {
	g := &Group{Name: l.name, Recorded: []uint64{}, Changes: []Change{}, Older: l.older(), line: l}
	from, to := l.from(), l.end()
	if g.From, g.To, g.Missing = wall(from), wall(to), l.unrecorded(); from == 0 {
		g.From, g.To = l.span(g.Older)
	}
	for _, id := range l.members {
		if !slices.Contains(g.Missing, id) {
			g.Recorded = append(g.Recorded, id)
		}
	}
	g.Ends, g.Clocks = l.endings(), l.clockTexts()
	switch {
	case len(l.tenures) > 0:
		g.Changes = append(g.Changes, l.first(from, l.tenures[0]))
	case to-from > int64(loosely):
		g.Changes = append(g.Changes, l.never(from, to))
	}
	for i, t := range l.tenures {
		if l.ctx.Err() != nil {
			break
		}
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
			here, without := "", len(l.unrecorded())
			if without > 0 {
				here = " whose record is here"
			}
			if b.machine && (without == 0 || without < len(l.members)-1) {
				return []string{"all members" + here + " ran on one machine: they had the same clock"}
			}
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(l.clocks)) {
		b := l.clocks[name]
		worst, conflicts := time.Duration(-1), 0
		for _, w := range b.windows {
			if worst = max(worst, w.Unsure); w.Conflict > 0 {
				if conflicts++; conflicts <= mostConflicts {
					texts = append(texts, fmt.Sprintf("the clock of %s contradicts the others by %s at %s: it has jumped, or drifts by more than %v %%", l.whose(b), words.Lasts(w.Conflict), wall(w.From).Format("15:04:05"), 100*l.drift))
				}
			}
		}
		switch {
		case b.reference || conflicts > 0:
		case worst < 0:
			texts = append(texts, fmt.Sprintf("no message ties the clock of %s to the others in both directions: its times are those of its wall clock", l.whose(b)))
		default:
			texts = append(texts, fmt.Sprintf("the clock of %s is known within %s, by %s", l.whose(b), words.Lasts(worst), amount.Of(b.compared, "message")))
		}
	}
	return texts
}

// mostConflicts is how many contradictions of a clock are told.
const mostConflicts = 3

// whose returns the members that have a clock.
func (l *line) whose(b *timebase) string {
	var ids []uint64
	for _, v := range l.lives {
		if v.base == b && !slices.Contains(ids, v.member()) {
			ids = append(ids, v.member())
		}
	}
	return words.Members(ids)
}

// first tells the first leader that the records have.
func (l *line) first(from int64, t *tenure) Change {
	c := Change{To: &t.leader, Term: t.term, Ended: wall(from), Begun: wall(t.begun), Nobody: max(0, time.Duration(t.begun-from)).Seconds(), Cause: Elected, Certainty: Certain, Evidence: []string{}, Text: "no record has a leader before"}
	if !l.begins(t, 0) {
		if t.begun > from {
			l.unwatched(&c)
		}
		return c
	}
	for _, v := range l.lives {
		if v.recovering && v.begun < t.begun && t.begun-v.begun < int64(2*max(v.head.Entitled, time.Second)) {
			c.Bounded = append(c.Bounded, fmt.Sprintf("member %d had restarted %s before: a restarted member grants and claims nothing for the length of a lease", v.member(), words.Lasts(time.Duration(t.begun-v.begun))))
		}
	}
	if len(c.Bounded) > 0 {
		c.Cause, c.Certainty, c.Text, c.Prevent = Restarted, Likely, "members had restarted, and had to wait", words.Prevents(string(Restarted))
	}
	l.start(&c, from, t)
	return c
}

// change tells why a tenure has ended.
func (l *line) change(t, next *tenure) Change {
	c := Change{From: &t.leader, FromTerm: t.term, Ended: wall(t.ended), Cause: Unknown, Certainty: None, Evidence: []string{}}
	to := l.end()
	if next != nil {
		c.To, c.Term, c.Begun = &next.leader, next.term, wall(next.begun)
		to = next.begun
	}
	c.Nobody = max(0, time.Duration(to-t.ended)).Seconds()
	i := inquiry{line: l, tenure: t, next: next, change: &c}
	if t.life != nil && !t.cut {
		i.own()
	} else {
		i.foreign()
	}
	l.bounds(&c, t, next, i.proof)
	i.prevents()
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
	next   *tenure // nil: no record has one
	change *Change
	proof  int64    // when others had one of the death of a leader without a record; 0: they had none
	losses []string // if the links are the cause: why connections were lost, or were not made; empty: they stood
}

// prevents tells what would have prevented the change.
func (i *inquiry) prevents() {
	c, t := i.change, i.tenure
	switch c.Prevent = words.Prevents(string(c.Cause)); {
	case c.Cause == Links:
		c.Prevent = words.PreventsLoss(i.losses)
	case c.Cause == Killed && i.proof == 0 && (t.life == nil || t.life.head.Hang == 0 && i.dead(t.life) == 0):
		c.Prevent += " " + words.Unwatched
	}
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
	"suspended": Suspended, "duplicate": Duplicate, "stalled": Progress,
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
	i.is(cause, Certain, "%s", words.Told(told.Cause, told.Detail))
	if id := words.Target(told.Detail); cause == Transferred && i.next != nil && id != 0 && id != i.next.leader {
		text := fmt.Sprintf("member %d did not take the lead, and member %d led next", id, i.next.leader)
		if v, recorded := i.living(id, i.tenure.noticed); recorded && v == nil {
			text += fmt.Sprintf(": member %d was not running%s", id, i.endedBefore(id))
		}
		i.evidence("%s", text)
	}
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
	if t.noticed >= v.last && !v.closed {
		i.vanished()
		return
	}
	if v.closed && v.reason != "" && v.last-t.noticed < int64(time.Second) {
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
	i.evidence("the record of member %d ends at %s, without an end of its life", t.leader, wall(v.last).Format("15:04:05.000"))
	loss := i.lost()
	if proof == 0 && next == nil && loss == nil && !i.replaced() && v.last >= i.end()-int64(time.Second) {
		i.change.Evidence = []string{}
		i.is(Unknown, None, "the record ends here")
		i.lacks("what came after %s", wall(v.last).Format("15:04:05.000"))
		return
	}
	if loss != nil {
		i.evidence("member %d lost it %s later: %s", loss.by, words.Lasts(loss.after), loss.reason)
	}
	if next != nil {
		i.evidence("its next life began %s later", words.Lasts(time.Duration(next.begun-v.last)))
	}
	if proof != 0 {
		i.proven(time.Duration(proof-v.last), loss)
		return
	}
	switch {
	case loss != nil && !loss.silent && loss.after < max(2*v.head.Heartbeat, 300*time.Millisecond):
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed", t.leader)
		i.lacks("%s", words.Unproven(v.head.Hang > 0))
	case next != nil || loss != nil && !loss.silent:
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed, or its machine failed", t.leader)
		i.lacks("%s", words.Unproven(v.head.Hang > 0))
	default:
		i.is(Unknown, None, "nothing is known of member %d after its last entry: its process stands still or has ended, or its machine, or its record has ended", t.leader)
		i.lacks("a proof of its death, which a warden gives, or a later life of the member")
	}
}

// loss is that another member lost the leader, and did not hear from the same life again.
type loss struct {
	by     uint64
	after  time.Duration // since the last entry of the leader's record
	reason string
	closed bool // the connection ended at the side of the leader: its process had ended
	silent bool // the connection stood
}

// lost returns the first loss of the leader whose record ends; nil: there is none.
func (i *inquiry) lost() (first *loss) {
	leader := i.tenure.life
	for _, v := range i.lives {
		var last *loss
		for n := range v.facts {
			after := time.Duration(v.facts[n].at - leader.last)
			switch body := v.facts[n].body.(type) {
			case *record.Lost:
				if body.Peer == leader.member() && last == nil && after >= -time.Second {
					last = &loss{v.member(), after, body.Reason, words.Closes(body.Reason), strings.HasPrefix(body.Reason, silence)}
				}
			case *record.Connected:
				if body.Peer == leader.member() && body.Incarnation == leader.head.Incarnation {
					last = nil
				}
			}
		}
		if last != nil && (first == nil || last.after < first.after) {
			first = last
		}
	}
	return first
}

// proven concludes from a proof of the leader's death, and from how long its record was quiet before that. A connection that it closed shows an earlier death
// than a proof that came late.
func (i *inquiry) proven(proof time.Duration, loss *loss) {
	t, hang, quiet := i.tenure, i.tenure.life.head.Hang, proof
	if loss != nil && loss.closed {
		quiet = min(quiet, max(loss.after, 0))
	}
	switch {
	case hang > 0 && quiet >= hang && quiet < hang+record.Held && !i.complete():
		i.evidence("its death was proven %s after its last entry here; its warden kills it after %s without work", words.Lasts(proof), words.Lasts(hang))
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed, or its warden killed it because it did nothing", t.leader)
		i.lacksTail()
	case hang > 0 && quiet >= hang && quiet > i.pause()+grace:
		i.evidence("its warden proved its death %s after its last entry, and kills it after %s without work", words.Lasts(proof), words.Lasts(hang))
		i.is(Hung, Likely, "member %d did nothing for %s, and its warden killed it", t.leader, words.Lasts(quiet))
		i.lacks("why it did nothing: it was stopped, blocked or in a loop; the output of its warden may tell")
	case hang > 0 && quiet >= hang:
		i.evidence("its death was proven %s after its last entry; its warden kills it after %s without work", words.Lasts(proof), words.Lasts(hang))
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed, or its warden killed it because it did nothing", t.leader)
		i.lacks("which of these: the output of its warden has it")
	case i.atOnce(proof):
		i.evidence("its death was proven %s after its last entry", words.Lasts(proof))
		i.is(Killed, Certain, "the process of member %d has ended: it was killed, or crashed", t.leader)
		i.lacks("who or what killed it; the output of its warden has the signal")
	case i.atOnce(quiet):
		i.evidence("its death was proven %s after its last entry; its connections had ended before, so the proof came late", words.Lasts(proof))
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed", t.leader)
		i.lacks("who or what killed it; the output of its warden has the signal")
	case quiet < record.Held && !i.complete():
		i.evidence("its death was proven %s after its last entry here", words.Lasts(proof))
		i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed, and may have stood still before", t.leader)
		i.lacksTail()
	default:
		i.evidence("its death was proven %s after its last entry", words.Lasts(proof))
		if i.next != nil && i.next.begun < t.life.last+int64(quiet) {
			i.evidence("member %d led before that, %s after the last entry", i.next.leader, words.Lasts(time.Duration(i.next.begun-t.life.last)))
		}
		i.is(StoodStill, Likely, "the process of member %d stood still from %s on, and ended %s later", t.leader, words.Clock(t.life.last), words.Lasts(quiet))
		i.lacks("whether a signal stopped it, or it got no processor: no record has that; the output of its warden has what ended it")
	}
}

// atOnce reports whether a death so long after the last entry may be what ended the lead. A process that was quiet for longer than its lease, or until
// another one led, had lost the lead before it died.
func (i *inquiry) atOnce(quiet time.Duration) bool {
	v := i.tenure.life
	return quiet <= max(v.head.Entitled, v.head.Suspicion) && (i.next == nil || i.next.begun >= v.last+int64(quiet))
}

// lacksTail says that a copy of the leader's files has not its last entries.
func (i *inquiry) lacksTail() {
	i.lacks("its last entries, up to %s: they were in memory of its machine, and this copy of its files has them not; ringleader record on that machine reads both", words.Lasts(record.Held))
}

// complete reports whether the record of the leader has the last entries of a life that was killed: its machine had none of them in memory only, a reader has
// added these, or the next life has written them.
func (i *inquiry) complete() bool {
	v := i.tenure.life
	last := v.segments[len(v.segments)-1].Head
	next := i.after(v)
	return last.Tail == "" || last.Joined || next != nil && next.head.Start() == v.head.Start()
}

// replaced reports whether another member has led later.
func (i *inquiry) replaced() bool {
	return slices.ContainsFunc(i.tenures, func(t *tenure) bool { return t.begun > i.tenure.begun && t.term > i.tenure.term })
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
	from, to := t.noticed-int64(i.window()), t.noticed+int64(200*time.Millisecond)
	much := v.head.EndsLease()
	suspended := time.Duration(0)
	for at, s := range each[*record.Suspended](v) {
		if at >= from && at-int64(s.For) <= to {
			suspended = max(suspended, s.For)
		}
	}
	late, worst, _, at := lateness(v, from, to, 0)
	all, _, times, _ := lateness(v, from, t.noticed+int64(i.window()), min(worst/alike, much)) // a lack of processors goes on after the end, too
	others := i.neighbours(from, to, max(much/4, worst/2))                                     // on a busy machine all are late by a little
	if suspended < much && !i.covered() {
		return false // a busy machine is late a little all the time
	}
	switch {
	case suspended >= much:
		i.is(Suspended, Certain, "the machine of member %d was suspended for %s", t.leader, words.Lasts(suspended))
		i.evidence("the clock that goes on meanwhile went ahead of the other one by that")
	case late < much:
		return false
	case times >= 3:
		i.is(Starved, Likely, "the loop of member %d was late %s, by %s together: it got too little of the processor", t.leader, amount.Of(times, "time"), words.Lasts(all))
		i.evidence("the longest time before the lead ended was %s, up to %s", words.Lasts(worst), wall(at).Format("15:04:05.000"))
		i.lacks("whether it got no processor, or was stopped and continued again and again: no record has that")
	case others > 0 && worst < 2*v.head.Entitled:
		i.is(Starved, Likely, "the loop of member %d stood still for %s, and so did %s on its machine", t.leader, words.Lasts(worst), amount.Of(others, "other"))
		i.evidence("the whole machine was busy, or stood still, until %s", wall(at).Format("15:04:05.000"))
	default:
		i.is(StoodStill, Likely, "the process of member %d stood still for %s, and went on", t.leader, words.Lasts(worst))
		i.evidence("its loop woke at %s, %s late", wall(at).Format("15:04:05.000"), words.Lasts(worst))
		i.lacks("whether a signal stopped it, or it got no processor: no record has that")
	}
	return true
}

// covered reports whether the loop of the leader was late for most of the time since the last answer.
func (i *inquiry) covered() bool {
	v, end, last := i.tenure.life, i.tenure.noticed, int64(0)
	for _, id := range i.members {
		last = max(last, heard(v, id, end))
	}
	late := int64(0)
	for at, l := range each[*record.Late](v) {
		late += max(0, min(at, end)-max(at-int64(l.By), last))
	}
	return last == 0 || late >= (end-last)*6/10
}

// alike is how often the longest time of lateness has a shorter one that is of the same kind. The many short ones of a busy machine are not.
const alike = 4

// lateness returns how much the loop of a life was late in a time, and how often, with the longest time and its end. Shorter times than the least do not count.
func lateness(v *life, from, to int64, least time.Duration) (late, worst time.Duration, times int, end int64) {
	for at, l := range each[*record.Late](v) {
		if at < from || at-int64(l.By) > to || l.By < least {
			continue
		}
		if times++; l.By > worst {
			worst, end = l.By, at
		}
		late += l.By
	}
	return late, worst, times, end
}

// neighbours returns how many other members on the leader's machine stood still in a time, for at least that long.
func (i *inquiry) neighbours(from, to int64, much time.Duration) (others int) {
	for _, v := range i.lives {
		if _, worst, _, _ := lateness(v, from, to, 0); worst >= much && v.member() != i.tenure.leader && v.base == i.tenure.life.base {
			others++
		}
	}
	return others
}

// disk concludes from the uses of the leader's storage.
func (i *inquiry) disk() bool {
	v, t := i.tenure.life, i.tenure
	for n := range v.facts {
		f := &v.facts[n]
		switch body := f.body.(type) {
		case *record.Flush:
			slow := body.Took >= v.head.Entitled/2 && v.head.Entitled > 0
			if (slow || body.Error != "") && f.at-int64(body.Took) <= t.noticed && f.at >= t.noticed-int64(i.window()) {
				i.is(Disk, Likely, "a flush of member %d took %s", t.leader, words.Lasts(body.Took))
				i.evidence("it ended at %s; %s", wall(f.at).Format("15:04:05.000"), cmp.Or(body.Error, "it succeeded then"))
				return true
			}
		case *record.Disk:
			if body.Problem != "" && f.at-int64(body.Lasts) <= t.noticed && f.at >= t.noticed-int64(i.window()) {
				i.is(Disk, Likely, "the storage of member %d failed: %s", t.leader, body.Problem)
				i.evidence("its record has that at %s", wall(f.at).Format("15:04:05.000"))
				return true
			}
		}
	}
	return false
}

// superseded concludes from a term that is higher.
func (i *inquiry) superseded() {
	t := i.tenure
	for n := range t.life.facts {
		f := &t.life.facts[n]
		if c, is := f.body.(*record.Change); is && c.From == t.leader && f.at >= t.noticed-int64(time.Second) && f.at <= t.noticed+int64(time.Second) {
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
	if i.lapsed() {
		i.tardy()
		return
	}
	i.is(Unknown, None, "the lead ended, and no record has a reason")
}
