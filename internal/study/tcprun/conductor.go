package tcprun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
)

// conductor begins and ends a run.
type conductor struct {
	p        *network.Instance
	o        *Options
	assumed  time.Duration // the assumed longest delay of a message
	limit    uint64        // of deliveries and timeouts
	within   time.Duration // of time
	dead     []bool        // by position
	controls []Control     // by position; nil for crashed processes
}

// grace is the time that processors have for their current request when a run is stopped.
const grace = 2 * time.Second

// mute is how long all asked processors may be silent: far longer than an answer takes. Without it, the conductor
// would wait for a stopped one for ever.
const mute = time.Minute

// close ends all processors.
func (c *conductor) close() {
	for _, control := range c.controls {
		if control != nil {
			control.Close()
		}
	}
}

func (c *conductor) failed(err error) error {
	if errors.Is(err, ErrStopped) {
		return err
	}
	return fmt.Errorf("running %s over sockets %w: %w", c.p.Declaration().Name, ErrFailed, err)
}

// all asks all live processors, or only some, and waits for all replies; by position.
func (c *conductor) all(ctx context.Context, r Request, some func(position int) bool) ([]Reply, error) {
	type answer struct {
		position int
		reply    Reply
		err      error
	}
	answers, asked := make(chan answer, len(c.controls)), 0
	replies, answered := make([]Reply, len(c.controls)), make([]bool, len(c.controls))
	for q, control := range c.controls {
		if control == nil || some != nil && !some(q) {
			answered[q] = true // in advance
			continue
		}
		asked++
		go func() {
			reply, err := control.Ask(r)
			answers <- answer{q, reply, err}
		}()
	}
	silence := time.NewTimer(mute)
	defer silence.Stop()
	stop, late := ctx.Done(), (<-chan time.Time)(nil)
	var symptom error
	var cause <-chan time.Time
	for ; asked > 0; asked-- {
		select {
		case a := <-answers:
			if a.err != nil {
				return nil, fmt.Errorf("%s: %w", c.p.Name(a.position), a.err)
			}
			if a.reply.Error != "" && symptom == nil { // perhaps since another one has ended, which explains more
				symptom, cause = fmt.Errorf("%s: %s", c.p.Name(a.position), a.reply.Error), time.After(grace)
			}
			replies[a.position], answered[a.position] = a.reply, true
			silence.Reset(mute)
		case <-stop:
			stop, late = nil, time.After(grace)
			asked++ // that was no answer
		case <-late:
			return nil, ErrStopped
		case <-cause:
			return nil, symptom
		case <-silence.C:
			return nil, fmt.Errorf("%s: no answer for %v; is it stopped?", c.p.Name(slices.Index(answered, false)), mute)
		}
	}
	return replies, symptom
}

// conduct runs the election, from the first order to the last.
func (c *conductor) conduct(ctx context.Context) (*Result, error) {
	listening, err := c.all(ctx, Request{Order: Listen}, nil)
	if err != nil {
		return nil, err
	}
	addresses := make([]string, len(listening))
	for q := range listening {
		addresses[q] = listening[q].Address
	}
	if _, err := c.all(ctx, Request{Order: Connect, Addresses: addresses}, nil); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ErrStopped
	}
	starts := c.starters()
	begun := time.Now()
	orders := []Order{Start, Go}
	if c.o.AnyTime {
		orders = []Order{Go, Start}
	}
	for _, order := range orders {
		some := func(q int) bool { return order == Go || starts[q] }
		if _, err := c.all(ctx, Request{Order: order}, some); err != nil {
			return nil, err
		}
	}
	complete, settled, err := c.wait(ctx, begun)
	if err != nil {
		return nil, err
	}
	ended, err := c.all(ctx, Request{Order: End}, nil)
	if err != nil {
		return nil, err
	}
	result := c.result(ended, begun)
	result.Complete, result.Settled = complete, settled
	for _, starts := range starts {
		if starts {
			result.Starters++
		}
	}
	return result, nil
}

// starters returns which processors start, by position.
func (c *conductor) starters() []bool {
	starts := make([]bool, len(c.controls))
	for q := range starts {
		starts[q] = c.o.Initiators == nil && !c.dead[q]
	}
	for _, q := range c.o.Initiators {
		starts[q] = true
	}
	return starts
}

// wait waits for the end, which the package comment defines.
func (c *conductor) wait(ctx context.Context, begun time.Time) (complete, settled bool, err error) {
	var before []Reply
	var agreement agreement
	for {
		asked := time.Now()
		now, err := c.all(ctx, Request{Order: Count}, nil)
		if err != nil {
			return false, false, err
		}
		if broken := c.broken(now); broken != "" && c.broken(before) != "" { // and all have answered since then
			return false, false, errors.New(broken)
		}
		if c.broken(now) == "" {
			if c.quiet(before, now) {
				return true, false, nil
			}
			if c.p.Declaration().Task != election.Once && agreement.settled(c.agreed(now), now) {
				return true, true, nil
			}
		}
		if ctx.Err() != nil || c.over(now) || time.Since(begun) > c.within {
			return false, false, nil
		}
		before = now
		select { // so that the processors have at least half of the time for the run
		case <-time.After(time.Since(asked)):
		case <-ctx.Done():
		}
	}
}

