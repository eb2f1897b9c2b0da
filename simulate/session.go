package simulate

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"ringleader.example/ringleader/outcome"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate/internal/queues"
	"ringleader.example/ringleader/trace"
)

// Session is a run in which the caller chooses each event, forward and back. The caller is the schedule, and faults
// are choices too. The rules of the network hold: a link delivers its messages in order, unless [faults.Script.Unordered]
// allows otherwise; a message of a timed run takes 1 to Delay units; a unit of a synchronous run is first messages,
// by port, then starts, then timers; Choices lists the first process with such an event, and Step takes those of others, too. A failure
// detector errs only if the caller chooses so.
type Session struct {
	run      *run
	queues   [][]parcel         // by link; a queue is replaced, never written to
	asleep   []bool             // by position: it has yet to start by itself
	suspect  []bool             // by link: its sender suspects the process at its end
	alarms   []alarm            // by process and timer
	working  []bool             // by position: its host is to stop its work, and has not
	cuts     []string           // in force; replaced, never written to
	severed  []int              // by link: the number of cuts in force
	proofs   []election.Command // the deaths that wardens have proven; replaced, never written to
	dies     int                // Choice.Dies of the current event
	drawn    bool               // the random choices of the current step come from rest, and not from the seed
	rest     uint64             // of Choice.Draw
	recorded bool               // it began at a moment
	late     bool               // synchronous: the timers of this unit have begun
	free     []int              // slots that hold no state

	forgets             bool  // only the last event can be taken back
	replacing, replaced []int // slots whose states the current event has replaced, and the one before

	made []Choice
	past [][]func() // the functions that undo each event, last change last
	undo []func()   // … the current event
}

// parcel is a message under way.
type parcel struct {
	queues.Letter
	number uint32 // in the record
	sent   election.Ticks
}

// alarm is a timer.
type alarm struct {
	runs     bool
	at       election.Ticks // by its clock, all of which are alike but in lazy time; Forever: never
	deadline bool           // it is set at a deadline
}

// Choice is an event that can come next.
type Choice struct {
	What    Happening
	Process int              // position; of Pass 0
	Link    uint32           // Deliver, Lose, Duplicate: of the message; Distrust, Trust: from Process to the other one
	Place   int              // Deliver, Lose, Duplicate: of the message in the queue of its link, the oldest is 0
	Timer   election.Timer   // Expire
	Time    election.Ticks   // Pass: how long; Gain: how much
	Cut     string           // Sever, Mend: the cut as [faults.Cut.Text] writes it; Process is the first one named
	Command election.Command // Ask

	// Dies makes the process crash amid the step, after Dies - 1 of its messages have left, if it sends more. With 0 it does not crash.
	Dies int

	// State is, of a recorded run, the state in which a process recovers, as [trace.Standing] has it; empty: that of what is durable.
	State string
	Life  uint64 // … and the number that its host gives to the new life

	// Draw determines the random choices of the step: Draw - 1 is a number whose digits are the values, the first one
	// least, each to the base of how many values there are. With 0 the seed determines them.
	Draw uint64
}

// Happening is the kind of event of a choice.
type Happening uint8

// The events that a run needs, and then faults and commands.
const (
	Begin Happening = iota // the process starts by itself
	Deliver
	Expire
	Pass  // time passes
	Cease // the host of the process has stopped the work that it was to stop
	Fail  // the process crashes
	Revive
	Lose
	Duplicate
	Distrust // the failure detector of the process suspects another one
	Trust
	Abdicate // the host of the process asks it to resign
	Sever    // a cut begins
	Mend     // … and ends
	Hasten   // the deadlines of the process come a step early, in lazy time
	Ask      // the host of the process gives it a command with an argument: Transfer, Weigh, or Died where wardens prove deaths
	Gain     // of a recorded run in lazy time: the clocks of the process gain, since they were faster than those of others
)

func (h Happening) String() string {
	return [...]string{"start", "deliver", "expire", "pass", "stop", "crash", "recover", "lose", "duplicate", "suspect", "trust", "resign", "cut", "heal", "hasten", "command", "gain"}[h]
}

// ErrChoice reports that an event cannot come next.
var ErrChoice = errors.New("this cannot happen now")

// NewSession begins a run in which the caller chooses the events. It uses these options: the setup, timing, delay,
// seed (of the processes' choices), initiators, AnyTime, wardens, the crashed processes, whether messages may
// overtake each other, the moment, the pace, and whether the record has lines.
func NewSession[S, M any](a election.Algorithm[S, M], o Options) (*Session, error) {
	runner, err := Of(&a)
	if err != nil {
		return nil, err
	}
	return runner.Session(o)
}

