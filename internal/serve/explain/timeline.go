package explain

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"time"

	contract "ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/record"
)

// line is the time line of one group: what the records of its members have. All times are nanoseconds since 1970, on one axis.
type line struct {
	ctx     context.Context // ends the work on it
	name    string
	main    string // the first group of its members: see [record.Head]
	clocks  map[string]*timebase
	lives   []*life
	tenures []*tenure
	members []uint64
	damages []string
	told    []telling // in second records
	wrote   int64     // the start of the last life that has one
	drift   float64   // by which part clocks of members may be wrong
}

// life is a life of a member.
type life struct {
	head       record.Head
	base       *timebase
	segments   []*record.Segment
	spans      [][2]int64 // of the segments
	facts      []fact     // in the order of the record
	begun      int64
	last       int64 // of its entries
	recovering bool
	closed     bool // its end is in order
	reason     string
}

func (l *life) member() uint64 { return l.head.Member }

// fact is an entry on the time line.
type fact struct {
	at    int64
	group string
	body  record.Body
	unit  time.Duration
}

// tenure is a lead of one member in one term.
type tenure struct {
	term, leader uint64
	begun, ended int64
	noticed      int64   // when the record has its end: a leader that stands still learns late that its lease has ended
	until        int64   // the end of the last lease; 0: not known
	lapsed       bool    // it ended with that
	left         []int64 // when followers left it, if only their records have it
	life         *life   // whose record has it; nil: only those of followers have
	seenBy       *life   // whose record has its beginning first
	over         bool    // its end is known
	cut          bool    // its record ends, and it went on
	amid         bool    // the record of its leader has it from some moment on, and not its beginning
	seen         int64   // the last moment at which a record has it
}

// recorded returns when the record of a life begins. The first segments of a long life are not kept.
func (l *life) recorded() int64 {
	if started(l) || len(l.spans) == 0 || l.spans[0][0] == 0 {
		return l.begun
	}
	return l.spans[0][0]
}

// at returns a reading of a life on the axis.
func (l *life) at(c record.Clocks) int64 { return l.base.on(l.base.offset + int64(l.reading(c))) }

// reading returns a reading of the clock that the lives of a base have in common.
func (l *life) reading(c record.Clocks) time.Duration {
	if joint, known := l.head.Joint(c); known {
		return joint
	}
	return c.Boottime
}

// sighting is where and when a record has something.
type sighting struct {
	life *life
	at   int64
}

// each yields the facts of one type that a life has.
func each[B record.Body](v *life) iter.Seq2[int64, B] {
	return func(yield func(int64, B) bool) {
		for i := range v.facts {
			if body, is := v.facts[i].body.(B); is && !yield(v.facts[i].at, body) {
				return
			}
		}
	}
}

// every yields the facts of one type that all lives have.
func every[B record.Body](l *line) iter.Seq2[sighting, B] {
	return func(yield func(sighting, B) bool) {
		for _, v := range l.lives {
			for at, body := range each[B](v) {
				if !yield(sighting{v, at}, body) {
					return
				}
			}
		}
	}
}

// lines makes the time line of each group that some records have.
func lines(ctx context.Context, r *record.Records) (all []*line) {
	byFirst, firsts := map[string]*line{}, []*line{}
	for _, log := range r.Logs {
		l := byFirst[log.Group]
		if l == nil {
			l = &line{ctx: ctx, name: log.Group, main: log.Group, clocks: map[string]*timebase{}, drift: usualDrift}
			byFirst[log.Group], firsts = l, append(firsts, l)
		}
		l.add(log)
	}
	for _, l := range firsts {
		if ctx.Err() != nil {
			return nil
		}
		lines := l.split()
		for _, l := range lines {
			l.sort()
			if l.coarse() {
				l.sort()
			}
			l.find()
		}
		detail(ctx, lines)
		for _, l := range lines {
			if l.join() {
				l.tenures = nil
				l.find()
			}
			l.extend()
		}
		all = append(all, lines...)
	}
	return all
}

