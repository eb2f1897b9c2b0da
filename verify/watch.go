package verify

import (
	"errors"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/trace"
)

// Move is one transition between two configurations, as [Watch] shows it. States and messages have the types of the algorithm, and are
// shared between moves: they may only be read. Deadlines in them count from a clock that reads 0.
type Move struct {
	From, To int              // the numbers of the configurations; that of the first one is 0
	New      bool             // To is reached for the first time
	Event    trace.Event      // what happens; empty: time passes
	Process  int              // to which process, by position
	Peer     int              // Receive, Suspect: the position of the other process
	Kind     election.Kind    // Receive: of the message
	Message  any              // Receive: its contents
	Timer    election.Timer   // Timeout
	Command  election.Command // Command
	Time     election.Ticks   // that passes
	Life     uint64           // Crash: the number of the life that ends, if the algorithm has such numbers

	Before, After any               // the states of a process that makes a step; nil: it makes none
	Sent          []MoveSent        // by the step
	Effects       []election.Effect // of the step, without messages
	Amid          bool              // the process crashes amid the step: what the step made durable stays
}

// MoveSent is a message that a step sends.
type MoveSent struct {
	To      int // the position of the receiver
	Kind    election.Kind
	Message any
}

// ErrWatch reports that a step breaks the contract, or that the process panics in it.
var ErrWatch = errors.New("a step breaks the contract")

// Watch shows each transition that a run can make, breadth first, for who compares them with something else. It explores what [Run]
// does, on one core and without reductions. Properties are not judged. It ends when visit returns false, and no configuration beyond
// [Options.MaxStates] is explored. The result is how many were.
func Watch(a program.Program, o Options, visit func(*Move) bool) (states int, complete bool, err error) {
	program := process.Opened(a)
	o.Reduce = NoReduction
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return 0, false, err
	}
	c, err := newChecker(program, &o, o.Instance)
	if err != nil {
		return 0, false, err
	}
	w := &watcher{checker: c, found: map[string]int{}, sent: map[*outcome][]MoveSent{}}
	for _, conf := range w.beginnings() {
		w.reach(conf)
	}
	for at := 0; at < len(w.next); at++ {
		if o.MaxStates > 0 && at == o.MaxStates {
			return at, false, nil
		}
		conf, goes := w.next[at], true
		w.next[at] = nil
		w.transitions(conf, func(t *transition, next configuration) {
			switch {
			case !goes || err != nil:
			case t.outcome != nil && t.outcome.breach != nil:
				err = errors.Join(ErrWatch, errors.New(t.outcome.breach.Detail))
			default:
				m := w.move(t, conf)
				m.From = at
				m.To, m.New = w.reach(next)
				goes = visit(m)
			}
		})
		if !goes || err != nil {
			return at, false, err
		}
	}
	return len(w.next), true, nil
}

// watcher numbers all configurations.
type watcher struct {
	*checker
	found    map[string]int
	next     []configuration // nil: explored
	states   []any           // by number of the state
	messages []any           // by number of the message
	sent     map[*outcome][]MoveSent
}

func (w *watcher) reach(conf configuration) (number int, isNew bool) {
	var key []byte
	for _, part := range conf {
		key = append(key, byte(part), byte(part>>8), byte(part>>16), byte(part>>24))
	}
	number, known := w.found[string(key)]
	if !known {
		number = len(w.next)
		w.found[string(key)] = number
		w.next = append(w.next, slices.Clone(conf))
	}
	return number, !known
}

func (w *watcher) move(t *transition, conf configuration) *Move {
	m := &Move{Event: events[t.event], Process: t.process, Time: t.time, Amid: t.amid}
	switch t.event {
	case receives:
		message := w.queue(conf, t.link)[t.place].Message
		m.Peer, m.Kind, m.Message = w.links[t.link].from, w.checker.messages.values[message].Kind, w.message(message)
	case suspects:
		m.Peer = w.links[w.into[t.process][t.at]].from
	case timesOut:
		m.Timer = election.Timer(t.at)
	case obeys:
		m.Command = w.commands[t.at]
	case crashes:
		if w.has.Incarnation {
			m.Life = w.values.Incarnation(w.process(conf, t.process).State)
		}
	}
	if o := t.outcome; o != nil {
		m.Before, m.After = w.state(w.process(conf, t.process).State), w.state(w.processes.values[o.process].State)
		m.Sent, m.Effects = w.sentBy(t.process, o), o.effects
	}
	return m
}

func (w *watcher) sentBy(q int, o *outcome) []MoveSent {
	sent, known := w.sent[o]
	if !known {
		for _, s := range o.sent {
			to, _ := w.network.Network.End(w.network.Network.First(q) + uint32(s.port))
			sent = append(sent, MoveSent{to, w.checker.messages.values[s.message].Kind, w.message(s.message)})
		}
		w.sent[o] = sent
	}
	return sent
}

func (w *watcher) state(s process.State) any {
	return kept(&w.states, int(s), func() any { return w.values.StateValue(s) })
}

func (w *watcher) message(number uint32) any {
	return kept(&w.messages, int(number), func() any { return w.values.BodyValue(w.checker.messages.values[number].Body) })
}

// kept returns what a list has at a place, and makes it the first time.
func kept(list *[]any, at int, value func() any) any {
	for len(*list) <= at {
		*list = append(*list, nil)
	}
	if (*list)[at] == nil {
		(*list)[at] = value()
	}
	return (*list)[at]
}