// Session is [NewSession].
func (g *Runner) Session(o Options) (s *Session, err error) {
	defer g.refuses(&err)
	unordered := o.Faults.Unordered
	o = Options{
		Setup: o.Setup, Timing: o.Timing, Delay: o.Delay, Seed: o.Seed, Initiators: o.Initiators, AnyTime: o.AnyTime,
		Wardens: o.Wardens, Faults: faults.Script{Dead: o.Faults.Dead}, Record: true, Lines: o.Lines, Moment: o.Moment, Pace: o.Pace,
	}
	r, err := g.newRun(o)
	if err != nil {
		return nil, err
	}
	if r.o.Faults.Unordered = unordered; unordered && r.o.Timing == election.Synchronous {
		return nil, fmt.Errorf("%w %s: a synchronous run keeps the order of messages", ErrOptions, r.Declaration.Name)
	}
	n := r.Instance.Size()
	if r.Dead == nil {
		r.Dead = make([]bool, n)
	}
	s = &Session{run: r}
	r.choose = s.choosing(r.choose)
	r.processes()
	r.Record.Header.Schedule, r.Record.Header.Clock = "", r.o.Timing != election.Asynchronous
	r.Slots = make([]int, n)
	for p := range r.Slots {
		r.Slots[p] = p
	}
	if r.Record.Header.Clock {
		r.Time = &outcome.Times{}
	}
	s.queues, s.suspect, s.severed = make([][]parcel, r.Network.Links()), make([]bool, r.Network.Links()), make([]int, r.Network.Links())
	s.asleep, s.working, s.alarms = make([]bool, n), make([]bool, n), make([]alarm, n*len(r.Declaration.Timers))
	for p := range r.initiators {
		s.asleep[p] = true
	}
	if o.Moment != nil {
		return s, s.resume(o.Moment)
	}
	return s, nil
}

// choosing returns what steps choose values with: the current event's Draw, or else the seed.
func (s *Session) choosing(seeded func(uint32) uint32) func(uint32) uint32 {
	return func(n uint32) (value uint32) {
		if !s.drawn || n == 0 {
			value = seeded(n)
		} else {
			value = uint32(s.rest % uint64(n))
			s.rest /= uint64(n)
		}
		return value
	}
}

// Size returns the number of processes.
func (s *Session) Size() int { return s.run.Instance.Size() }

// Made returns the events so far.
func (s *Session) Made() []Choice { return slices.Clone(s.made) }

// Now returns the time, if the run has a clock.
func (s *Session) Now() election.Ticks { return s.run.Now }

// State returns the state of the process at a position as text.
func (s *Session) State(position int) string { return s.run.StateText(position) }

// Record returns the record of the run so far. The next event, or Back, changes it.
func (s *Session) Record() *trace.Record { return &s.run.Record.Record }

// Result returns the result of the run, judged as if it ended now. It is complete if only faults can come, or further starts of [Options.AnyTime].
func (s *Session) Result() *Result {
	r, result := *s.run, *s.run.result
	if r.Time != nil {
		r.Time = new(*r.Time)
	}
	r.Decisions, result.ByPhase, result.Faults = slices.Clone(r.Decisions), slices.Clone(result.ByPhase), slices.Clone(result.Faults)
	r.result, r.Outcome = &result, &result.Outcome
	r.finish()
	result.Record = &trace.Record{Header: s.run.Record.Header, Steps: slices.Clone(s.run.Record.Steps)}
	begun := r.o.AnyTime && slices.ContainsFunc(s.made, func(c Choice) bool { return c.What == Begin })
	result.Complete = len(s.Choices()) == 0 || begun && len(s.due(false)) == 0
	return &result
}

// Text returns a choice in words.
func (s *Session) Text(c Choice) string {
	r := s.run
	at := r.Instance.Name(c.Process)
	message := func() string {
		from, _ := r.Network.End(r.Network.Back(c.Process, s.entry(c)))
		sent := r.Record.Sent[s.queues[c.Link][c.Place].number-1]
		return fmt.Sprintf("%s from %s to %s", network.MessageText(sent.Kind, sent.Text), r.Instance.Name(from), at)
	}
	other := func() string {
		q, _ := r.Network.End(c.Link)
		return r.Instance.Name(q)
	}
	switch c.What {
	case Begin:
		return at + " initiates"
	case Deliver, Lose, Duplicate:
		return c.What.String() + " " + message()
	case Expire:
		return fmt.Sprintf("%s of %s expires", trace.TimerText(r.Declaration.Timers[c.Timer]), at)
	case Pass:
		return fmt.Sprintf("time passes until %s", r.Now.Add(c.Time))
	case Fail:
		return at + " crashes"
	case Revive:
		return at + " recovers"
	case Distrust:
		return at + " suspects " + other()
	case Trust:
		return at + " trusts " + other() + " again"
	case Cease:
		return "the work of " + at + " has stopped"
	case Sever:
		return c.Cut + " begins"
	case Mend:
		return c.Cut + " ends"
	case Hasten:
		return "the deadlines of " + at + " come a step early"
	case Gain:
		return fmt.Sprintf("the clocks of %s gain %s", at, c.Time)
	case Ask:
		r.Processes.Commands(c.Command)
		return at + " is asked to " + r.Processes.CommandText()
	}
	return at + " is asked to resign"
}

