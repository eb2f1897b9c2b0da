package verify

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/verify/internal/model"
)

// Model is an election as tables, for other checkers: the states of each process, the messages, and every step that a
// run can make. It has the grain of this package: receiving, computing and sending are one step.
type Model struct {
	Declaration *election.Declaration
	Network     *network.Instance
	Locals      [][]Local // by process; the first is its initial state
	Messages    []string
	Links       []ModelLink
	Steps       []ModelStep
	States      int // of the whole election
	Transitions int
	Finals      int    // states without a next step
	Violated    string // a property that some run violates, and how; empty if none does
}

// Local is a state of one process.
type Local struct {
	Text    string
	Decided bool
	Leader  bool
}

// ModelLink is a directed link that carries messages.
type ModelLink struct {
	From, To int
	Room     int // the most messages at once
}

// ModelStep is a step of a process: it starts, or it receives a message.
type ModelStep struct {
	Process, From, To int // states of the process
	Link              int // that it receives on; -1: it starts, once all processes before it have started
	Message           int
	Sent              []ModelSent
}

// ModelSent is a message that a step sends.
type ModelSent struct{ Link, Message int }

// mostModel limits the states of a model, which another checker has to explore again.
const mostModel = 1 << 20

// ModelOf tabulates an asynchronous algorithm on one network, where all processes initiate first and no fault happens. An error
// that wraps [ErrOptions] reports other timing, timers, too many states, or a property that is violated.
func ModelOf(a program.Program, setup network.Setup) (of *Model, err error) {
	defer model.Halted(&err)
	program := process.Opened(a)
	wrong := func(why string) error { return fmt.Errorf("%w %s as a model: %s", ErrOptions, program.Name, why) }
	if program.Timing != election.Asynchronous || len(program.Timers) > 0 {
		return nil, wrong("only asynchronous algorithms without timers have one")
	}
	o := Options{Setup: setup}
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return nil, err
	}
	c, err := model.NewChecker(program, o.model(), setup)
	if err != nil {
		return nil, err
	}
	t := &tabulator{
		Checker: c, Model: Model{Declaration: c.Declaration, Network: c.Network, Locals: make([][]Local, c.N)},
		found: map[string]bool{}, local: map[uint32]int{}, links: map[int]int{}, steps: map[*model.Outcome]bool{},
	}
	if err := t.walk(); err != nil {
		return nil, wrong(err.Error())
	}
	return &t.Model, nil
}

// tabulator walks all configurations and notes each step once.
type tabulator struct {
	*model.Checker
	Model
	found map[string]bool
	next  []model.Configuration
	local map[uint32]int          // by number of the checker
	links map[int]int             // by number of the network
	steps map[*model.Outcome]bool // each step is computed once
	texts []string
}

func (t *tabulator) reach(conf model.Configuration) {
	var key []byte
	for _, part := range conf {
		key = append(key, byte(part), byte(part>>8), byte(part>>16), byte(part>>24))
	}
	if !t.found[string(key)] {
		t.found[string(key)] = true
		t.next = append(t.next, slices.Clone(conf))
	}
}

func (t *tabulator) walk() error {
	t.reach(t.Beginnings()[0])
	for q := range t.N {
		t.state(q, t.next[0][q])
	}
	var wrong *model.Breach
	for at := 0; at < len(t.next) && wrong == nil; at++ {
		conf := t.next[at]
		t.next[at] = nil
		end := true
		t.Checker.Transitions(conf, func(taken *model.Transition, next model.Configuration) {
			end = false
			if taken.Outcome != nil && taken.Outcome.Breach != nil {
				wrong = taken.Breach
				return
			}
			t.violated(taken.Breach)
			t.Model.Transitions++
			t.note(taken, conf)
			t.room(next)
			t.reach(next)
		})
		if end {
			t.Finals++
			t.violated(t.Settled(conf))
		}
		if len(t.next) > mostModel {
			return fmt.Errorf("more than %d states", mostModel)
		}
	}
	if wrong != nil {
		return fmt.Errorf("%s, %s; verify shows the run", wrong.Property, wrong.Detail)
	}
	t.Model.States = len(t.next)
	t.Model.Messages = t.texts
	return nil
}

// violated notes a violation, the first of a breadth-first search.
func (t *tabulator) violated(b *model.Breach) {
	if b != nil && t.Violated == "" {
		t.Violated = b.Property + ": " + b.Detail
	}
}

// state returns the place of a process's state in its table.
func (t *tabulator) state(q int, number uint32) int {
	place, found := t.local[number]
	if !found {
		place = len(t.Locals[q])
		t.local[number] = place
		p := &t.Processes.Values[number]
		t.Locals[q] = append(t.Locals[q], Local{
			Text: t.Values.StateText(p.State), Decided: p.Decision.Role != network.Undecided, Leader: p.Decision.Role == network.Leader,
		})
	}
	return place
}

// link returns the place of a link in the table.
func (t *tabulator) link(number int) int {
	place, found := t.links[number]
	if !found {
		place = len(t.Model.Links)
		t.links[number] = place
		l := t.Checker.Links[number]
		t.Model.Links = append(t.Model.Links, ModelLink{From: l.From, To: l.To})
	}
	return place
}

// message returns the place of a message, which is that of the checker.
func (t *tabulator) message(number uint32) int {
	for len(t.texts) <= int(number) {
		m := t.Checker.Messages.Values[len(t.texts)]
		t.texts = append(t.texts, network.MessageText(t.Checker.Declaration.Kinds[m.Kind].Name, t.Values.Contents(m.Kind, m.Body)))
	}
	return int(number)
}

// note adds a step to the tables.
func (t *tabulator) note(taken *model.Transition, conf model.Configuration) {
	if t.steps[taken.Outcome] {
		return
	}
	t.steps[taken.Outcome] = true
	s := ModelStep{Process: taken.Process, Link: -1}
	if taken.Event == model.Receives {
		s.Message = t.message(t.Queue(conf, taken.Link)[taken.Place].Message)
		s.Link = t.link(taken.Link)
	}
	s.From, s.To = t.state(taken.Process, conf[taken.Process]), t.state(taken.Process, taken.Outcome.Process)
	first := int(t.Checker.Network.Network.First(taken.Process))
	for _, m := range taken.Outcome.Sent {
		s.Sent = append(s.Sent, ModelSent{t.link(first + int(m.Port)), t.message(m.Message)})
	}
	t.Steps = append(t.Steps, s)
}

// room notes how many messages links hold.
func (t *tabulator) room(conf model.Configuration) {
	for number := range t.Checker.Links {
		if length := len(t.Queue(conf, number)); length > 0 {
			l := &t.Model.Links[t.link(number)]
			l.Room = max(l.Room, length)
		}
	}
}
