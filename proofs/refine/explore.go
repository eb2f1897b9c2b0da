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

// comparison is what a state of a model is kept for, beside a state of the code.
type comparison[S any] interface {
	begin() S
	move(s S, m *verify.Move) (S, error)
	check(s S) error  // whether the invariants hold
	collected() error // ends the collection, which comes first
}

// Explore compares each transition that package verify visits with the model, in timed runs with right clocks. The error is a *Failure
// with the moves that lead to it, if the code does what the model does not allow.
func Explore(a algorithm, o verify.Options, first int) (*Explored, error) {
	c, err := NewChecker(int(o.Setup.IDs.Len()), first, Right{})
	if err != nil {
		return nil, err
	}
	e, err := explore[*State](&timed{c, o.Wardens}, a, o)
	if e != nil {
		e.Happened = c.Happened
		e.Things = fmt.Sprintf("%d lives, %d claims, %d voters", len(c.lives.all), len(c.claims.all), len(c.voters.all))
	}
	return e, err
}

// ExploreVerified does so with proofs/verify-leader.model, whatever clocks do.
func ExploreVerified(a algorithm, o verify.Options) (*Explored, error) {
	v, err := newVerifier(a, int(o.Setup.IDs.Len()))
	if err != nil {
		return nil, err
	}
	e, err := explore[*verification](v, a, o)
	if e != nil {
		e.Happened, e.Things = v.Happened, fmt.Sprintf("%d claims", len(v.claims.all))
	}
	return e, err
}

// explorer keeps the state of the model for each configuration that is not explored yet.
type explorer[S any] struct {
	with comparison[S]
	Explored
	judges bool           // it collects no more
	states []S            // by number of the configuration
	firsts []*verify.Move // likewise: how it was reached first; nil: it is the first one
	from   int            // states of smaller numbers are not needed any more
}

func explore[S any](c comparison[S], a algorithm, o verify.Options) (*Explored, error) {
	program, err := process.Of(&a)
	if err != nil {
		return nil, err
	}
	e := &explorer[S]{with: c}
	if err := e.explore(program, o); err != nil {
		return &e.Explored, err
	}
	if err := c.collected(); err != nil {
		return &e.Explored, err
	}
	e.judges = true
	return &e.Explored, e.explore(program, o)
}

func (e *explorer[S]) explore(program *process.Program, o verify.Options) error {
	e.states, e.firsts, e.from, e.Transitions = []S{e.with.begin()}, []*verify.Move{nil}, 0, 0
	var failure error
	var none S
	states, complete, err := verify.Watch(program, o, func(m *verify.Move) bool {
		e.Transitions++
		for ; e.from < m.From; e.from++ {
			e.states[e.from] = none
		}
		next, err := e.with.move(e.states[m.From], m)
		if err == nil && m.New && e.judges {
			err = e.with.check(next)
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
	if err == nil && e.judges { // else the model tells it better
		err = failure
	}
	return err
}

// because adds the moves that led to a failure.
func (e *explorer[S]) because(err error, m *verify.Move) error {
	told := []string{text(m)}
	for first := e.firsts[m.From]; first != nil; first = e.firsts[first.From] {
		told = append(told, text(first))
	}
	slices.Reverse(told)
	return &Failure{Text: err.Error() + "\n" + strings.Join(told, "\n")}
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

// timed compares timed runs with a [Checker].
type timed struct {
	*Checker
	wardens bool
}

func (c *timed) begin() *State        { return c.Begin() }
func (c *timed) collected() error     { return c.Collected() }
func (c *timed) check(s *State) error { return c.Check(s, 0) }

func (c *timed) move(s *State, m *verify.Move) (next *State, err error) {
	id := election.ID(m.Process + 1)
	switch {
	case m.Event == "":
		return c.Pass(s, s.now+int(m.Time.Lo))
	case m.Event == trace.Crash && m.Before == nil:
		return c.Crash(s, id, m.Life, c.wardens)
	case m.Before == nil:
		return s, nil
	}
	step := stepOf(m)
	step.At = s.now
	next, err = c.Observe(s, step)
	if err == nil && m.Amid {
		return c.Crash(next, id, step.After.Kept.Incarnation, c.wardens)
	}
	return next, err
}

func (v *Verifier) move(s *verification, m *verify.Move) (*verification, error) {
	if m.Before == nil {
		return s, nil
	}
	return v.observe(s, stepOf(m))
}

// stepOf returns the step of a move that has one.
func stepOf(m *verify.Move) *Step {
	before, after := m.Before.(quorumbully.Process), m.After.(quorumbully.Process)
	step := &Step{
		Member: election.ID(m.Process + 1), Event: m.Event, From: election.ID(m.Peer + 1), Kind: m.Kind, Timer: m.Timer, Command: m.Command,
		Before: &before, After: &after, Effects: m.Effects, Shares: shares(&after, election.Ticks{}),
	}
	if message, is := m.Message.(quorumbully.Message); is {
		step.Message = &message
	}
	for _, sent := range m.Sent {
		message := sent.Message.(quorumbully.Message)
		step.Sent = append(step.Sent, Sent{election.ID(sent.To + 1), sent.Kind, &message})
	}
	return step
}
