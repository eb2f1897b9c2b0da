package refine

import (
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// Explored is how much was compared.
type Explored struct {
	States, Transitions int
	Complete            bool
	Things              string         // of the model: how many
	Happened            map[string]int // by action
}

// Explore compares each transition that package verify visits with the model, in timed runs with right clocks. The error is a *Failure
// with the moves that lead to it, if the code does what the model does not allow.
func Explore(a election.Algorithm[quorumbully.Process, quorumbully.Message], o verify.Options, first int) (*Explored, error) {
	program, err := process.Of(&a)
	if err != nil {
		return nil, err
	}
	c, err := NewChecker(int(o.Instance.IDs.Len()), first, Right{})
	if err != nil {
		return nil, err
	}
	e := &explorer{Checker: c, wardens: o.Wardens, Explored: &Explored{Happened: c.Happened}}
	for range 2 {
		if err := e.explore(program, o); err != nil {
			return e.Explored, err
		}
		if c.instance == nil {
			if err := c.Collected(); err != nil {
				return e.Explored, err
			}
		}
	}
	e.Things = fmt.Sprintf("%d lives, %d claims, %d voters", len(c.lives.all), len(c.claims.all), len(c.voters.all))
	return e.Explored, nil
}

// explorer keeps the state of the model for each configuration that is not explored yet.
type explorer struct {
	*Checker
	*Explored
	wardens bool
	states  []*State       // by number of the configuration
	firsts  []*verify.Move // likewise: how it was reached first; nil: it is the first one
	from    int            // states of smaller numbers are not needed any more
}

func (e *explorer) explore(program *process.Program, o verify.Options) error {
	e.states, e.firsts, e.from, e.Transitions = []*State{e.Begin()}, []*verify.Move{nil}, 0, 0
	var failure error
	states, complete, err := verify.Watch(program, o, func(m *verify.Move) bool {
		e.Transitions++
		for ; e.from < m.From; e.from++ {
			e.states[e.from] = nil
		}
		next, err := e.make(e.states[m.From], m)
		if err == nil && m.New && e.instance != nil {
			err = e.Check(next, 0)
		}
		if err != nil {
			failure = e.because(err, m)
			return false
		}
		if m.New {
			e.states, e.firsts = append(e.states, next), append(e.firsts, m)
		}
		return true
	})
	e.States, e.Complete = states, complete
	if err == nil && e.instance != nil { // else the model tells it better
		err = failure
	}
	return err
}

// because adds the moves that led to a failure.
func (e *explorer) because(err error, m *verify.Move) error {
	told := []string{text(m)}
	for first := e.firsts[m.From]; first != nil; first = e.firsts[first.From] {
		told = append(told, text(first))
	}
	slices.Reverse(told)
	return &Failure{err.Error() + "\n" + strings.Join(told, "\n")}
}

func text(m *verify.Move) string {
	switch m.Event {
	case "":
		return fmt.Sprintf("%v pass", m.Time)
	case trace.Receive:
		return fmt.Sprintf("%d receives kind %d of %d: %+v", m.Process+1, m.Kind, m.Peer+1, m.Message)
	case trace.Timeout:
		return fmt.Sprintf("%d: timer %d", m.Process+1, m.Timer)
	case trace.Command:
		return fmt.Sprintf("%d: command %+v", m.Process+1, m.Command)
	}
	return fmt.Sprintf("%d: %s", m.Process+1, m.Event)
}

// make makes a move in the model.
func (e *explorer) make(s *State, m *verify.Move) (next *State, err error) {
	id := election.ID(m.Process + 1)
	switch {
	case m.Event == "":
		return e.Pass(s, s.now+int(m.Time.Lo))
	case m.Event == trace.Crash && m.Before == nil:
		return e.Crash(s, id, m.Life, e.wardens)
	case m.Before == nil:
		return s, nil
	}
	before, after := m.Before.(quorumbully.Process), m.After.(quorumbully.Process)
	step := &Step{
		At: s.now, Member: id, Event: m.Event, From: election.ID(m.Peer + 1), Kind: m.Kind, Timer: m.Timer, Command: m.Command,
		Before: &before, After: &after, Effects: m.Effects, Shares: shares(&after, election.Ticks{}),
	}
	if message, is := m.Message.(quorumbully.Message); is {
		step.Message = &message
	}
	for _, sent := range m.Sent {
		message := sent.Message.(quorumbully.Message)
		step.Sent = append(step.Sent, Sent{election.ID(sent.To + 1), sent.Kind, &message})
	}
	next, err = e.Observe(s, step)
	if err == nil && m.Amid {
		return e.Crash(next, id, after.Kept.Incarnation, e.wardens)
	}
	return next, err
}
