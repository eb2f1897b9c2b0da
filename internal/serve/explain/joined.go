package explain

import (
	"errors"
	"fmt"
	"slices"
	"time"

	contract "ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/record"
)

// Joined is what the records of all members of a group have from some time before a change of the leader up to some time after it, in an order in which
// no message arrives before it was sent.
type Joined struct {
	Group   string
	From    time.Time // the beginning of the part that matters: that of [Group.Scene]
	Members []uint64  // in the order of their identifiers
	Entries []JoinedEntry
	Begins  int // the first entry that matters: those before it lead to the states there
}

// JoinedEntry is an entry of one life.
type JoinedEntry struct {
	*record.Entry
	Life *JoinedLife
	At   time.Duration // since From, on the time line
	Last bool          // of a life that has ended
}

// JoinedLife is a life of a member.
type JoinedLife struct {
	Head       record.Head
	Recovering bool // it is not the first life
	Whole      bool // its entries begin with its start
}

// ErrNotJoined reports that records do not have what all members did around a change.
var ErrNotJoined = errors.New("it cannot be exported")

// before is how much before the part that matters is read, so that timers that run are known, and what is under way.
const before = time.Minute

// after is how much after the part that matters is read: clocks are not known exactly, and what is received before its end was sent before.
const after = 2 * time.Second

// mostJoined is the largest number of entries that are joined.
const mostJoined = 2_000_000

// Joined joins the records around a change. Its entries end with the end of the scene.
func (g *Group) Joined(change int) (*Joined, error) {
	l, scene := g.line, g.Scene(change)
	from := scene.From.UnixNano()
	j := &Joined{Group: g.Name, From: scene.From, Members: l.members}
	var queues [][]timed
	for _, id := range l.members {
		mine, err := l.around(id, from, from+int64(scene.Lasts+after))
		if err != nil {
			return nil, err
		}
		queues = append(queues, mine...)
	}
	if err := j.order(queues, from); err != nil {
		return nil, err
	}
	if end := slices.IndexFunc(j.Entries, func(e JoinedEntry) bool { return e.At > scene.Lasts }); end >= 0 {
		j.Entries = j.Entries[:end]
	}
	return j, j.trim()
}

// timed is an entry with its time on the axis.
type timed struct {
	JoinedEntry
	at int64
}

// around returns the entries of the lives of a member in a time and not long before it. The last life before it is there in any case: its state is what a later one
// begins with.
func (l *line) around(member uint64, from, to int64) (queues [][]timed, err error) {
	var lives []*life
	for _, v := range l.lives {
		if v.member() != member || v.begun > to {
			continue
		}
		if len(lives) > 0 && lives[len(lives)-1].last < from-int64(before) && v.begun <= from {
			lives = lives[:len(lives)-1]
		}
		lives = append(lives, v)
	}
	if len(lives) == 0 {
		return nil, fmt.Errorf("%w: the record of member %d is missing", ErrNotJoined, member)
	}
	for _, v := range lives {
		entries, err := l.entries(v, from, to)
		if err != nil {
			return nil, err
		}
		queues = append(queues, entries)
	}
	return queues, nil
}

