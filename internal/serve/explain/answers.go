package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain/setting"
	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/record"
)

// answers are the voters that a leader had no answer of, by why.
type answers struct {
	down    []uint64 // they did not run, or stood still
	cut     []uint64 // messages did not arrive, or were late
	late    int      // of cut: all messages arrived, and too late
	unknown []uint64 // they have no record
	lost    bool     // a connection was
	refused int      // of cut: the members refuse each other
}

// silent concludes from which voters the leader has no answers, and why.
func (i *inquiry) silent() {
	t := i.tenure
	much := int64(t.life.head.EndsLease())
	voters, changed := i.line.voters(t.noticed)
	var a answers
	for _, id := range voters {
		if last := heard(t.life, id, t.noticed); id != t.leader && (last == 0 || t.noticed-last >= much/2) {
			i.missed(&a, id, last, much)
		}
	}
	conflict := time.Duration(0)
	for _, b := range i.clocks {
		conflict = max(conflict, setting.Near(b.windows, i.tenure.noticed).Conflict)
	}
	switch missing := len(a.down) + len(a.cut) + len(a.unknown); {
	case changed != 0 && t.noticed-changed < 4*much && changed >= t.begun && missing > 0:
		i.is(Voters, Likely, "the voters had changed to %v %s before, and no majority of them renewed the lease", voters, words.Lasts(time.Duration(t.noticed-changed)))
	case missing == 0 && conflict > 0:
		i.is(Clock, Likely, "the clocks of members contradict each other by %s: one has jumped, or drifts beyond the bound", words.Lasts(conflict))
	case missing == 0, i.lapsed() && missing < len(voters)-len(voters)/2: // the others are a majority
		i.superseded()
	default:
		i.majority(&a)
	}
}

// lapsed reports whether the lease of the leader had run out when its lead ended.
func (i *inquiry) lapsed() bool {
	for at := range each[*record.Lapse](i.tenure.life) {
		if at >= i.tenure.noticed-int64(time.Millisecond) && at <= i.tenure.noticed+int64(time.Second) {
			return true
		}
	}
	return false
}

