package refine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

type (
	algorithm = election.Algorithm[quorumbully.Process, quorumbully.Message]
	member    = quorumbully.Process
	message   = quorumbully.Message
	out       = election.Out[quorumbully.Message]
)

// Watched returns the algorithm with something done after each step. The time of a step is that of its member's clock.
func Watched(a algorithm, done func(*Step)) algorithm {
	watch := func(p *member, o *out, s Step, step func(o *out)) {
		before := *p
		collect := &election.Collector[message]{}
		now := reading(o)
		collect.Clock(now)
		collect.Choices(o.Choose)
		step(collect.Out())
		after := *p
		s.At, s.Member, s.Before, s.After, s.Shares = int(now.Lo), p.ID, &before, &after, shares(&after, now)
		for _, m := range collect.Sent() {
			s.Sent = append(s.Sent, Sent{election.From(election.Port(m.On())), m.Kind(), &m.M})
		}
		s.Effects = slices.Clone(collect.Effects())
		repeat(collect, now, o)
		done(&s)
	}
	w := a
	w.Start = func(p *member, o *out) { watch(p, o, Step{Event: trace.Start}, func(o *out) { a.Start(p, o) }) }
	w.Recover = func(p *member, o *out) { watch(p, o, Step{Event: trace.Recover}, func(o *out) { a.Recover(p, o) }) }
	w.Receive = func(p *member, port election.Port, kind election.Kind, m message, o *out) {
		watch(p, o, Step{Event: trace.Receive, From: election.From(port), Kind: kind, Message: &m}, func(o *out) { a.Receive(p, port, kind, m, o) })
	}
	w.Timeout = func(p *member, timer election.Timer, o *out) {
		watch(p, o, Step{Event: trace.Timeout, Timer: timer}, func(o *out) { a.Timeout(p, timer, o) })
	}
	w.Suspect = func(p *member, port election.Port, o *out) {
		watch(p, o, Step{Event: trace.Suspect, From: election.From(port)}, func(o *out) { a.Suspect(p, port, o) })
	}
	w.Command = func(p *member, c election.Command, o *out) {
		watch(p, o, Step{Event: trace.Command, Command: c}, func(o *out) { a.Command(p, c, o) })
	}
	return w
}

// reading returns the time of a member's clock.
func reading(o *out) election.Ticks {
	const far = 127
	return election.Power(far).Sub(o.Left(election.DeadlineIn(election.Power(far), election.Ticks{})))
}

// repeat hands over the effects of a step.
func repeat(collect *election.Collector[message], now election.Ticks, to *out) {
	for _, m := range collect.Sent() {
		to.Send(election.Port(m.On()), m.Kind(), m.M)
	}
	for _, e := range collect.Effects() {
		switch {
		case e.Op == election.SetTimer && e.Deadline:
			to.At(e.Timer, election.DeadlineIn(e.Ticks, now))
		case e.Op == election.SetTimer:
			to.After(e.Timer, e.Ticks)
		case e.Op == election.StopTimer:
			to.Stop(e.Timer)
		case e.Op == election.Lead:
			to.LeadUntil(election.DeadlineIn(e.Ticks, now), e.Term)
		case e.Op == election.Follow:
			to.Follow(e.ID, e.Term)
		case e.Op == election.NoLeader:
			to.NoLeader()
		case e.Op == election.StopWork:
			to.StopWork()
		}
	}
}

// Log is a run: its steps, and which lives have ended between them.
type Log struct {
	Clocks  Clocks
	Wardens bool // the end of a life is proven at once

	mutex sync.Mutex
	steps []*Step
	ended []ended
}

// ended is the end of a life: before which step.
type ended struct {
	before int
	member election.ID
	at     int
}

// Add adds a step.
func (l *Log) Add(s *Step) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.steps = append(l.steps, s)
}

// Ended adds that the life of a member has ended, not before the last step.
func (l *Log) Ended(member election.ID) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	at := 0
	if last := len(l.steps) - 1; last >= 0 {
		at = l.steps[last].At
	}
	l.ended = append(l.ended, ended{len(l.steps), member, at})
}

// Run compares a run of package simulate with the model, as [Log.Check] does.
func Run(a algorithm, o simulate.Options, every int) (*Checker, error) {
	clocks := make(drifting, o.Setup.IDs.Len())
	for _, d := range o.Faults.Drifts {
		clocks[d.Process] = d
	}
	l := &Log{Clocks: clocks, Wardens: o.Wardens}
	if _, err := simulate.Run(Watched(a, l.Add), o); err != nil {
		return nil, err
	}
	if err := l.align(a, o); err != nil {
		return nil, err
	}
	return l.Check(context.Background(), every)
}

// align gives steps their real times, from a record of the same run, and notes the crashes.
func (l *Log) align(a algorithm, o simulate.Options) error {
	o.Record = true
	r, err := simulate.Run(a, o)
	if err != nil {
		return err
	}
	at := 0
	for i := range r.Record.Steps {
		s := &r.Record.Steps[i]
		switch s.Event {
		case trace.Crash:
			l.ended = append(l.ended, ended{at, election.ID(s.Process + 1), int(s.Time.Lo)})
		case trace.Start, trace.Receive, trace.Timeout, trace.Recover, trace.Suspect, trace.Command:
			if at == len(l.steps) || l.steps[at].Event != s.Event || l.steps[at].Member != election.ID(s.Process+1) {
				return fmt.Errorf("step %d of the record, %s at %d, is another one", i, s.Event, s.Process+1)
			}
			l.steps[at].At = int(s.Time.Lo)
			at++
		}
	}
	return nil
}

