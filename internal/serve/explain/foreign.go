package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/record"
)

// foreign concludes from the records of others alone.
func (i *inquiry) foreign() {
	t := i.tenure
	i.wants()
	if i.plain() {
		return
	}
	for s, proof := range every[*record.Proof](i.line) {
		if proof.Peer == t.leader && s.at >= t.begun && s.at <= t.noticed+int64(time.Second) {
			i.is(Killed, Likely, "the process of member %d has ended: it was killed, or crashed, or its warden killed it because it hung", t.leader)
			i.evidence("member %d had a proof of its death at %s", s.life.member(), words.Clock(s.at))
			i.proof = max(s.at, t.ended)
			return
		}
	}
	for s, change := range every[*record.Change](i.line) {
		text := fmt.Sprintf("member %d has recorded: %s", s.life.member(), strings.TrimSuffix(change.Cause+": "+change.Detail, ": "))
		if change.From == t.leader && s.at >= t.noticed-int64(time.Second) && s.at <= t.noticed+int64(5*time.Second) && !slices.Contains(i.change.Evidence, text) {
			i.evidence("%s", text)
		}
	}
	if i.refusing() {
		return
	}
	i.stoodStill()
	if by, at := i.lived(); by != 0 {
		i.is(Unknown, None, "member %d was not heard, and had not ended: it stood still, or the way to it failed; the others cannot tell these apart", t.leader)
		i.evidence("member %d heard the same process again at %s", by, words.Clock(at))
		return
	}
	if i.closed() {
		i.is(Killed, Likely, "its connections were closed: the process of member %d has probably ended", t.leader)
		return
	}
	i.is(Unknown, None, "member %d was not heard: its process, its machine or the way to it; the others cannot tell these apart", t.leader)
}

// closed reports whether all that lost the leader did so since its side ended the connection.
func (i *inquiry) closed() (is bool) {
	t := i.tenure
	for s, lost := range every[*record.Lost](i.line) {
		if lost.Peer != t.leader || s.at < t.noticed-int64(5*time.Second) || s.at > t.noticed+int64(time.Second) {
			continue
		}
		if is = words.Closes(lost.Reason); !is {
			break
		}
	}
	return is
}

// refusing concludes that others have lost the leader since they refuse each other, from their records.
func (i *inquiry) refusing() (is bool) {
	t := i.tenure
	for _, v := range i.lives {
		lost, refused := connection(v, t.leader, t.noticed, int64(time.Second))
		for _, text := range []string{lost, refused} {
			if words.Refuses(text) {
				is, i.losses = true, append(i.losses, text)
				i.evidence("%s", text)
			}
		}
	}
	if is {
		i.is(Links, Likely, "the connections of member %d had ended, and no new ones were accepted", t.leader)
	}
	return is
}

// lived returns which member has heard the process of the leader again after its lead, and when; 0: none has.
func (i *inquiry) lived() (by uint64, at int64) {
	for _, v := range i.lives {
		before := uint64(0)
		for at, c := range each[*record.Connected](v) {
			switch {
			case c.Peer != i.tenure.leader:
			case at <= i.tenure.noticed:
				before = c.Incarnation
			case c.Incarnation == before || before == 0 && c.Wrongly:
				return v.member(), at
			}
		}
	}
	return 0, 0
}

// stoodStill tells which of the members whose records are here stood still when the lead ended.
func (i *inquiry) stoodStill() {
	for _, v := range i.lives {
		if _, worst, _, _ := lateness(v, i.tenure.noticed-int64(time.Second), i.tenure.noticed+int64(time.Second), 0); worst >= v.head.EndsLease() {
			i.evidence("member %d, whose record is here, stood still itself for %s", v.member(), words.Lasts(worst))
		}
	}
}