// tardy concludes that a lease has ended although a majority answered until then, and tells which messages were slow.
func (i *inquiry) tardy() {
	t := i.tenure
	i.is(Late, Likely, "all voters that member %d needs have answered it, and too late to renew its lease", t.leader)
	slowest := map[[2]uint64]int64{} // by sender and receiver
	for _, c := range i.crossings() {
		ofLeader := (c.from == t.life || c.to == t.life) && c.from.member() != c.to.member()
		if ofLeader && ofLease(t.life, int(c.kind)) && c.received > t.noticed-int64(i.window()) && c.sent <= t.noticed {
			way := [2]uint64{c.from.member(), c.to.member()}
			slowest[way] = max(slowest[way], c.received-c.sent)
		}
	}
	ways := slices.SortedFunc(maps.Keys(slowest), func(a, b [2]uint64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, way := range ways {
		i.evidence("the slowest message about leases from %d to %d took %s", way[0], way[1], words.Lasts(time.Duration(slowest[way])))
	}
	if len(ways) == 0 {
		i.lacks("the records of the others: how long messages took to them and back")
	}
}

// majority concludes from why so many voters did not answer.
func (i *inquiry) majority(a *answers) {
	leader := i.tenure.leader
	switch known := len(a.unknown) == 0; {
	case len(a.down) >= len(a.cut) && len(a.down) > 0 && known:
		i.is(Followers, Likely, "no majority was left to renew the lease of member %d: %s did not work", leader, words.Members(a.down))
	case a.late == len(a.cut) && a.late > 0 && known:
		i.is(Late, Likely, "no majority renewed the lease of member %d in time: answers of %s came too late", leader, words.Members(a.cut))
	case len(a.cut) > 0 && a.refused == len(a.cut):
		i.is(Links, Likely, "no majority renewed the lease of member %d: its connections with %s had ended, and no new ones were accepted", leader, words.Members(a.cut))
	case len(a.cut) > 0 && a.lost:
		i.is(Links, Likely, "no majority renewed the lease of member %d: messages between it and %s did not arrive, and connections were lost", leader, words.Members(a.cut))
	case len(a.cut) > 0:
		i.is(Links, Likely, "no majority renewed the lease of member %d: messages between it and %s did not arrive", leader, words.Members(a.cut))
	default:
		i.is(Unknown, None, "no majority renewed the lease of member %d: %s did not answer, or were not reached", leader, words.Members(a.unknown))
	}
}

// missed finds out why the leader had no answer of a member, or none for long.
func (i *inquiry) missed(a *answers, id uint64, last, much int64) {
	end := i.tenure.noticed
	v, recorded := i.living(id, end)
	switch lost, refused := connection(i.tenure.life, id, end, 2*much); {
	case !recorded && refused != "":
		a.cut = append(a.cut, id)
		i.evidence("member %d did not answer %s", id, words.Since(last, end))
		i.disconnected(a, id, lost, []string{refused})
	case !recorded:
		a.unknown = append(a.unknown, id)
		i.evidence("member %d did not answer %s", id, words.Since(last, end))
		i.lacks("the record of member %d: whether the requests reached it, and whether it answered", id)
	case v == nil:
		a.down = append(a.down, id)
		i.evidence("member %d was not running%s", id, i.endedBefore(id))
	case !i.joined(v, end):
		a.down = append(a.down, id)
		i.evidence("member %d ran, and had not joined the group, or had left it", id)
	case lateAt(v, end) >= time.Duration(much):
		a.down = append(a.down, id)
		i.evidence("member %d stood still for %s", id, words.Lasts(lateAt(v, end)))
	case flushAt(v, end) >= time.Duration(much):
		a.down = append(a.down, id)
		i.evidence("a flush of member %d took %s", id, words.Lasts(flushAt(v, end)))
	default:
		a.cut = append(a.cut, id)
		i.link(a, v, last, much)
	}
}

// endedBefore returns when the record of a member ends, in words, if nothing shows that the member ended then: the record may not be whole.
func (i *inquiry) endedBefore(id uint64) string {
	for _, v := range slices.Backward(i.lives) {
		if v.member() == id && v.last < i.tenure.noticed {
			if v.closed || i.after(v) != nil || i.dead(v) != 0 {
				break
			}
			return ", or its record is not whole: it ends at " + words.Clock(v.last)
		}
	}
	return ""
}

// link finds out in which direction messages between the leader and another member did not arrive.
func (i *inquiry) link(a *answers, v *life, last, much int64) {
	leader, id, end := i.tenure.leader, v.member(), i.tenure.noticed
	there, back := between(i.tenure.life, v, end), between(v, i.tenure.life, end)
	lostThere, lostBack := there.sent-there.received > much/2, back.sent-back.received > much/2
	if lostThere || lostBack {
		slowThere, slowBack := i.slow(i.tenure.life, v, there.received), i.slow(v, i.tenure.life, back.received)
		if (slowThere > 0 || !lostThere) && (slowBack > 0 || !lostBack) {
			a.late++
			var slow []string
			if slowThere > 0 {
				slow = append(slow, fmt.Sprintf("one from %d to %d took %s", leader, id, words.Lasts(slowThere)))
			}
			if slowBack > 0 {
				slow = append(slow, fmt.Sprintf("one from %d to %d took %s", id, leader, words.Lasts(slowBack)))
			}
			i.evidence("all messages arrived, and too late: %s", strings.Join(slow, ", "))
			return
		}
	}
	lost, refused := connection(i.tenure.life, id, end, 2*much)
	theirs, theyRefused := connection(v, leader, end, 2*much)
	if lost == "" || words.Refuses(theirs) && !words.Refuses(lost) {
		lost = theirs
	}
	kind := "silence: the connection stood"
	switch {
	case strings.Contains(lost, silence):
		kind = "silence: " + lost
	case lost != "":
		kind = "loss: " + lost
	case refused+theyRefused != "":
		kind = "there was no connection"
	}
	switch {
	case lostThere && lostBack:
		i.evidence("nothing arrived from %d to %d, nor from %d to %d: %s", leader, id, id, leader, kind)
	case lostThere:
		i.evidence("nothing arrived from %d to %d after %s, though it was sent: %s", leader, id, words.Clock(there.received), kind)
	case lostBack:
		i.evidence("nothing arrived from %d to %d after %s, though it was sent: %s", id, leader, words.Clock(back.received), kind)
	default:
		a.late++
		i.evidence("member %d did not answer %s", id, words.Since(last, end))
		return
	}
	i.disconnected(a, id, lost, []string{refused, theyRefused})
}

// disconnected tells why members did not connect, and notes that for what would have prevented it.
func (i *inquiry) disconnected(a *answers, id uint64, lost string, refused []string) {
	a.lost = a.lost || lost != "" && !strings.Contains(lost, silence)
	why := lost
	for _, text := range refused {
		if text != "" {
			i.evidence("%s", text)
			why = text
		}
	}
	if words.Refuses(why) {
		a.refused++
	} else {
		why = ""
	}
	i.losses = append(i.losses, why)
}

// slow returns how long the first message about leases took that one life received of another after a moment, if it was sent before the lead ended and took
// less than two leases; else 0. After a cut the first one has waited for longer, or is lost.
func (i *inquiry) slow(from, to *life, after int64) time.Duration {
	first := crossing{received: 1<<63 - 1}
	for _, c := range i.crossings() {
		if c.from == from && c.to == to && ofLease(from, int(c.kind)) && c.received > after && c.received < first.received {
			first = c
		}
	}
	took := time.Duration(first.received - first.sent)
	if first.from == nil || first.sent > i.tenure.noticed || took > 2*i.tenure.life.head.Entitled {
		return 0
	}
	return took
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

// wait is its timer that runs after a restart.
const wait = 1

// ofLease reports whether a message asks for a lease, or grants it.
func ofLease(v *life, kind int) bool {
	return v.head.Algorithm != quorumBully || kind == claim || kind == renew || kind == grant
}

const quorumBully = "quorum-bully"

// between returns the last messages about leases from one life to another before a moment.
func between(from, to *life, before int64) (w way) {
	for at, step := range each[*record.Step](from) {
		for _, m := range step.Sent {
			if at <= before && m.Peer == to.member() && ofLease(from, int(m.Kind)) {
				w.sent = max(w.sent, at)
			}
		}
	}
	w.received = heard(to, from.member(), before)
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

// joined reports whether a life takes part in the group at a moment. In its first group it always does.
func (l *line) joined(v *life, moment int64) (is bool) {
	for i := range v.facts {
		f := &v.facts[i]
		if f.at > moment {
			break
		}
		if c, changes := f.body.(*record.Change); f.group == l.name {
			is = !changes || c.To != 0 || c.Cause != "stopped"
		}
	}
	return is || l.name == l.main
}

// voters returns those that the records have at a moment, and when they changed last. The entry of the last change may be kept no more: then a snapshot after it tells. Without any,
// they are all members.
func (l *line) voters(at int64) (members []uint64, changed int64) {
	members = l.members
	var known *record.Voters
	for s, v := range every[*record.Snapshot](l) {
		if s.at <= at && len(v.Voters.Members) > 0 && (known == nil || v.Voters.Version > known.Version) {
			known, members = v.Voters, v.Voters.Members
		}
	}
	for s, v := range every[*record.Voters](l) {
		if s.at <= at && s.at > changed && v.Term != 0 {
			members, changed = v.Members, s.at
		}
	}
	return members, changed
}

// heard returns when a life has last received something about a lease of a member before a moment; 0: nothing.
func heard(v *life, id uint64, before int64) (last int64) {
	for at, step := range each[*record.Step](v) {
		if at <= before && step.Input.What == process.Received && step.Peer == id && ofLease(v, int(step.Input.Kind)) {
			last = max(last, at)
		}
	}
	return last
}

// lateAt returns for how long a life stood still around a moment.
func lateAt(v *life, at int64) time.Duration {
	_, worst, _, _ := lateness(v, at-int64(time.Second), at, 0)
	return worst
}

// flushAt returns how long the longest flush of a life took around a moment.
func flushAt(v *life, moment int64) (worst time.Duration) {
	for at, flush := range each[*record.Flush](v) {
		if at >= moment-int64(time.Second) && at-int64(flush.Took) <= moment {
			worst = max(worst, flush.Took)
		}
	}
	return worst
}

// silence is how the reason of a loss begins that nothing but time shows.
const silence = "nothing has arrived"

// connection returns why that of a life with a member was lost before a moment, in words, also if a new one was made within a window; and that the members refuse each other.
func connection(v *life, peer uint64, before, window int64) (lost, refused string) {
	for i := range v.facts {
		f := &v.facts[i]
		switch body := f.body.(type) {
		case *record.Connected:
			if body.Peer == peer && f.at <= before-window {
				lost = ""
			}
		case *record.Lost:
			if body.Peer == peer && f.at <= before {
				lost = fmt.Sprintf("member %d lost the connection: %s", v.member(), body.Reason)
			}
		case *record.Dialed:
			switch { // an attempt takes its time
			case body.Peer != peer || f.at > before+int64(time.Second):
			case body.Error == "":
				refused = ""
			case words.Refuses(body.Error):
				refused = fmt.Sprintf("member %d could not connect to member %d: %s", v.member(), peer, body.Error)
			}
		}
	}
	return lost, refused
}