// Check compares the run with the model. After each so many steps invariants are evaluated, for what was asked for within the longest
// lease: nothing else binds. The error is a *Failure with the steps before it, if the code does what the model does not allow. It ends with the context, by
// its error.
func (l *Log) Check(ctx context.Context, every int) (*Checker, error) {
	l.mutex.Lock()
	run := &Log{Clocks: l.Clocks, Wardens: l.Wardens, steps: slices.Clone(l.steps), ended: slices.Clone(l.ended)}
	l.mutex.Unlock() // members may go on meanwhile
	p := run.steps[0].After
	c, err := NewChecker(int(p.Members), int(p.Settings.First), run.Clocks)
	if err != nil {
		return nil, err
	}
	c.alone = true
	_ = c.replay(ctx, run, every) // it collects; the model tells better what is wrong
	if err := c.Collected(); err != nil {
		return c, err
	}
	return c, c.replay(ctx, run, every)
}

// replay makes the run in the model.
func (c *Checker) replay(ctx context.Context, l *Log, every int) (err error) {
	s, before, endings := c.Begin(), map[election.ID]quorumbully.Kept{}, l.ended
	for i, step := range l.steps {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for ; len(endings) > 0 && endings[0].before <= i && err == nil; endings = endings[1:] {
			if s, err = c.Pass(s, 1+endings[0].at); err == nil {
				s, err = c.Crash(s, endings[0].member, before[endings[0].member].Incarnation, l.Wardens)
			}
		}
		if err == nil {
			err = c.unnamed(step, before[step.Member])
		}
		if err == nil {
			s, err = c.Pass(s, 1+step.At)
		}
		if err == nil {
			s, err = c.Observe(s, step)
		}
		if err == nil && c.interpretation != nil && i%every == 0 {
			err = c.Check(s, s.now-c.longest())
		}
		if err != nil {
			return err.(*Failure).after(l.steps[:i+1])
		}
		before[step.Member] = step.After.Kept
	}
	return nil
}

// unnamed returns a *Failure if the model has no name for a step of a member, since what it had kept before, or the order of its lives, is not in
// the run.
func (c *Checker) unnamed(step *Step, kept quorumbully.Kept) error {
	now, after := &step.Before.Kept, &step.After.Kept
	text := ""
	switch {
	case step.Event != trace.Recover && now.Promise == 0 && kept.Promise > 0: // a command may come before the start
		text = fmt.Sprintf("member %d begins without its store, in which it had promised term %d", step.Member, kept.Promise)
	case step.Event == trace.Recover && knowsMore(now, &kept):
		text = fmt.Sprintf("the last steps of an earlier life of member %d are missing: it begins with a later promise or newer voters than it had", step.Member)
	case c.clocks.Unsure() && step.After.Begun && after.Incarnation < kept.Incarnation:
		text = fmt.Sprintf("the clocks of the members are not known well enough: an earlier life of member %d makes a step after the next life has begun", step.Member)
	default:
		return nil
	}
	return &Failure{text, true}
}

// knowsMore reports whether a store has something that was saved after an earlier state of it.
func knowsMore(now, before *quorumbully.Kept) bool {
	a, b := &now.Voters, &before.Voters
	return now.Promise > before.Promise || now.Longest > before.Longest || cmp.Or(cmp.Compare(a.Term, b.Term), cmp.Compare(a.Version, b.Version)) > 0
}

// longest returns the longest time for which a grant binds.
func (c *Checker) longest() (most int) {
	for _, all := range c.asked {
		for _, a := range all {
			most = max(most, a.lease)
		}
	}
	return most
}

func story(steps []*Step) string {
	var told []string
	for _, s := range steps {
		text := fmt.Sprintf("at %d: %d: %s", s.At, s.Member, s.Event)
		switch s.Event {
		case trace.Receive:
			text += fmt.Sprintf(" kind %d of %d: %+v", s.Kind, s.From, *s.Message)
		case trace.Timeout:
			text += fmt.Sprintf(" %d", s.Timer)
		case trace.Command:
			text += fmt.Sprintf(" %+v", s.Command)
		}
		told = append(told, text)
	}
	return strings.Join(told, "\n")
}

// drifting are clocks of wrong rates, by member - 1, as package simulate has them: a clock reads the whole units that it has counted.
type drifting []faults.Drift

func (d drifting) rate(member election.ID) (times, of int) {
	if member == 0 || d[member-1].Times == 0 {
		return 1, 1
	}
	return int(d[member-1].Times), int(d[member-1].Of)
}

// Ends returns the first moment at which the clock reads the deadline. Times of the model begin with 1.
func (d drifting) Ends(member election.ID, now, left int) int {
	times, of := d.rate(member)
	reading := (now - 1) * times / of
	return 1 + ceil((reading+left)*of, times)
}

// Expires returns when a timer expires.
func (d drifting) Expires(member election.ID, now, wait int) int {
	times, of := d.rate(member)
	return now + ceil(wait*of, times)
}

// Shortest returns how long a timer runs at the fastest clock.
func (d drifting) Shortest(length int) int {
	least := length
	for i := range d {
		times, of := d.rate(election.ID(i + 1))
		least = min(least, ceil(length*of, times))
	}
	return least
}

// Unsure is false: the simulator knows them.
func (drifting) Unsure() bool { return false }

func ceil(a, b int) int { return (a + b - 1) / b }