// sort brings lives into the order of their beginnings. Those of one member are in the order of their incarnations, wherever clocks were set.
func (l *line) sort() {
	slices.SortStableFunc(l.lives, func(a, b *life) int { return cmp.Compare(a.head.Incarnation, b.head.Incarnation) })
	begun, last := map[*life]int64{}, map[uint64]int64{}
	for _, v := range l.lives {
		begun[v] = v.begun
		if before, is := last[v.member()]; is {
			begun[v] = max(v.begun, before)
		}
		last[v.member()] = begun[v]
	}
	slices.SortStableFunc(l.lives, func(a, b *life) int {
		return cmp.Or(cmp.Compare(begun[a], begun[b]), cmp.Compare(a.member(), b.member()))
	})
}

// add takes the record of one member.
func (l *line) add(log *record.Log) {
	lives := make([]*life, len(log.Segments)) // by segment
	for i, s := range log.Segments {
		if i > 0 && lives[i-1].head.Incarnation == s.Head.Incarnation {
			lives[i] = lives[i-1]
			continue
		}
		lives[i] = &life{head: s.Head, base: l.base(&s.Head)}
		lives[i].begun = lives[i].at(record.Clocks{})
		lives[i].last = lives[i].begun
		l.lives = append(l.lives, lives[i])
	}
	pieces := record.Together(l.ctx, len(log.Segments), func(i int) *piece { return lives[i].read(log.Segments[i]) })
	if l.ctx.Err() != nil {
		return
	}
	most := map[*life]int{} // facts
	for i, p := range pieces {
		most[lives[i]] += len(p.facts)
	}
	for v, n := range most {
		v.facts = slices.Grow(v.facts, n)
	}
	for i, s := range log.Segments {
		if s.Head.Drift > 0 && s.Head.Drift < 1 {
			l.drift = s.Head.Drift
		}
		if d := log.Missing(i); d != nil {
			l.damage(fmt.Sprintf("member %d: %s", log.Member, d.What))
		}
		l.knows(s.Head.Members)
		for _, text := range pieces[i].damages {
			l.damage(text)
		}
		lives[i].take(s, pieces[i])
	}
	for _, s := range log.Changes {
		l.knows(s.Head.Members)
		l.wrote = max(l.wrote, s.Head.Wall)
	}
	told := l.tellings(log)
	if len(told) > 0 && len(lives) > 0 {
		l.short(lives[len(lives)-1], &told[len(told)-1])
	}
	l.told = append(l.told, told...)
}

// short notes that the newest segments of a record are missing: a member tells each change in both of its records.
func (l *line) short(v *life, last *telling) {
	later := uint64(last.Since) > v.head.Incarnation
	if !later && (uint64(last.Since) != v.head.Incarnation || last.Time.UnixNano() <= v.last+int64(loosely)) {
		return
	}
	for _, c := range each[*record.Change](v) {
		if c.Time.Equal(last.Time) && c.Term == last.Term && c.To == last.To {
			return
		}
	}
	l.damage(fmt.Sprintf("member %d: the newest segments are missing: they end at %s, and it told a change of the leader at %s", v.member(), words.Clock(v.last), words.Clock(last.Time.UnixNano())))
}

// knows adds members that a record knows.
func (l *line) knows(members []uint64) {
	for _, id := range members {
		if i, found := slices.BinarySearch(l.members, id); !found && len(l.members) < mostMembers {
			l.members = slices.Insert(l.members, i, id)
		}
	}
}

// damage notes what cannot be read.
func (l *line) damage(text string) { l.damages = damaged(l.damages, text) }

// damaged adds a line about damage, if there are not too many.
func damaged(all []string, text string) []string {
	switch {
	case len(all) < mostDamages:
		return append(all, text)
	case len(all) == mostDamages:
		return append(all, "more is damaged, and not listed")
	}
	return all
}

const (
	mostMembers = 1 << 10
	mostDamages = 20
)