// entries returns the entries of a life up to a time.
func (l *line) entries(v *life, from, to int64) (all []timed, err error) {
	first := 0
	for i, span := range v.spans {
		if span[0] != 0 && span[0] <= from-int64(before) {
			first = i
		}
	}
	lives := &JoinedLife{Head: v.head, Recovering: v.recovering, Whole: first == 0 && started(v)}
	if !lives.Whole && v.spans[first][0] > from {
		return nil, fmt.Errorf("%w: the record of member %d begins amid its life, at %s, and the part to export begins at %s",
			ErrNotJoined, v.member(), wall(v.spans[first][0]).Format(clockText), wall(from).Format(clockText))
	}
	beyond := false
	for _, s := range v.segments[first:] {
		for e, damage := range s.Entries() {
			switch {
			case damage != nil:
				e = &record.Entry{Body: &record.Gap{}, At: record.Clocks{Boottime: -1}}
			case e.Group != l.name && e.Group != "":
				continue
			}
			at := v.at(e.At)
			if step, is := e.Body.(*record.Step); is {
				at = v.at(record.Clocks{Boottime: time.Duration(step.Ticks) * s.Head.Unit})
			}
			if n := len(all); n > 0 && (at < all[n-1].at || e.At.Boottime < 0) {
				at = all[n-1].at
			}
			if beyond = at > to; beyond {
				break
			}
			all = append(all, timed{JoinedEntry{e, lives, time.Duration(at - from), false}, at})
			if len(all) > mostJoined {
				return nil, fmt.Errorf("%w: member %d has made more than %d steps there", ErrNotJoined, v.member(), mostJoined)
			}
		}
		if beyond {
			break
		}
	}
	if n := len(all); n > 0 && !beyond {
		all[n-1].Last = v.closed || v.reason == ofTests || l.after(v) != nil || l.dead(v) != 0
	}
	return all, nil
}

// clockText is how times of day are written.
const clockText = "15:04:05.000"

// order joins the entries of lives.
func (j *Joined) order(queues [][]timed, from int64) error {
	sent, waits := map[passage]int{}, map[passage]int{} // under way, and to be sent yet
	for _, q := range queues {
		for i := range q {
			if step, is := q[i].Body.(*record.Step); is {
				for _, m := range step.Sent {
					waits[passageOf(q[i].Life.Head.Member, m.Peer, m.Kind, m.Payload)]++
				}
			}
		}
	}
	ready := func(e *timed) bool {
		step, is := e.Body.(*record.Step)
		if !is {
			return true
		}
		switch in := &step.Input; {
		case in.What == process.Received:
			w := passageOf(step.Peer, e.Life.Head.Member, in.Kind, in.Message)
			return sent[w] > 0 || waits[w] == 0
		case in.What == process.Commanded && in.Command.Order == contract.Died:
			return !slices.ContainsFunc(queues, func(q []timed) bool {
				return len(q) > 0 && q[0].Life.Head.Incarnation <= in.Command.Number && slices.Index(j.Members, q[0].Life.Head.Member)+1 == int(in.Command.Member)
			})
		}
		return true
	}
	left := 0
	for _, q := range queues {
		left += len(q)
	}
	j.Begins = -1
	for ; left > 0; left-- {
		next := -1
		busy := map[uint64]bool{} // members with an earlier life that has entries left
		for i, q := range queues {
			if len(q) == 0 || busy[q[0].Life.Head.Member] {
				continue
			}
			busy[q[0].Life.Head.Member] = true
			if (next < 0 || q[0].at < queues[next][0].at) && ready(&q[0]) {
				next = i
			}
		}
		if next < 0 {
			return fmt.Errorf("%w: each member has a message next that another one sends later, so the records are not of one run", ErrNotJoined)
		}
		e := queues[next][0]
		queues[next] = queues[next][1:]
		if step, is := e.Body.(*record.Step); is {
			if in := &step.Input; in.What == process.Received {
				sent[passageOf(step.Peer, e.Life.Head.Member, in.Kind, in.Message)]--
			}
			for _, m := range step.Sent {
				w := passageOf(e.Life.Head.Member, m.Peer, m.Kind, m.Payload)
				sent[w], waits[w] = sent[w]+1, waits[w]-1
			}
		}
		if j.Begins < 0 && e.at >= from {
			j.Begins = len(j.Entries)
		}
		j.Entries = append(j.Entries, e.JoinedEntry)
	}
	return nil
}

// trim lets the part begin with its first entry, if there is nothing before.
func (j *Joined) trim() error {
	switch {
	case j.Begins < 0 || j.Begins >= len(j.Entries):
		return fmt.Errorf("%w: no record has a step there", ErrNotJoined)
	case j.Begins == 0:
		first := j.Entries[0].At
		j.From = j.From.Add(first)
		for i := range j.Entries {
			j.Entries[i].At -= first
		}
	}
	return nil
}
