package verify

import (
	"errors"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify/internal/model"
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
	defer model.Halted(&err)
	program := process.Opened(a)
	o.Reduce = NoReduction
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return 0, false, err
	}
	c, err := model.NewChecker(program, o.model(), o.Setup)
	if err != nil {
		return 0, false, err
	}
	w := &watcher{Checker: c, found: map[string]int{}, sent: map[*model.Outcome][]MoveSent{}}
	for _, conf := range w.Beginnings() {
		w.reach(conf)
	}
	for at := 0; at < len(w.next); at++ {
		if o.MaxStates > 0 && at == o.MaxStates {
			return at, false, nil
		}
		conf, goes := w.next[at], true
		w.next[at] = nil
		w.Transitions(conf, func(t *model.Transition, next model.Configuration) {
			switch {
			case !goes || err != nil:
			case t.Outcome != nil && t.Outcome.Breach != nil:
				err = errors.Join(ErrWatch, errors.New(t.Outcome.Breach.Detail))
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
	*model.Checker
	found    map[string]int
	next     []model.Configuration // nil: explored
	states   []any                 // by number of the state
	messages []any                 // by number of the message
	sent     map[*model.Outcome][]MoveSent
}

func (w *watcher) reach(conf model.Configuration) (number int, isNew bool) {
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

func (w *watcher) move(t *model.Transition, conf model.Configuration) *Move {
	m := &Move{Event: model.Events[t.Event], Process: t.Process, Time: t.Time, Amid: t.Amid}
	switch t.Event {
	case model.Receives:
		message := w.Queue(conf, t.Link)[t.Place].Message
		m.Peer, m.Kind, m.Message = w.Links[t.Link].From, w.Checker.Messages.Values[message].Kind, w.message(message)
	case model.Suspects:
		m.Peer = w.Links[w.Into[t.Process][t.At]].From
	case model.TimesOut:
		m.Timer = election.Timer(t.At)
	case model.Obeys:
		m.Command = w.Commands[t.At]
	case model.Crashes:
		if w.Functions.Incarnation {
			m.Life = w.Values.Incarnation(w.Process(conf, t.Process).State)
		}
	}
	if o := t.Outcome; o != nil {
		m.Before, m.After = w.state(w.Process(conf, t.Process).State), w.state(w.Processes.Values[o.Process].State)
		m.Sent, m.Effects = w.sentBy(t.Process, o), o.Effects
	}
	return m
}

func (w *watcher) sentBy(q int, o *model.Outcome) []MoveSent {
	sent, known := w.sent[o]
	if !known {
		for _, s := range o.Sent {
			to, _ := w.Network.Network.End(w.Network.Network.First(q) + uint32(s.Port))
			sent = append(sent, MoveSent{to, w.Checker.Messages.Values[s.Message].Kind, w.message(s.Message)})
		}
		w.sent[o] = sent
	}
	return sent
}

func (w *watcher) state(s process.State) any {
	return kept(&w.states, int(s), func() any { return w.Values.StateValue(s) })
}

func (w *watcher) message(number uint32) any {
	return kept(&w.messages, int(number), func() any { return w.Values.BodyValue(w.Checker.Messages.Values[number].Body) })
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
