package explain

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	algorithm "ringleader.example/ringleader/algorithms/quorumbully"
	contract "ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain/setting"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/proofs/refine"
)

// Checked is what comes of the comparison of the joined run of a group with the model of its algorithm.
type Checked struct {
	Group   string         `json:"group"`
	Steps   int            `json:"steps"`   // that are sequences of actions of the model
	Of      int            `json:"of"`      // how many steps the records have
	Actions map[string]int `json:"actions"` // how often each has happened
	Without string         `json:"without,omitempty"`
	Broken  string         `json:"broken,omitempty"` // the step that the model or the machine does not allow; empty: there is none
}

// errUnchecked reports that records do not have what a comparison needs.
var errUnchecked = errors.New("it cannot be compared")

// happening is a step of a member on the time line.
type happening struct {
	step     *refine.Step
	life     *life
	recorded *record.Step
	scale    *scale
	at       int64 // on the scale
	unsaved  bool  // its life ends before its state is durable, so before anything else is done and before its messages leave
}

// Check makes the recorded steps again, and compares them with the model, in an order in which no message arrives before it was sent. That needs the
// records of all members from their first lives on. It takes at most so many steps. When the context of the report ends, it has no result that counts.
func (g *Group) Check(most int) (c Checked) {
	c.Group, c.Actions = g.Name, map[string]int{}
	all, ends, clocks, err := g.line.made()
	switch {
	case errors.Is(err, errUnchecked), g.line.ctx.Err() != nil:
		c.Without = cmp.Or(err, g.line.ctx.Err()).Error()
		return c
	case err != nil:
		c.Broken = err.Error()
		return c
	case len(all) == 0:
		c.Without = "no record has a step"
		return c
	}
	run := &refine.Log{Clocks: clocks}
	left := map[*life]int{}
	for _, h := range all {
		left[h.life]++
	}
	c.Of = len(all)
	all = all[:min(most, len(all))]
	clocks.notes(all)
	for _, h := range all {
		run.Add(h.step)
		if left[h.life]--; left[h.life] == 0 && ends[h.life] {
			run.Ended(h.step.Member)
		}
	}
	const every = 50
	checked, err := run.Check(g.line.ctx, every)
	if g.line.ctx.Err() != nil {
		c.Without = g.line.ctx.Err().Error()
		return c
	}
	if failure := (*refine.Failure)(nil); errors.As(err, &failure) && failure.Unnamed {
		c.Without, _, _ = strings.Cut(failure.Text, "\n")
		return c
	}
	if err != nil {
		c.Broken = err.Error()
		return c
	}
	c.Steps, c.Actions = len(all), checked.Happened
	return c
}

// made makes the steps of all lives again. It returns them in the order of time, and the lives that have ended.
func (l *line) made() (all []happening, ends map[*life]bool, clocks *scales, err error) {
	ends = map[*life]bool{}
	var known []*scale
	var members []uint64
	if len(l.members) == 1 {
		return nil, nil, nil, fmt.Errorf("%w: a member alone sends no claims, which are what the model has of it", errUnchecked)
	}
	for _, id := range l.members {
		if !slices.ContainsFunc(l.lives, func(v *life) bool { return v.member() == id }) {
			return nil, nil, nil, fmt.Errorf("%w: the record of member %d is missing", errUnchecked, id)
		}
	}
	for _, v := range l.lives {
		s := l.scaleOf(v, known)
		if !slices.Contains(known, s) {
			known = append(known, s)
		}
		mine, err := l.again(v, s, &members)
		if err != nil {
			return nil, nil, nil, err
		}
		all = append(all, mine...)
		ends[v] = v.closed || l.after(v) != nil || l.dead(v) != 0
	}
	if _, orphan := passages(all); orphan != nil {
		return nil, nil, nil, fmt.Errorf("%w: the record of member %d lacks a message that member %d received", errUnchecked, orphan.recorded.Peer, orphan.step.Member)
	}
	all = l.withoutLost(all)
	if clocks, err = l.aligned(all, known); err != nil {
		return nil, nil, nil, err
	}
	return ordered(all), ends, clocks, nil
}

// again makes the steps of a life.
func (l *line) again(v *life, clock *scale, members *[]uint64) (all []happening, err error) {
	if v.head.Algorithm != quorumBully {
		return nil, fmt.Errorf("%w: there is no model of %s", errUnchecked, v.head.Algorithm)
	}
	if !started(v) {
		return nil, fmt.Errorf("%w: the record of member %d begins amid its life", errUnchecked, v.member())
	}
	var last *refine.Step
	watched := refine.Watched(algorithm.Algorithm, func(s *refine.Step) { last = s })
	program, err := process.Of(&watched)
	if err != nil {
		return nil, err
	}
	r, err := record.NewReplayer(program, &v.head)
	if err != nil {
		return nil, fmt.Errorf("%w: member %d: %w", errUnchecked, v.member(), err)
	}
	for _, s := range v.segments {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		for e, damage := range s.Entries() {
			if damage != nil {
				return nil, fmt.Errorf("%w: parts of the record of member %d are missing: %s", errUnchecked, v.member(), damage)
			}
			ticks := e.At.Boottime
			step, is := e.Body.(*record.Step)
			if is {
				ticks = time.Duration(step.Ticks) * s.Head.Unit
			}
			at := clock.reads(v, e, ticks)
			if !l.concerns(e.Group, e.Body) {
				continue
			}
			last = nil
			if err := r.Take(e); err != nil {
				return nil, fmt.Errorf("member %d: %w", v.member(), err)
			}
			switch body := e.Body.(type) {
			case *record.Gap:
				return nil, fmt.Errorf("%w: the record of member %d has a gap", errUnchecked, v.member())
			case *record.Snapshot:
				if err := sameMembers(members, body.Members); err != nil {
					return nil, err
				}
			case *record.Step:
				if last == nil { // the algorithm does nothing then
					continue
				}
				if body.Input.What == process.Recovered && !l.lived(v) {
					return nil, fmt.Errorf("%w: the record of member %d begins after its first life", errUnchecked, v.member())
				}
				all = append(all, happening{last, v, body, clock, at, body.Durable})
			}
			saved(all, e.Body)
		}
	}
	return all, nil
}

