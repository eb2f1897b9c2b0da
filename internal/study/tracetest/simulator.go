package tracetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// Options are the options of a run. A message takes a unit, and so does the detection of a crash.
type Options struct {
	Clock    bool  // whether the record shows the time
	Starts   []int // positions; nil: all
	Crashes  []Fault
	Recovers []Fault
}

// Fault is a crash or a recovery of a process.
type Fault struct{ Position, Time int }

// pending is something that will happen.
type pending[M any] struct {
	time, number int
	event        trace.Event
	process      int
	port         election.Port // receive, suspect
	kind         election.Kind // receive
	m            M
	message      int
	from         int // + 1
	timer        election.Timer
}

// The order of what happens at one time.
var order = []trace.Event{trace.Crash, trace.Recover, trace.Receive, trace.Start, trace.Suspect, trace.Timeout}

// simulation is a run under way.
type simulation[S, M any] struct {
	algorithm *election.Algorithm[S, M]
	on        *network.Instance
	text      func(*network.Instance, M) string
	options   Options
	record    *trace.Record

	states  []S
	dead    []bool
	running map[[2]int]int // timers by process: the number of what will happen
	queue   []pending[M]
	added   int // to the queue
	sent    int
	effects election.Collector[M]
}

// simulate runs an algorithm.
func simulate[S, M any](t testing.TB, a *election.Algorithm[S, M], text func(*network.Instance, M) string, o Options, ids ...uint64) *trace.Record {
	t.Helper()
	on, err := network.Prepare(&a.Declaration, network.On(ids...))
	if err != nil {
		t.Fatal(err)
	}
	s := &simulation[S, M]{
		algorithm: a, on: on, text: text, options: o, record: &trace.Record{Header: header(a.Declaration, on, o)},
		dead: make([]bool, on.Size()), running: map[[2]int]int{},
	}
	s.schedule()
	for len(s.queue) > 0 {
		s.step(s.next())
	}
	return s.record
}

func header(a election.Declaration, on *network.Instance, o Options) trace.Header {
	h := trace.Header{
		Format: trace.Format, Algorithm: a.Name, Title: a.Title, Topology: a.Topology.String(), N: on.Size(),
		Timing: a.Timing.String(), Seed: 1, Clock: o.Clock,
	}
	if !o.Clock {
		h.Schedule = "fifo"
	}
	for _, name := range on.Parameters.Names() {
		if h.Parameters == nil {
			h.Parameters = map[string]string{}
		}
		h.Parameters[name] = on.Parameters.Text(name)
	}
	for _, k := range a.Kinds {
		h.Kinds = append(h.Kinds, trace.Kind{Name: k.Name, Class: k.Class.String()})
	}
	for p := range h.N {
		h.IDs = append(h.IDs, on.Real(p))
	}
	return h
}

// schedule makes the processes, and adds their events.
func (s *simulation[S, M]) schedule() {
	for p := range s.dead {
		s.states = append(s.states, s.algorithm.New(s.on.Local(p)))
		if s.options.Starts == nil || slices.Contains(s.options.Starts, p) {
			s.add(pending[M]{event: trace.Start, process: p})
		}
	}
	for _, f := range s.options.Crashes {
		s.add(pending[M]{time: f.Time, event: trace.Crash, process: f.Position})
		for p := range s.dead {
			if s.algorithm.Suspect != nil && p != f.Position {
				s.add(pending[M]{time: f.Time + 1, event: trace.Suspect, process: p, port: election.Port(f.Position), from: f.Position + 1})
			}
		}
	}
	for _, f := range s.options.Recovers {
		s.add(pending[M]{time: f.Time, event: trace.Recover, process: f.Position})
	}
}

func (s *simulation[S, M]) add(p pending[M]) int {
	s.added++
	p.number = s.added
	s.queue = append(s.queue, p)
	return p.number
}

// next takes the earliest out of the queue.
func (s *simulation[S, M]) next() pending[M] {
	next := slices.MinFunc(s.queue, func(x, y pending[M]) int {
		return cmp.Or(cmp.Compare(x.time, y.time),
			cmp.Compare(slices.Index(order, x.event), slices.Index(order, y.event)), cmp.Compare(x.number, y.number))
	})
	s.queue = slices.DeleteFunc(s.queue, func(x pending[M]) bool { return x.number == next.number })
	return next
}

// step applies an event and records it, unless it is void.
func (s *simulation[S, M]) step(next pending[M]) {
	r := trace.Step{Number: len(s.record.Steps) + 1, Process: next.process, Event: next.event, Port: -1}
	if s.options.Clock {
		r.Time = election.Units(uint64(next.time))
	}
	s.effects.At(s.on.Network.First(next.process))
	if !s.happen(next, &r) {
		return
	}
	s.send(next, &r)
	s.other(next, &r)
	s.effects.Reset()
	s.record.Steps = append(s.record.Steps, r)
}

