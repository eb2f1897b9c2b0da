package tcprun

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
)

// hidden hides the types of an algorithm.
func hidden[S, M any](t *testing.T, a *election.Algorithm[S, M]) *process.Program {
	t.Helper()
	p, err := process.Of(a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// spy is a control that calls a function before an order, which fails if the function does.
type spy struct {
	Control
	before Order
	do     func(Request) error
}

func (s spy) Ask(r Request) (Reply, error) {
	if r.Order == s.before {
		if err := s.do(r); err != nil {
			return Reply{}, err
		}
	}
	return s.Control.Ask(r)
}

// spied returns options for a run in which the processor at a position has a spy.
func spied[S, M any](t *testing.T, a *election.Algorithm[S, M], i network.Setup, position int, before Order,
	do func(*processor, Request) error,
) (o Options, begun *[]*processor) {
	t.Helper()
	prepared, err := network.Prepare(&a.Declaration, i)
	if err != nil {
		t.Fatal(err)
	}
	begun = new([]*processor)
	return Options{Setup: i, Spawn: func(plan Plan) (Control, error) {
		p, err := begin(prepared, hidden(t, a), plan)
		if err != nil {
			return nil, err
		}
		*begun = append(*begun, p)
		if plan.Position != position {
			return p, nil
		}
		return spy{p, before, func(r Request) error { return do(p, r) }}, nil
	}}, begun
}

func TestAProcessWithoutTheSecretIsRefusedAndDisturbsNoOther(t *testing.T) {
	var visits []net.Conn
	o, _ := spied(t, &lcr.Algorithm, network.On(3, 2, 1), 0, Connect, func(p *processor, r Request) error {
		other := slices.Clone(p.hello(0))
		other[len(magic)]++ // the secret of another run
		for _, words := range [][]byte{
			{},
			[]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), other, p.hello(1 << 31),
			p.hello(0), p.hello(4), // links that do not lead there
		} {
			for _, address := range []string{r.Addresses[0], r.Addresses[2]} {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					return err
				}
				conn.Write(words)
				visits = append(visits, conn)
			}
		}
		return nil
	})
	r, err := Run(t.Context(), hidden(t, &lcr.Algorithm), o)
	if err != nil || !r.Right || r.Messages.Total != 6+3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, conn := range visits {
		if answer, err := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("visitor %d was answered %q, %v", i, answer, err)
		}
		conn.Close()
	}
}

func TestAProcessorThatTalksNonsenseEndsTheRunWithALine(t *testing.T) {
	for _, nonsense := range [][]byte{
		{1, 0, 15},                        // an unknown kind
		{0, 0, 0},                         // an empty frame
		{0xff, 0xff, 0},                   // one that is too long
		{3, 0, 0, 1, 2},                   // a message that ends early
		{7, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, // one that is too long
	} {
		o, begun := spied(t, &lcr.Algorithm, network.On(3, 2, 1), 1, Go, func(p *processor, _ Request) error {
			_, err := p.out[0].conn.Write(nonsense)
			return err
		})
		_, err := Run(t.Context(), hidden(t, &lcr.Algorithm), o)
		if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "the connection of process 1 to process 2 failed") {
			t.Errorf("%v: %v", nonsense, err)
		}
		for _, p := range *begun {
			<-p.done
		}
	}
}

func TestAProcessorThatFailsEndsTheRunAndAllOthers(t *testing.T) {
	broken := lcr.Algorithm
	broken.Receive = func(_ *lcr.Process, _ election.Port, _ election.Kind, _ lcr.Message, out *election.Out[lcr.Message]) {
		out.Send(7, 0, lcr.Message{})
	}
	o, begun := spied(t, &broken, network.On(3, 2, 1), -1, End, nil)
	_, err := Run(t.Context(), hidden(t, &broken), o)
	if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), " and sends on port 7; its ports are 0 to 1") {
		t.Error(err)
	}
	for _, p := range *begun {
		<-p.done
	}

	gone := errors.New("gone")
	o, begun = spied(t, &lcr.Algorithm, network.On(3, 2, 1), 1, Count, func(*processor, Request) error { return gone })
	if _, err := Run(t.Context(), hidden(t, &lcr.Algorithm), o); !errors.Is(err, ErrFailed) || !errors.Is(err, gone) {
		t.Error(err)
	}
	for _, p := range *begun {
		<-p.done
	}
}

func TestAStoppedRunReportsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o, _ := spied(t, &bully.Algorithm, network.On(1, 2, 3), 1, Count, func(*processor, Request) error {
		cancel()
		return nil
	})
	o.Dead, o.Initiators, o.Unit = []int{2}, []int{0}, time.Hour // its answer is awaited for hours
	r, err := Run(ctx, hidden(t, &bully.Algorithm), o)
	if err != nil || r.Complete || r.Agreed || r.Lost == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Run(ctx, hidden(t, &lcr.Algorithm), Options{Setup: network.On(1)}); !errors.Is(err, ErrStopped) {
		t.Errorf("stopped before it began: %v", err)
	}
}

func TestALimitEndsARun(t *testing.T) {
	endless := lcr.Algorithm
	endless.Receive = func(_ *lcr.Process, _ election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		out.Send(0, kind, m)
	}
	r, err := Run(t.Context(), hidden(t, &endless), Options{Setup: network.On(2, 1), Limit: 100})
	if err != nil || r.Complete || r.Deliveries <= 100 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestARunHasALimitByDefault(t *testing.T) {
	timeouts := uint64(0)
	endless := pair(func(id election.ID, timer election.Timer, out *election.Out[struct{}]) {
		if id == 2 {
			timeouts++
			out.NoLeader()
			out.After(timer, election.Units(0))
		}
	}, nil)
	r, err := Run(t.Context(), hidden(t, endless), Options{Setup: network.On(1, 2), Unit: time.Millisecond})
	if err != nil || r.Complete || timeouts < 10_000 || timeouts > 10_010 {
		t.Errorf("%+v after %d timeouts, %v", r, timeouts, err)
	}
	c := conductor{limit: 10}
	for over, wave := range map[bool][]Reply{
		false: {{Counts: &Counts{Received: 6}}, {}, {Counts: &Counts{Received: 1, Timeouts: 3}}}, // the second has crashed
		true:  {{Counts: &Counts{Received: 6}}, {}, {Counts: &Counts{Received: 1, Timeouts: 4}}},
	} {
		if c.over(wave) != over {
			t.Errorf("%+v is over a limit of 10: %v", wave, !over)
		}
	}
	for n, limit := range map[int]uint64{1: 10_000, 13: 10_000, 14: 10_976, 1 << 20: 1 << 62, 1 << 27: 1 << 62} {
		if got := DefaultLimit(n); got != limit {
			t.Errorf("the limit of %d processes is %d, want %d", n, got, limit)
		}
	}
}

// pair is an algorithm of two processes, by identifier: process 2 leads, and 1 follows.
func pair(timeout func(id election.ID, timer election.Timer, out *election.Out[struct{}]), receive func(election.Kind, *election.Out[struct{}])) *election.Algorithm[election.ID, struct{}] {
	return &election.Algorithm[election.ID, struct{}]{
		Declaration: election.Declaration{
			Name: "pair", Topology: election.Complete, Timing: election.Timed, Task: election.Service,
			Kinds: []election.MessageKind{{Name: "question"}, {Name: "answer"}}, Timers: []string{"first", "second"},
		},
		New: func(l election.Local) election.ID { return l.ID },
		Start: func(id *election.ID, out *election.Out[struct{}]) {
			out.After(0, election.Units(1))
			if *id == 2 {
				out.Lead(0)
			} else {
				out.Follow(2, 0)
			}
		},
		Timeout: func(id *election.ID, timer election.Timer, out *election.Out[struct{}]) { timeout(*id, timer, out) },
		Receive: func(_ *election.ID, _ election.Port, kind election.Kind, _ struct{}, out *election.Out[struct{}]) {
			receive(kind, out)
		},
	}
}

// A machine's lateness, at any place, is part of the delay of the messages that follow: only so is a violated
// assumption of a timed algorithm visible.
func TestALateMachineIsSeenInTheSlowestMessage(t *testing.T) {
	const unit, late = 10 * time.Millisecond, 80 * time.Millisecond
	work := func() {
		for begun := time.Now(); time.Since(begun) < late; { // a step that takes its time
		}
	}
	ignore := func(election.Kind, *election.Out[struct{}]) {}
	for name, a := range map[string]*election.Algorithm[election.ID, struct{}]{
		"a slow step": pair(func(id election.ID, timer election.Timer, out *election.Out[struct{}]) {
			if id == 2 && timer == 0 {
				work()
				out.Send(election.To(1), 0, struct{}{})
			}
		}, ignore),
		"a slow step before a timer expires": pair(func(id election.ID, timer election.Timer, out *election.Out[struct{}]) {
			switch {
			case id != 2:
			case timer == 0:
				work()
				out.After(1, election.Units(1))
			default:
				out.Send(election.To(1), 0, struct{}{})
			}
		}, ignore),
		"a slow answer": pair(func(id election.ID, timer election.Timer, out *election.Out[struct{}]) {
			if id == 2 {
				out.Send(election.To(1), 0, struct{}{})
			}
		}, func(kind election.Kind, out *election.Out[struct{}]) {
			if kind == 0 {
				work()
				out.Send(election.To(2), 1, struct{}{})
			}
		}),
	} {
		r, err := Run(t.Context(), hidden(t, a), Options{Setup: network.On(1, 2), Unit: unit})
		if err != nil || !r.Right || r.Longest < late-2*unit {
			t.Errorf("%s of %s: %+v, %v", name, late, r, err)
		}
	}
}

func TestAPatientRunBeginsAgainWithLongerUnitsUntilAllIsInTime(t *testing.T) {
	const unit, late = 5 * time.Millisecond, 25 * time.Millisecond
	messages := 0
	a := pair(func(id election.ID, _ election.Timer, out *election.Out[struct{}]) {
		if id == 2 {
			for begun := time.Now(); time.Since(begun) < late; { // a step that takes its time
			}
			out.Send(election.To(1), 0, struct{}{})
		}
	}, func(election.Kind, *election.Out[struct{}]) { messages++ })
	r, err := Run(t.Context(), hidden(t, a), Options{Setup: network.On(1, 2), Unit: unit, Patient: true})
	if err != nil || !r.Complete || !r.Right || r.Longest > r.Assumed || r.Assumed != r.Unit || r.Unit < 8*unit {
		t.Errorf("%+v, %v", r, err)
	}
	if messages != 1 {
		t.Errorf("%d messages were handled, and not only the one that was in time", messages)
	}
}

func TestAnAvalancheOfMessagesIsEnded(t *testing.T) {
	received := [3]uint64{}
	a := pair(func(id election.ID, _ election.Timer, out *election.Out[struct{}]) {
		out.Send(election.To(3-id), 0, struct{}{})
	}, nil)
	a.Receive = func(id *election.ID, _ election.Port, _ election.Kind, _ struct{}, out *election.Out[struct{}]) {
		received[*id]++
		for range 4 {
			out.Send(election.To(3-*id), 0, struct{}{})
		}
	}
	r, err := Run(t.Context(), hidden(t, a), Options{Setup: network.On(1, 2), Unit: time.Millisecond, Limit: 1000})
	if err != nil || r.Complete {
		t.Errorf("%+v, %v", r, err)
	}
	if received[1] > 250 || received[2] > 250 {
		t.Errorf("processes 1 and 2 handled %d messages, and sent four times as many", received[1:])
	}
}

func TestAProcessorRepliesThoughMessagesWait(t *testing.T) {
	var p *processor
	var asked ask
	handled := make(chan bool, 2)
	a := pair(func(election.ID, election.Timer, *election.Out[struct{}]) {}, func(kind election.Kind, _ *election.Out[struct{}]) {
		if kind == 0 {
			asked = ask{Request{Order: Count}, make(chan Reply, 1)}
			p.asks <- asked
		}
		handled <- len(asked.reply) > 0
	})
	prepared, err := network.Prepare(&a.Declaration, network.On(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	p, err = begin(prepared, hidden(t, a), Plan{IDs: election.List{1, 2}, Unit: time.Hour, Within: time.Hour, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Ask(Request{Order: Go}); err != nil {
		t.Fatal(err)
	}
	p.inbox.mu.Lock()
	p.inbox.events = []arrival{{port: 1, kind: 0}, {port: 1, kind: 1}} // in one go
	p.inbox.mu.Unlock()
	p.inbox.wake()
	if before, after := <-handled, <-handled; before || !after {
		t.Errorf("replied before it was asked: %v, before the next message was handled: %v", before, after)
	}
}

func TestAServiceThatNeitherRestsNorSettlesIsEnded(t *testing.T) {
	a := pair(func(id election.ID, timer election.Timer, out *election.Out[struct{}]) {
		if id == 2 {
			out.NoLeader()
			out.Lead(0)
		}
		out.Send(election.To(3-id), 0, struct{}{})
		out.After(timer, election.Units(1))
	}, func(election.Kind, *election.Out[struct{}]) {})
	a.Settles = func(n uint64, _ election.Parameters) election.Ticks { return election.Units(5 * n) }
	begun := time.Now()
	r, err := Run(t.Context(), hidden(t, a), Options{Setup: network.On(1, 2), Unit: 10 * time.Millisecond})
	if err != nil || r.Complete || time.Since(begun) < patience*100*time.Millisecond {
		t.Errorf("%+v, %v", r, err)
	}
	if r.Deliveries > 2500 { // so long before its limit
		t.Errorf("it was ended after %d deliveries", r.Deliveries)
	}
}

func TestWhatCannotBeRunIsRefusedWithWhatCan(t *testing.T) {
	for _, test := range []struct {
		change func(*Options)
		says   string
	}{
		{func(o *Options) { o.Setup = network.On() }, "at least 1 is needed"},
		{func(o *Options) { o.Initiators = []int{} }, "no process starts; at least one must"},
		{func(o *Options) { o.Dead = []int{0, 1, 2} }, "all processes are dead"},
		{func(o *Options) { o.Unit = time.Second }, "it has no timers, so a unit has no effect"},
		{func(o *Options) { o.Unit = -1 }, "a unit is a duration above 0, such as 100ms, not -1ns"},
		{func(o *Options) { o.Setup.IDs = inOrder(1 << 26) }, "processes, or a higher limit (ulimit -n)"},
	} {
		o := Options{Setup: network.On(3, 2, 1)}
		test.change(&o)
		if mayOpen() > files(election.Ring, 1<<26) && o.Setup.IDs.Len() > 3 {
			continue // this system can do it
		}
		if _, err := Run(t.Context(), hidden(t, &lcr.Algorithm), o); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v, and not %q", err, test.says)
		}
	}
}

func TestTooFewFilesAreRefusedWithWhatWouldDo(t *testing.T) {
	for may, says := range map[int]string{
		1000: "", 124: "", // 64 + 2·20 + 20
		123: "and this process may have 123; use at most 19 processes, or a higher limit (ulimit -n)",
		67:  "and this process may have 67; use at most 1 process, or a higher limit (ulimit -n)",
		30:  "20 processes on a ring need 124 open files, and this process may have 30; use a limit of 124 (ulimit -n)",
	} {
		if err := enough(20, election.Ring, files, "this process", may); (err == nil) != (says == "") || err != nil && !strings.HasSuffix(err.Error(), says) {
			t.Errorf("%d files: %v, want %q", may, err, says)
		}
	}
}

// inOrder is a number of processes with the identifiers 1, 2, … in order.
type inOrder int

func (e inOrder) Len() int               { return int(e) }
func (e inOrder) At(position int) uint64 { return uint64(position) + 1 }
func (e inOrder) Dense() bool            { return true }

func TestConnectionsAreCountedAsTheyAreMade(t *testing.T) {
	for n := range 7 {
		n++
		path := make([][2]int, n-1)
		for i := range path {
			path[i] = [2]int{i, i + 1}
		}
		ring, _ := network.NewRing(n, nil)
		complete, _ := network.NewComplete(n)
		tree, _ := network.NewTree(n, path)
		unknown, _ := network.NewUnknownNeighbours(n, nil)
		for _, w := range []*network.Network{ring, complete, tree, unknown} {
			dials, awaits := 0, 0
			for q := range n {
				p := &processor{network: w, first: w.First(q), dead: make([]bool, n)}
				for port := range w.Degree(q) {
					if p.dials(port) {
						dials++
					}
					if p.awaits(port) {
						awaits++
					}
				}
			}
			if want := connections(w.Topology, n); dials != want || awaits != want {
				t.Errorf("%s of %d: %d dials, %d awaits, counted as %d", w.Topology, n, dials, awaits, want)
			}
		}
	}
}

// Serve and Remote are the two ends of a pipe, as between operating-system processes.
func TestARunOverPipesIsTheSame(t *testing.T) {
	find := func(name string) (program.Program, error) {
		if name != lcr.Algorithm.Name {
			return nil, errors.New("unknown")
		}
		return hidden(t, &lcr.Algorithm), nil
	}
	served := make(chan error, 5)
	o := Options{Setup: network.On(50, 40, 30, 20, 10), Spawn: func(plan Plan) (Control, error) {
		in, requests := io.Pipe()
		replies, out := io.Pipe()
		go func() {
			served <- Serve(in, out, find)
			out.Close()
		}()
		remote, err := NewRemote(requests, replies, plan)
		return piped{remote, requests}, err
	}}
	r, err := Run(t.Context(), hidden(t, &lcr.Algorithm), o)
	if err != nil || !r.Right || r.Messages.Election != 15 || r.Messages.Announcement != 5 || r.Decisions[3].Leader != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	for range 5 {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	if err := Serve(strings.NewReader("nonsense"), io.Discard, find); err == nil {
		t.Error("nonsense is a plan")
	}
	var reply strings.Builder
	if err := Serve(strings.NewReader(`{"Algorithm":"lcr","IDs":[1],"Position":1}{"Order":"listen"}`), &reply, find); err != nil || !strings.Contains(reply.String(), "no position 1") {
		t.Errorf("a position that is not there: %s, %v", reply.String(), err)
	}
}

type piped struct {
	*Remote
	io.Closer
}