// broken describes a broken link, if there is one.
func (c *conductor) broken(wave []Reply) string {
	for _, reply := range wave {
		if reply.Counts != nil && reply.Counts.Broken != "" {
			return reply.Counts.Broken
		}
	}
	return ""
}

// over reports whether a limit was passed: by all together, or by a processor that has halted.
func (c *conductor) over(wave []Reply) bool {
	steps := uint64(0) // deliveries and timeouts
	for _, reply := range wave {
		if reply.Counts == nil {
			continue
		}
		if reply.Counts.Halted {
			return true
		}
		steps += reply.Counts.Received + reply.Counts.Timeouts
	}
	return steps > c.limit
}

// quiet reports whether, between two waves, no message was under way and no event could follow.
func (c *conductor) quiet(before, now []Reply) bool {
	var sent, received uint64
	for q, reply := range now {
		if reply.Counts == nil {
			continue
		}
		if before == nil || reply.Counts.Running > 0 || before[q].Counts.Running > 0 || reply.Counts.Steps != before[q].Counts.Steps {
			return false
		}
		sent += reply.Counts.Sent
		received += reply.Counts.Received
	}
	return sent == received
}

// agreed reports whether all live processors agree.
func (c *conductor) agreed(wave []Reply) bool {
	decisions := make([]network.Decision, len(wave))
	for q, reply := range wave {
		if reply.Counts != nil {
			decisions[q] = reply.Counts.Decision
		}
	}
	return c.p.Judge(decisions, c.dead, nil).Agreed
}

// agreement is an agreement of all live processors, and the time for which it must last.
type agreement struct {
	stands bool
	counts []Counts // of live processors, when it began
	lasts  time.Duration
}

// settled reports whether an agreement has lasted: on every clock twice as long as the longest timer had to run when it began,
// and without a message but overhead.
func (a *agreement) settled(agreed bool, wave []Reply) bool {
	var counts []Counts
	longest, running := time.Duration(0), 0
	same, lasted := a.stands, true
	for _, reply := range wave {
		if reply.Counts == nil {
			continue
		}
		if n := len(counts); same {
			same = a.counts[n].Said == reply.Counts.Said && a.counts[n].Decision == reply.Counts.Decision
			lasted = lasted && reply.Counts.At-a.counts[n].At > a.lasts
		}
		counts = append(counts, *reply.Counts)
		longest = max(longest, reply.Counts.Left)
		running += reply.Counts.Running
	}
	if agreed && same {
		return running > 0 && lasted // without timers, quiescence is near
	}
	*a = agreement{agreed, counts, 2 * min(longest, 1<<60)}
	return false
}

// result combines the outcomes of the processors.
func (c *conductor) result(ended []Reply, begun time.Time) *Result {
	d := c.p.Declaration()
	r := &Result{Outcome: outcome.Outcome{Prepared: c.p}, Decisions: make([]network.Decision, len(ended))}
	var sent [16]uint64
	var elected, decided, quiet Moment
	for q, reply := range ended {
		o := reply.Outcome
		if o == nil {
			continue
		}
		r.Decisions[q] = o.Decision
		for _, fault := range o.Faults {
			r.Fault(fault)
		}
		for k, count := range o.Sent {
			sent[k] += count
		}
		if o.ByPhase != nil && r.ByPhase == nil {
			r.ByPhase = []uint64{}
		}
		for phase, count := range o.ByPhase {
			r.AddPhase(phase, count)
		}
		r.Deliveries += o.Deliveries
		r.Lost += o.Lost
		r.Markers += o.Markers
		r.Longest = max(r.Longest, o.Longest)
		elected, decided, quiet = later(elected, o.Elected), later(decided, o.Decided), later(quiet, o.Quiet)
	}
	since := func(m Moment) time.Duration { return max(0, time.Duration(m.Clock-begun.UnixNano())) }
	r.Elapsed = Moments{since(elected), since(decided), since(quiet)}
	switch d.Timing {
	case election.Timed:
		r.Unit, r.Assumed = c.o.Unit, c.assumed
	case election.Synchronous:
		r.Rounds = &Rounds{election.Units(elected.Round), election.Units(decided.Round), election.Units(quiet.Round)}
	}
	r.Messages = outcome.MessagesOf(d, sent[:])
	r.Verdict = c.p.Judge(r.Decisions, c.dead, func(q int) bool { return ended[q].Outcome != nil && ended[q].Outcome.Eligible })
	r.Right = r.Right && len(r.Faults) == 0
	return r
}
