package explain

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	contract "ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain/setting"
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
	for e, at := range l.read(v, first) {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		if n := len(all); n > 0 {
			at = max(at, all[n-1].at)
		}
		if at > to {
			return all, nil
		}
		all = append(all, timed{JoinedEntry{e, lives, time.Duration(at - from), false}, at})
		if len(all) > mostJoined {
			return nil, fmt.Errorf("%w: member %d has made more than %d steps there", ErrNotJoined, v.member(), mostJoined)
		}
	}
	if n := len(all); n > 0 {
		all[n-1].Last = v.closed || v.reason == ofTests || l.after(v) != nil || l.dead(v) != 0
	}
	return all, nil
}

// read yields the entries of a life from a segment on, with their times. A part that is damaged is a gap.
func (l *line) read(v *life, first int) iter.Seq2[*record.Entry, int64] {
	return func(yield func(*record.Entry, int64) bool) {
		for _, s := range v.segments[first:] {
			for e, damage := range s.Entries() {
				at := int64(math.MinInt64)
				switch {
				case damage != nil:
					e = &record.Entry{Body: &record.Gap{}}
				case !l.concerns(e.Group, e.Body):
					continue
				default:
					at = v.at(e.At)
				}
				if step, is := e.Body.(*record.Step); is {
					at = v.at(record.Clocks{Boottime: time.Duration(step.Ticks) * s.Head.Unit})
				}
				if !yield(e, at) {
					return
				}
			}
		}
	}
}

// clockText is how times of day are written.
const clockText = "15:04:05.000"

// order joins the entries of lives.
func (j *Joined) order(queues [][]timed, from int64) error {
	o := &order{queues: queues, members: j.Members, sent: map[setting.Passage]int{}, waits: map[setting.Passage]int{}}
	left := 0
	for _, q := range queues {
		left += len(q)
		for i := range q {
			for w := range q[i].sends() {
				o.waits[w]++
			}
		}
	}
	j.Begins = -1
	for ; left > 0; left-- {
		next := o.next()
		if next < 0 {
			return fmt.Errorf("%w: each member has a message next that another one sends later, so the records are not of one run", ErrNotJoined)
		}
		e := o.take(next)
		if j.Begins < 0 && e.at >= from {
			j.Begins = len(j.Entries)
		}
		j.Entries = append(j.Entries, e.JoinedEntry)
	}
	return nil
}

// order is how far the entries of lives are in one order.
type order struct {
	queues  [][]timed // by life: what is left
	members []uint64
	sent    map[setting.Passage]int // messages under way
	waits   map[setting.Passage]int // … and those that are to be sent yet
}

// sends yields the messages of a step.
func (e *timed) sends() iter.Seq[setting.Passage] {
	return func(yield func(setting.Passage) bool) {
		if step, is := e.Body.(*record.Step); is {
			for _, m := range step.Sent {
				if !yield(setting.PassageOf(e.Life.Head.Member, m.Peer, m.Kind, m.Payload)) {
					return
				}
			}
		}
	}
}

// receives returns the message that a step receives.
func (e *timed) receives() (w setting.Passage, does bool) {
	step, is := e.Body.(*record.Step)
	if !is || step.Input.What != process.Received {
		return w, false
	}
	return setting.PassageOf(step.Peer, e.Life.Head.Member, step.Input.Kind, step.Input.Message), true
}

// next returns the life with the earliest entry that can come next; -1: there is none.
func (o *order) next() int {
	next, busy := -1, map[uint64]bool{} // members with an earlier life that has entries left
	for i, q := range o.queues {
		if len(q) == 0 || busy[q[0].Life.Head.Member] {
			continue
		}
		busy[q[0].Life.Head.Member] = true
		if (next < 0 || q[0].at < o.queues[next][0].at) && o.ready(&q[0]) {
			next = i
		}
	}
	return next
}

// ready reports whether a message was sent, and a life is over whose death is proven.
func (o *order) ready(e *timed) bool {
	if w, does := e.receives(); does {
		return o.sent[w] > 0 || o.waits[w] == 0
	}
	step, is := e.Body.(*record.Step)
	if !is || step.Input.What != process.Commanded || step.Input.Command.Order != contract.Died {
		return true
	}
	died := step.Input.Command
	return !slices.ContainsFunc(o.queues, func(q []timed) bool {
		return len(q) > 0 && q[0].Life.Head.Incarnation <= died.Number && slices.Index(o.members, q[0].Life.Head.Member)+1 == int(died.Member)
	})
}

// take takes the next entry of a life.
func (o *order) take(life int) timed {
	e := o.queues[life][0]
	o.queues[life] = o.queues[life][1:]
	if w, does := e.receives(); does {
		o.sent[w]--
	}
	for w := range e.sends() {
		o.sent[w], o.waits[w] = o.sent[w]+1, o.waits[w]-1
	}
	return e
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
