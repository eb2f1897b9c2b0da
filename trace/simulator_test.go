package trace_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// options are what a test's run can have. A message takes a unit, and so does the detection of a crash.
type options struct {
	clock   bool // whether the record shows the time
	starts  []int
	crashes []fault
	revives []fault
}

type fault struct{ position, time int }

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

// simulate runs an algorithm, so that tests look at records of what the catalogue really does.
func simulate[S, M any](t testing.TB, a *election.Algorithm[S, M], text func(*election.Prepared, M) string, o options, ids ...uint64) *trace.Record {
	t.Helper()
	on, err := a.Prepare(election.On(ids...))
	if err != nil {
		t.Fatal(err)
	}
	n := on.Size()
	r := &trace.Record{Header: trace.Header{
		Format: trace.Format, Algorithm: a.Name, Title: a.Title, Topology: a.Topology.String(), N: n,
		Timing: a.Timing.String(), Seed: 1, Clock: o.clock,
	}}
	if !o.clock {
		r.Schedule = "fifo"
	}
	for _, name := range on.Parameters.Names() {
		if r.Parameters == nil {
			r.Parameters = map[string]string{}
		}
		r.Parameters[name] = on.Parameters.Text(name)
	}
	for _, k := range a.Kinds {
		r.Kinds = append(r.Kinds, trace.Kind{Name: k.Name, Class: k.Class.String()})
	}
	states, dead, running := make([]S, n), make([]bool, n), map[[2]int]int{}
	var queue []pending[M]
	number, sent := 0, 0
	add := func(p pending[M]) int {
		number++
		p.number = number
		queue = append(queue, p)
		return number
	}
	for p := range n {
		states[p] = a.New(on.Local(p))
		r.IDs = append(r.IDs, on.Real(p))
		if o.starts == nil || slices.Contains(o.starts, p) {
			add(pending[M]{event: trace.Start, process: p})
		}
	}
	for _, f := range o.crashes {
		add(pending[M]{time: f.time, event: trace.Crash, process: f.position})
		for p := range n {
			if a.Suspect != nil && p != f.position {
				add(pending[M]{time: f.time + 1, event: trace.Suspect, process: p, port: election.Port(f.position), from: f.position + 1})
			}
		}
	}
	for _, f := range o.revives {
		add(pending[M]{time: f.time, event: trace.Recover, process: f.position})
	}
	var effects election.Collector[M]
	for len(queue) > 0 {
		next := slices.MinFunc(queue, func(x, y pending[M]) int {
			return cmp.Or(cmp.Compare(x.time, y.time),
				cmp.Compare(slices.Index(order, x.event), slices.Index(order, y.event)), cmp.Compare(x.number, y.number))
		})
		queue = slices.DeleteFunc(queue, func(x pending[M]) bool { return x.number == next.number })
		p, out := next.process, effects.Out()
		s := trace.Step{Process: p, Event: next.event, Port: -1}
		effects.At(on.Network.First(p))
		switch next.event {
		case trace.Crash:
			dead[p] = true
		case trace.Recover:
			dead[p] = false
			states[p] = a.New(on.Local(p))
			a.Recover(&states[p], out)
		case trace.Start:
			a.Start(&states[p], out)
		case trace.Receive:
			s.Message, s.From, s.Port, s.Kind, s.Text = next.message, next.from, int(next.port), a.Kinds[next.kind].Name, text(on, next.m)
			if dead[p] {
				s.Event, s.Port = trace.Lost, -1
			} else {
				a.Receive(&states[p], next.port, next.kind, next.m, out)
			}
		case trace.Suspect:
			if dead[p] {
				continue
			}
			s.From, s.Port = next.from, int(next.port)
			a.Suspect(&states[p], next.port, out)
		case trace.Timeout:
			if dead[p] || running[[2]int{p, int(next.timer)}] != next.number {
				continue
			}
			delete(running, [2]int{p, int(next.timer)})
			s.Text = a.Timers[next.timer]
			a.Timeout(&states[p], next.timer, out)
		}
		for _, m := range effects.Sent() {
			sent++
			to, port := on.Network.End(m.On())
			s.Sent = append(s.Sent, trace.Sent{
				Message: sent, To: to, Port: int(m.On() - on.Network.First(p)),
				Kind: a.Kinds[m.Kind()].Name, Text: text(on, m.M),
			})
			add(pending[M]{
				time: next.time + 1, event: trace.Receive, process: to, port: port, kind: m.Kind(),
				m: m.M, message: sent, from: p + 1,
			})
		}
		for _, e := range effects.Rare() {
			at := [2]int{p, int(e.Timer)}
			switch e.Op {
			case election.SetTimer:
				s.Timers = append(s.Timers, trace.Timer{Name: a.Timers[e.Timer], After: &e.Ticks})
				running[at] = add(pending[M]{time: next.time + int(e.Ticks.Lo), event: trace.Timeout, process: p, timer: e.Timer})
			case election.StopTimer:
				if running[at] != 0 {
					s.Timers = append(s.Timers, trace.Timer{Name: a.Timers[e.Timer]})
					delete(running, at)
				}
			case election.Lead:
				s.Decided = append(s.Decided, trace.Decision{Role: "leader", Leader: new(on.Real(p)), Term: uint64(e.Term)})
			case election.Follow:
				s.Decided = append(s.Decided, trace.Decision{Role: "follower", Leader: new(on.RealOf(e.ID)), Term: uint64(e.Term)})
			case election.Doubt:
				s.Decided = append(s.Decided, trace.Decision{Role: "undecided", Term: uint64(e.Term)})
			}
		}
		effects.Reset()
		if o.clock {
			s.Time = election.Units(uint64(next.time))
		}
		s.Number = len(r.Steps) + 1
		r.Steps = append(r.Steps, s)
	}
	return r
}

func runLCR(t testing.TB, clock bool, ids ...uint64) *trace.Record {
	return simulate(t, &lcr.Algorithm, func(on *election.Prepared, m lcr.Message) string {
		return fmt.Sprint(on.RealOf(m.ID))
	}, options{clock: clock}, ids...)
}

func runRingBully(t testing.TB, clock bool, ids ...uint64) *trace.Record {
	return simulate(t, &ringbully.Algorithm, func(on *election.Prepared, m ringbully.Message) string {
		if m.ID == 0 {
			return ""
		}
		return fmt.Sprint(on.RealOf(m.ID))
	}, options{clock: clock}, ids...)
}

// runBully has 1 … n elect; then the faults come.
func runBully(t testing.TB, o options, n int) *trace.Record {
	return simulate(t, &bully.Algorithm, func(*election.Prepared, bully.Message) string { return "" }, o, increasing(n)...)
}

func increasing(n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i) + 1
	}
	return ids
}