// Message returns the number of the message, in the record, that a choice delivers, loses or duplicates; 0 for other choices.
func (s *Session) Message(c Choice) int {
	switch c.What {
	case Deliver, Lose, Duplicate:
		return int(s.queues[c.Link][c.Place].number)
	}
	return 0
}

// entry is the port at which the message of a choice arrives.
func (s *Session) entry(c Choice) election.Port {
	_, port := s.run.Network.End(c.Link)
	return port
}

// Step applies an event. The error is an [ErrChoice], or a [Violation] or [election.ErrTime] if the step of the
// algorithm failed; then nothing has happened.
func (s *Session) Step(c Choice) (err error) {
	if !s.possible(c) {
		return fmt.Errorf("%w: %s at %s", ErrChoice, c.What, s.run.Instance.Name(min(max(c.Process, 0), s.run.Instance.Size()-1)))
	}
	s.begin(c.Process)
	s.replacing = nil
	s.drawn, s.rest = c.Draw > 0, max(c.Draw, 1)-1
	defer func() {
		if err != nil {
			s.rollBack(s.undo)
		}
	}()
	defer s.run.runner.refuses(&err)
	s.run.attempt(func() { s.do(c) })
	if s.forgets {
		s.past, s.free, s.replaced = s.past[:0], append(s.free, s.replaced...), s.replacing
	}
	s.made, s.past = append(s.made, c), append(s.past, s.undo)
	return nil
}

// Back takes the last event back. It reports false if there was none.
func (s *Session) Back() bool {
	last := len(s.past) - 1
	if last < 0 {
		return false
	}
	s.rollBack(s.past[last])
	s.past, s.made, s.replaced = s.past[:last], s.made[:len(s.made)-1], nil
	return true
}

// Forget makes a session that has not begun forget how to take events back, except the last one. Then a walk of many events takes
// little memory.
func (s *Session) Forget() { s.forgets = true }

func (s *Session) rollBack(changes []func()) {
	for _, change := range slices.Backward(changes) {
		change()
	}
}

// begin saves the parts of the run that an event at a process may change.
func (s *Session) begin(p int) {
	r := s.run
	saved, result, choices, record := *r, *r.result, *r.choices, *r.Record
	byPhase, groups := slices.Clone(r.result.ByPhase), maps.Clone(r.Groups)
	var times outcome.Times
	if r.Time != nil {
		times = *r.Time
	}
	s.undo = []func(){func() {
		*r, *saved.result, *saved.choices, *saved.Record = saved, result, choices, record
		r.result.ByPhase, r.Groups = byPhase, groups
		if r.Time != nil {
			*r.Time = times
		}
	}}
	change(s, &r.Decisions[p], r.Decisions[p])
	if r.Leases != nil {
		before := r.Leases.Clone()
		s.undo = append(s.undo, func() { *r.Leases = *before })
	}
}

// change writes to a place, and saves the old value.
func change[T any](s *Session, place *T, to T) {
	was := *place
	s.undo = append(s.undo, func() { *place = was })
	*place = to
}

func (s *Session) do(c Choice) {
	r, p := s.run, c.Process
	s.dies = c.Dies
	switch c.What {
	case Begin:
		change(s, &s.asleep[p], false)
		s.react(p, process.Event{What: process.Started}, trace.Step{Event: trace.Start, Port: -1})
	case Deliver:
		s.deliver(c)
	case Expire:
		change(s, &s.late, r.o.Timing == election.Synchronous)
		change(s, &s.alarms[p*len(r.Declaration.Timers)+int(c.Timer)], alarm{})
		s.react(p, process.Event{What: process.Expired, Timer: c.Timer}, trace.Step{Event: trace.Timeout, Port: -1, Text: r.Declaration.Timers[c.Timer]})
	case Pass:
		change(s, &s.late, false)
		r.Now = r.Now.Add(c.Time)
	case Fail:
		s.crash(p, "")
	case Revive:
		s.revive(p, c.State, c.Life)
	case Lose:
		s.lose(p, s.take(c))
	case Duplicate:
		m := s.queues[c.Link][c.Place]
		r.Duplicated++
		step := r.Record.Sending(int(m.number))
		sent := slices.Clone(step.Sent)
		sent[int(m.number)-sent[0].Message].Copies++
		change(s, &step.Sent, sent)
		change(s, &s.queues[c.Link], slices.Insert(slices.Clone(s.queues[c.Link]), c.Place+1, m))
	case Distrust, Trust:
		s.detect(c)
	case Cease:
		change(s, &s.working[p], false)
		r.Stops(p, false)
		s.obey(p, election.Command{Order: election.Stopped})
	case Abdicate:
		s.obey(p, election.Command{Order: election.Resign})
	case Ask:
		s.obey(p, c.Command)
	case Sever, Mend:
		s.cut(c)
	case Hasten:
		s.hasten(p)
	case Gain:
		change(s, &r.Lazy.Ahead[p], r.Lazy.Ahead[p].Add(c.Time))
	}
}