// sameMembers compares the members that a snapshot has with those of the first one.
func sameMembers(first *[]uint64, members []uint64) error {
	if *first == nil {
		*first = members
	}
	if !slices.Equal(*first, members) {
		return fmt.Errorf("%w: members know others in different orders, or were added", errUnchecked)
	}
	return nil
}

// saved notes which steps of a life are durable: the last one if a save has ended, and those before it.
func saved(all []happening, body record.Body) {
	n := len(all)
	if f, is := body.(*record.Flush); is && f.Groups > 0 && f.Error == "" && n > 0 {
		all[n-1].unsaved = false
	}
	if n > 1 {
		all[n-2].unsaved = false
	}
}

// withoutLost returns the steps without those that were lost.
func (l *line) withoutLost(all []happening) (left []happening) {
	for i := range all {
		if !all[i].unsaved || !l.lost(all, &all[i]) {
			left = append(left, all[i])
		}
	}
	return left
}

// lost reports whether the next life of a member that makes a step has not what a step was to save: the member was killed before that was durable, and for all others the
// step has never been.
func (l *line) lost(all []happening, h *happening) bool {
	i := -1
	for next := l.after(h.life); next != nil && i < 0; next = l.after(next) { // a life may end before its first step
		i = slices.IndexFunc(all, func(other happening) bool { return other.life == next })
	}
	if i < 0 {
		return false
	}
	kept := func(p *algorithm.Process) algorithm.Kept {
		k := p.Kept
		k.Incarnation = 0 // of the life
		return k
	}
	found := kept(all[i].step.Before)
	return !reflect.DeepEqual(found, kept(h.step.After)) && reflect.DeepEqual(found, kept(h.step.Before))
}

// started reports whether the record has the beginning of a life.
func started(v *life) bool {
	for range each[*record.Start](v) {
		return true
	}
	return false
}

// lived reports whether there is an earlier life of the same member.
func (l *line) lived(v *life) bool {
	return slices.ContainsFunc(l.lives, func(other *life) bool {
		return other.member() == v.member() && other.head.Incarnation < v.head.Incarnation
	})
}

// closely is how well the clocks of several machines have to be known.
const closely = 10 * time.Millisecond

// proves reports whether an input is the proof of a death, and the life that is dead has steps left: they were before.
func proves(in *process.Input, queues [][]happening) bool {
	return in.What == process.Commanded && in.Command.Order == contract.Died && slices.ContainsFunc(queues, func(q []happening) bool {
		return len(q) > 0 && q[0].step.Member == contract.ID(in.Command.Member) && q[0].life.head.Incarnation <= in.Command.Number
	})
}

// byLife returns the steps of each life. Those of one are next to each other.
func byLife(all []happening) (queues [][]happening) {
	for begin := 0; begin < len(all); {
		end := begin
		for end < len(all) && all[end].life == all[begin].life {
			end++
		}
		queues, begin = append(queues, all[begin:end]), end
	}
	return queues
}

// ordered returns steps in the order of their times, so that none receives a message that a later one sends, and none is of a dead member. Then a step has the time of the one before it,
// if its own is earlier: so much clocks are unsure. Two readings of one clock are still two times, as the model has one reading at each.
func ordered(all []happening) (sorted []happening) {
	sent, waits := map[setting.Passage]bool{}, map[setting.Passage]bool{} // what has been sent, and what will be
	for _, h := range all {
		for _, m := range h.recorded.Sent {
			waits[setting.PassageOf(h.life.member(), m.Peer, m.Kind, m.Payload)] = true
		}
	}
	queues := byLife(all)
	now, made := 0, map[contract.ID]*happening{} // the last step of each member
	for len(sorted) < len(all) {
		next, any := -1, -1
		for i, q := range queues {
			if len(q) == 0 {
				continue
			}
			if any < 0 || q[0].step.At < queues[any][0].step.At {
				any = i
			}
			in := &q[0].recorded.Input
			w := setting.PassageOf(q[0].recorded.Peer, q[0].life.member(), in.Kind, in.Message)
			if in.What == process.Received && waits[w] && !sent[w] || proves(in, queues) {
				continue
			}
			if next < 0 || q[0].step.At < queues[next][0].step.At {
				next = i
			}
		}
		if next < 0 { // no order is right, and the comparison says it
			next = any
		}
		h := queues[next][0]
		queues[next] = queues[next][1:]
		for _, m := range h.recorded.Sent {
			sent[setting.PassageOf(h.life.member(), m.Peer, m.Kind, m.Payload)] = true
		}
		now = max(now, h.step.At)
		if before := made[h.step.Member]; before != nil && before.step.At == now && before.at != h.at {
			now++
		}
		h.step.At = now
		sorted = append(sorted, h)
		made[h.step.Member] = &h
	}
	return sorted
}