// base returns the clock of a life. All clocks begin with what the wall clock said at the start of the first life that has them.
func (l *line) base(h *record.Head) *timebase {
	name := h.Boot
	if name == "" {
		name = fmt.Sprintf("member %d, life %d", h.Member, h.Incarnation)
	}
	b := l.clocks[name]
	if b == nil {
		b = &timebase{name: name, machine: h.Boot != "", offset: h.Wall}
		if h.Boot != "" {
			b.offset -= int64(h.Begun.Boottime)
		}
		l.clocks[name] = b
	}
	return b
}

// ofTests is how the life of a member ends that a test in memory kills. A process that is killed writes nothing.
const ofTests = "killed"

// piece is what is notable in a segment.
type piece struct {
	facts    []fact
	from, to int64
	start    *record.Start
	end      *record.End
	damages  []string
}

// read reads what is notable in a segment, of all groups.
func (l *life) read(s *record.Segment) *piece {
	p := &piece{}
	for e, damage := range s.Notable() {
		if damage != nil {
			if !damage.Follows && len(p.damages) <= mostDamages {
				p.damages = append(p.damages, damage.String())
			}
			continue
		}
		at := l.at(e.At)
		if p.from == 0 {
			p.from = at
		}
		p.to = max(p.to, at)
		switch body := e.Body.(type) {
		case *record.Start:
			p.start = body
		case *record.End:
			p.end = body
		case *record.Snapshot:
			p.facts = append(p.facts, fact{at, e.Group, &body.Decision, s.Head.Unit}, fact{at, e.Group, &record.Snapshot{Voters: body.Voting()}, s.Head.Unit})
			continue
		case *record.Step, *record.Idle: // detail reads them, where they matter
			continue
		}
		p.facts = append(p.facts, fact{at, e.Group, e.Body, s.Head.Unit})
	}
	return p
}

// take adds what is notable in a segment.
func (l *life) take(s *record.Segment, p *piece) {
	if p.start != nil {
		l.recovering = p.start.Recovering
	}
	if p.end != nil {
		l.closed, l.reason = p.end.Reason != ofTests, p.end.Reason
	}
	l.facts = append(l.facts, p.facts...)
	l.segments, l.spans = append(l.segments, s), append(l.spans, [2]int64{p.from, p.to})
	l.last = max(l.last, p.to)
}

// tenureKey tells tenures apart.
type tenureKey struct{ term, leader uint64 }

// find finds the tenures.
func (l *line) find() {
	byKey := map[tenureKey]*tenure{}
	for _, v := range l.lives {
		v.begun = v.at(record.Clocks{})
	}
	for _, v := range l.lives { // the records of leaders first: they know best
		l.led(v, byKey)
	}
	for _, v := range l.lives {
		l.followed(v, byKey)
	}
	slices.SortStableFunc(l.tenures, func(a, b *tenure) int {
		return cmp.Or(cmp.Compare(a.begun, b.begun), cmp.Compare(a.term, b.term))
	})
	for i, t := range l.tenures {
		var next *tenure
		if i+1 < len(l.tenures) {
			next = l.tenures[i+1]
		}
		if t.life == nil {
			l.ends(t, next)
		}
		if next != nil && !t.over {
			t.over = true
			if t.ended == 0 {
				t.ended = min(cmp.Or(t.seen, next.begun), next.begun)
			}
		}
	}
}