func (s *Session) obey(p int, asks election.Command) {
	s.run.Processes.Commands(asks)
	s.react(p, process.Event{What: process.Commanded}, trace.Step{Event: trace.Command, Port: -1, Text: s.run.Processes.CommandText()})
}

// take takes a message off its link.
func (s *Session) take(c Choice) parcel {
	m := s.queues[c.Link][c.Place]
	change(s, &s.queues[c.Link], slices.Delete(slices.Clone(s.queues[c.Link]), c.Place, c.Place+1))
	return m
}

func (s *Session) deliver(c Choice) {
	r, m := s.run, s.take(c)
	to, port := r.Network.End(c.Link)
	if s.severed[c.Link] > 0 {
		s.lose(to, m)
		return
	}
	r.Deliveries++
	if r.Time != nil {
		r.Time.Quiet = r.Now
	}
	if r.Dead[to] {
		s.lose(to, m)
		return
	}
	s.react(to, process.Event{What: process.Received, Port: port, Kind: m.Kind(), Message: m.Message},
		trace.Step{Event: trace.Receive, Port: int(port), Message: int(m.number)})
}

// lose records that a message to a process is lost.
func (s *Session) lose(to int, m parcel) {
	if !s.run.Dead[to] {
		s.run.result.Lost++
	}
	s.run.Note(to, trace.Step{Event: trace.Lost, Port: -1, Message: int(m.number)})
}

// fresh copies the state of a process into a slot of its own, for writing.
func (s *Session) fresh(p int) {
	r, last := s.run, len(s.free)-1
	var slot int
	if last < 0 {
		slot = r.Processes.Grow(1)
	} else {
		slot, s.free = s.free[last], s.free[:last]
	}
	r.Processes.Copy(slot, r.Slots[p])
	s.replacing = append(s.replacing, r.Slots[p])
	s.undo = append(s.undo, func() { s.free = append(s.free, slot) })
	change(s, &r.Slots[p], slot)
}

// react makes the step of a process for an event.
func (s *Session) react(p int, e process.Event, what trace.Step) {
	r := s.run
	s.fresh(p)
	r.Delivers(what.Message)
	r.Happens(p, e)
	sent := slices.Clone(r.Effects.Sent)
	s.undo = append(s.undo, func() {
		for _, m := range sent {
			r.Processes.Release(m.Message)
		}
	})
	r.Check(p)
	if r.Unsent = 0; s.dies > 0 {
		r.Unsent = max(0, len(sent)-s.dies+1)
	}
	r.Note(p, what)
	var cut []parcel
	for i := range r.Leaving() {
		m := &sent[i]
		r.Count(m)
		link := m.On()
		parcel := parcel{queues.Letter{Link: m.Link, Message: m.Message}, uint32(r.Number(i)), r.Now}
		if s.severed[link] > 0 {
			cut = append(cut, parcel)
			continue
		}
		change(s, &s.queues[link], append(slices.Clip(s.queues[link]), parcel))
	}
	s.apply(p)
	for _, m := range cut {
		to, _ := r.Network.End(m.On())
		s.lose(to, m)
	}
}

// apply applies the effects of a step that follow its messages, or crashes the process.
func (s *Session) apply(p int) {
	r := s.run
	if r.Unsent > 0 {
		text := trace.Amid(len(r.Leaving()), len(r.Effects.Sent))
		r.Unsent = 0
		s.crash(p, text)
		return
	}
	for _, effect := range r.Effects.Other {
		switch effect.Op {
		case election.SetTimer, election.StopTimer:
			s.alarm(p, effect)
		case election.StopWork:
			change(s, &s.working[p], true)
			r.Stops(p, true)
		default:
			r.Decide(p, effect)
		}
	}
	r.Settle(p)
}

func (s *Session) alarm(p int, e election.Effect) {
	a := alarm{}
	if e.Op == election.SetTimer {
		now := s.clock(p, e.Deadline)
		a = alarm{true, election.Forever, e.Deadline}
		if e.Ticks.Less(election.Forever.Sub(now)) {
			a.at = now.Add(e.Ticks)
		}
	}
	change(s, &s.alarms[p*len(s.run.Declaration.Timers)+int(e.Timer)], a)
}