// happen hands an event to its process. It returns false if the event is void: a suspicion or timeout of a crashed
// process, or a timer that was set again or stopped.
func (s *simulation[S, M]) happen(next pending[M], r *trace.Step) bool {
	a, p, out := s.algorithm, next.process, s.effects.Out()
	switch next.event {
	case trace.Crash:
		s.dead[p] = true
	case trace.Recover:
		s.dead[p] = false
		s.states[p] = a.New(s.on.Local(p))
		a.Recover(&s.states[p], out)
	case trace.Start:
		a.Start(&s.states[p], out)
	case trace.Receive:
		r.Message, r.From, r.Port, r.Kind, r.Text = next.message, next.from, int(next.port), a.Kinds[next.kind].Name, s.text(s.on, next.m)
		if s.dead[p] {
			r.Event, r.Port = trace.Lost, -1
		} else {
			a.Receive(&s.states[p], next.port, next.kind, next.m, out)
		}
	case trace.Suspect:
		if s.dead[p] {
			return false
		}
		r.From, r.Port = next.from, int(next.port)
		a.Suspect(&s.states[p], next.port, out)
	case trace.Timeout:
		timer := [2]int{p, int(next.timer)}
		if s.dead[p] || s.running[timer] != next.number {
			return false
		}
		delete(s.running, timer)
		r.Text = a.Timers[next.timer]
		a.Timeout(&s.states[p], next.timer, out)
	}
	return true
}

// send records the messages of a step, each of which arrives a unit later.
func (s *simulation[S, M]) send(next pending[M], r *trace.Step) {
	for _, m := range s.effects.Sent() {
		s.sent++
		to, port := s.on.Network.End(m.On())
		r.Sent = append(r.Sent, trace.Sent{
			Message: s.sent, To: to, Port: int(m.On() - s.on.Network.First(next.process)),
			Kind: s.algorithm.Kinds[m.Kind()].Name, Text: s.text(s.on, m.M),
		})
		s.add(pending[M]{
			time: next.time + 1, event: trace.Receive, process: to, port: port, kind: m.Kind(),
			m: m.M, message: s.sent, from: next.process + 1,
		})
	}
}

// other records the timers and decisions of a step.
func (s *simulation[S, M]) other(next pending[M], r *trace.Step) {
	p, timers := next.process, s.algorithm.Timers
	for _, e := range s.effects.Effects() {
		at := [2]int{p, int(e.Timer)}
		switch e.Op {
		case election.SetTimer:
			r.Timers = append(r.Timers, trace.Timer{Name: timers[e.Timer], After: &e.Ticks})
			s.running[at] = s.add(pending[M]{time: next.time + int(e.Ticks.Lo), event: trace.Timeout, process: p, timer: e.Timer})
		case election.StopTimer:
			if s.running[at] != 0 {
				r.Timers = append(r.Timers, trace.Timer{Name: timers[e.Timer]})
				delete(s.running, at)
			}
		case election.Lead:
			r.Decided = append(r.Decided, trace.Decision{Role: "leader", Leader: new(s.on.Real(p)), Term: uint64(e.Term)})
		case election.Follow:
			r.Decided = append(r.Decided, trace.Decision{Role: "follower", Leader: new(s.on.RealOf(e.ID)), Term: uint64(e.Term)})
		case election.NoLeader:
			r.Decided = append(r.Decided, trace.Decision{Role: "undecided", Term: uint64(e.Term)})
		}
	}
}

// LCR returns a run of lcr on these identifiers, clockwise.
func LCR(t testing.TB, clock bool, ids ...uint64) *trace.Record {
	return simulate(t, &lcr.Algorithm, func(on *network.Instance, m lcr.Message) string {
		return fmt.Sprint(on.RealOf(m.ID))
	}, Options{Clock: clock}, ids...)
}

// RingBully returns a run of ring-bully on these identifiers, clockwise.
func RingBully(t testing.TB, clock bool, ids ...uint64) *trace.Record {
	return simulate(t, &ringbully.Algorithm, func(on *network.Instance, m ringbully.Message) string {
		if m.ID == 0 {
			return ""
		}
		return fmt.Sprint(on.RealOf(m.ID))
	}, Options{Clock: clock}, ids...)
}

// Bully returns a run of bully on 1 to n.
func Bully(t testing.TB, o Options, n int) *trace.Record {
	return simulate(t, &bully.Algorithm, func(*network.Instance, bully.Message) string { return "" }, o, Increasing(n)...)
}

// Increasing returns 1 to n.
func Increasing(n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i) + 1
	}
	return ids
}