// led finds the tenures of the member whose life this is.
func (l *line) led(v *life, byKey map[tenureKey]*tenure) {
	var now *tenure
	end := func(at int64) {
		if now != nil {
			now.ended, now.over, now = at, true, nil
		}
	}
	for i := range v.facts {
		f := &v.facts[i]
		switch body := f.body.(type) {
		case *record.Lapse:
			if now != nil {
				now.until, now.lapsed = v.at(record.Clocks{Boottime: body.Until}), true
			}
			end(f.at)
		case *record.Decision:
			leads := body.Role == "leader" && body.Leader != 0
			if now != nil && (!leads || body.Term != now.term) {
				end(f.at)
			}
			if leads && now == nil {
				now = &tenure{term: body.Term, leader: body.Leader, begun: f.at, life: v, seenBy: v}
				if i+1 < len(v.facts) {
					_, now.amid = v.facts[i+1].body.(*record.Snapshot) // which has the decision that was made before
				}
				byKey[tenureKey{body.Term, body.Leader}] = now
				l.tenures = append(l.tenures, now)
			}
			if leads && body.Until != 0 {
				now.until = v.at(record.Clocks{Boottime: body.Until})
			}
		}
	}
	if now != nil {
		now.ended, now.over = v.last, v.closed || l.after(v) != nil || l.dead(v) != 0
		now.seen = v.last
	}
}

// followed finds what a follower has seen of tenures whose leader has no record.
func (l *line) followed(v *life, byKey map[tenureKey]*tenure) {
	var now *tenure
	left := map[*tenure]int64{} // those that it did not follow again
	for at, d := range each[*record.Decision](v) {
		if now != nil && (d.Term != now.term || d.Leader != now.leader) {
			if now.life == nil {
				left[now] = leaves(v, now.leader, at)
			}
			now = nil
		}
		if d.Role == "leader" || d.Leader == 0 || now != nil {
			continue
		}
		k := tenureKey{d.Term, d.Leader}
		if now = byKey[k]; now == nil {
			now = &tenure{term: d.Term, leader: d.Leader, begun: at, seenBy: v}
			byKey[k] = now
			l.tenures = append(l.tenures, now)
		} else if (now.life == nil || now.amid) && at < now.begun {
			now.begun, now.seenBy = at, v
		}
		delete(left, now)
	}
	if now != nil {
		now.seen = max(now.seen, v.last)
	}
	for t, at := range left {
		t.left, t.over = append(t.left, at), true
	}
}

// after returns the next life of the member of a life; nil: no record has one.
func (l *line) after(v *life) *life {
	for _, next := range l.lives {
		if next.member() == v.member() && next.head.Incarnation > v.head.Incarnation {
			return next
		}
	}
	return nil
}

// dead returns when a life was proven dead to the first member of which there is a record; 0: it was to none.
func (l *line) dead(v *life) (at int64) {
	for s, p := range every[*record.Proof](l) {
		if p.Peer == v.member() && p.Incarnation == v.head.Incarnation && (at == 0 || s.at < at) && s.at >= v.begun {
			at = s.at
		}
	}
	return at
}

// crossing is a message that is in the records of its sender and of its receiver.
type crossing struct {
	from, to       *life
	sent, received int64
	kind           contract.Kind
}

// crossings returns the messages of which both ends are known.
func (l *line) crossings() (all []crossing) {
	type key struct {
		from, to uint64
		kind     contract.Kind
		payload  uint64
	}
	type sending struct {
		life *life
		at   int64
	}
	seed, sent := maphash.MakeSeed(), map[key]sending{}
	for _, v := range l.lives {
		for i := range v.facts {
			if step, is := v.facts[i].body.(*record.Step); is {
				for _, m := range step.Sent {
					k := key{v.member(), m.Peer, m.Kind, maphash.Bytes(seed, m.Payload)}
					if _, known := sent[k]; !known && m.Peer != v.member() && !m.Dropped {
						sent[k] = sending{v, v.facts[i].at}
					}
				}
			}
		}
	}
	for _, v := range l.lives {
		for i := range v.facts {
			step, is := v.facts[i].body.(*record.Step)
			if !is || step.Input.What != process.Received || step.Peer == v.member() {
				continue
			}
			if s, found := sent[key{step.Peer, v.member(), step.Input.Kind, maphash.Bytes(seed, step.Input.Message)}]; found {
				all = append(all, crossing{s.life, v, s.at, v.facts[i].at, step.Input.Kind})
			}
		}
	}
	return all
}
