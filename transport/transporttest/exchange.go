package transporttest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"ringleader.example/ringleader/transport"
)

// Exchange carries whole frames between members. A test decides whether and when each one arrives: frames that it
// holds wait in Held until Deliver or Drop; all others arrive at once.
//
// In all else it is like TCP. A connection begins with a Hello, which the other member judges. A frame with a slot
// replaces one of that slot only before the connection stands: afterwards frames leave at once, and a held frame has
// left. A connection ends when nothing arrives on it for the suspicion timeout, not even a heartbeat. So a member that
// is cut off, by a function for Hold that holds all its frames, is suspected. An attempt to connect that a Hello in Held
// delays for so long has failed, and that Hello is lost.
//
// All methods may be called by any goroutine. A member's events wait in the Exchange while the member is busy; no
// message waits for Taken.
type Exchange struct {
	mu    sync.Mutex
	ports map[uint64]*port
	hold  func(Frame) bool
	held  []Frame

	paused bool
	late   []Frame // that arrive when the pause ends
}

// NewExchange returns an exchange without members.
func NewExchange() *Exchange { return &Exchange{ports: map[uint64]*port{}} }

// Frame is a frame on its way from one member to another.
type Frame struct {
	From, To uint64 // identifiers
	What     What
	Kind     uint8  // of a Message, as the receiver gets it
	Payload  []byte // of a Message; it is not to be changed
	Slot     uint64 // of a Message: 0, or its sender's slot
	Seldom   bool   // of a Heartbeat: the next one takes longer

	out *outgoing
}

// What is a kind of frame.
type What uint8

// The frames of a connection: Hello, then Messages and Heartbeats, then End.
const (
	Hello What = iota
	Message
	Heartbeat // never waits in Held: it is lost instead
	End
)

// Hold sets which frames are held from now on; nil holds none. Frames that are held already stay held.
func (e *Exchange) Hold(hold func(Frame) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hold = hold
}

// Pause lets the frames that are not held wait, except heartbeats, until Flush or Resume. So a test decides that events
// which need no time happen in one order, and not in that of the scheduler.
func (e *Exchange) Pause() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paused = true
}

// Flush delivers what has waited since Pause: each receiver gets all of it before it answers any of it. The pause goes on.
func (e *Exchange) Flush() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flush()
}

func (e *Exchange) flush() {
	late := e.late
	e.late = nil
	for _, f := range late {
		e.arrive(f)
	}
}

// Resume ends the pause, and delivers what has waited.
func (e *Exchange) Resume() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paused = false
	e.flush()
}

// Held returns the frames that are held, in the order in which they were sent.
func (e *Exchange) Held() []Frame {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.held)
}

// Deliver delivers the i-th held frame: before earlier ones, if i is not 0. A frame that arrives after the end of its
// connection is lost.
func (e *Exchange) Deliver(i int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.arrive(e.take(i))
}

// Drop loses the i-th of the held frames. No transport may do that: with it, a test can break their promise.
func (e *Exchange) Drop(i int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.take(i)
}

// Duplicate holds a copy of the i-th held frame, which is a Message, behind it. No transport may do that either.
func (e *Exchange) Duplicate(i int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.held[i].What != Message {
		panic("transporttest: only a Message can be duplicated")
	}
	e.held = slices.Insert(e.held, i, e.held[i])
}

// Prove gives a member a proof of death, as a warden does. The channel gets whether the member takes it; nothing, if
// the member has stopped.
func (e *Exchange) Prove(to uint64, p transport.Proof) <-chan bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := make(chan bool, 1)
	if port := e.ports[to]; port != nil {
		port.post(transport.Died{Proof: p, Taken: taken})
	}
	return taken
}

// Fail lets the transport of a member fail, so that the member ends: a process that is killed. It sends nothing any more, and
// its connections end.
func (e *Exchange) Fail(member uint64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if port := e.ports[member]; port != nil {
		port.failed = true
		port.post(transport.Failed{Err: err})
	}
}

// Break ends the connection that one member dialed to another, as a reset does: its held frames are lost.
func (e *Exchange) Break(from, to uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	port := e.ports[from]
	if port == nil {
		return
	}
	for _, o := range slices.Clone(port.out) {
		if o.to() == to && o.in != nil {
			o.in.end(syscall.ECONNRESET)
		}
	}
}

func (e *Exchange) take(i int) Frame {
	f := e.held[i]
	e.held = slices.Delete(e.held, i, i+1)
	return f
}

func (e *Exchange) send(f Frame) {
	switch held := e.hold != nil && e.hold(f); {
	case f.out.from.failed && f.What != End:
	case !held && e.paused && f.What != Heartbeat:
		e.late = append(e.late, f)
	case !held:
		e.arrive(f)
	case f.What != Heartbeat:
		e.held = append(e.held, f)
	}
}

func (e *Exchange) arrive(f Frame) {
	o := f.out
	switch to := e.ports[f.To]; {
	case f.What == Hello && !o.closed && (to == nil || !to.serving):
		o.failed(syscall.ECONNREFUSED)
	case f.What == Hello && !o.closed:
		o.present(to)
	case o.in == nil || o.in.ended:
	case f.What == Message:
		o.in.hear()
		o.in.event(transport.Message{In: o.in, Kind: f.Kind, Payload: slices.Clone(f.Payload)})
	case f.What == Heartbeat:
		o.in.suspicion = o.in.hello.Timing.Patience(o.in.at.Timing.Suspicion, f.Seldom)
		o.in.hear()
	case f.What == End:
		o.in.end(fmt.Errorf("member %d closed the connection", f.From))
	}
}

// port is the transport of one member.
type port struct {
	transport.Config
	e       *Exchange
	ctx     context.Context
	cancel  context.CancelFunc
	group   sync.WaitGroup
	serving bool
	failed  bool // it sends nothing any more, but the end of its connections
	out     []*outgoing
	in      []*incoming
	events  []any // that wait to be posted
	more    chan struct{}
}

// Open makes the transport of a member.
func (e *Exchange) Open(c transport.Config) (transport.Transport, error) {
	p := &port{Config: c, e: e, more: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ports[p.id()] = p
	p.group.Go(p.pump)
	return p, nil
}

func (p *port) id() uint64 { return p.Members[p.Self].ID }

// pump posts events in their order, so that no other goroutine waits for the member.
func (p *port) pump() {
	for {
		select {
		case <-p.more:
		case <-p.ctx.Done():
			return
		}
		p.e.mu.Lock()
		events := p.events
		p.events = nil
		p.e.mu.Unlock()
		for _, event := range events {
			p.Post(event)
		}
	}
}

func (p *port) post(event any) {
	p.events = append(p.events, event)
	select {
	case p.more <- struct{}{}:
	default:
	}
}

func (p *port) Address() string { return p.Members[p.Self].Address }

func (p *port) List(members []transport.Member) error {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.Members = slices.Clone(members)
	return nil
}

func (p *port) Serve() {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.serving = true
}

func (p *port) Close() {
	p.e.mu.Lock()
	p.cancel()
	p.serving = false
	for _, o := range slices.Clone(p.out) {
		o.close()
	}
	for _, in := range slices.Clone(p.in) {
		in.end(syscall.ECONNRESET)
	}
	if p.e.ports[p.id()] == p {
		delete(p.e.ports, p.id())
	}
	p.e.mu.Unlock()
	p.group.Wait()
}

// outgoing is the dialer's end of a connection.
type outgoing struct {
	from    *port
	peer    int
	queue   transport.Queue // before there is a connection
	attempt *time.Timer
	calling bool      // an attempt is under way
	call    int       // the number of the attempt
	in      *incoming // the other end, once confirmed
	shown   bool      // whether a Message has left since the last heartbeat was due
	told    bool      // whether the peer expects few heartbeats
	closed  bool
}

func (p *port) Dial(to int, rest time.Duration) transport.Outgoing {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	o := &outgoing{from: p, peer: to}
	p.out = append(p.out, o)
	o.attempt = time.AfterFunc(rest, o.begin)
	return o
}

func (o *outgoing) to() uint64 { return o.from.Members[o.peer].ID }

func (o *outgoing) frame(what What) Frame {
	return Frame{From: o.from.id(), To: o.to(), What: what, out: o}
}

// begin begins an attempt to connect, or ends the one that has not succeeded within the suspicion timeout.
func (o *outgoing) begin() {
	e := o.from.e
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case o.closed || o.in != nil:
	case o.calling:
		o.failed(os.ErrDeadlineExceeded)
	default:
		o.calling = true
		o.call++
		o.attempt.Reset(o.from.Timing.Suspicion)
		e.send(o.frame(Hello))
	}
}

// failed reports an attempt to connect, and begins the next one after a pause. A held Hello is lost.
func (o *outgoing) failed(err error) {
	o.calling = false
	o.from.e.held = slices.DeleteFunc(o.from.e.held, func(f Frame) bool { return f.out == o })
	o.from.post(transport.Dialed{Out: o, Err: err, Lost: o.queue.Drop(o.queue.Last())})
	o.attempt.Reset(transport.LeastPause)
}

// present asks a member whether it takes the connection.
func (o *outgoing) present(to *port) {
	hello, call := o.from.Hello(o.to()), o.call
	peer, v := to.Judge(hello)
	if v.Code != transport.Accepted {
		o.failed((*transport.Refusal)(&v))
		return
	}
	answer := make(chan transport.Verdict, 1)
	to.post(transport.Asked{Peer: peer, Hello: hello, Answer: answer})
	to.group.Go(func() {
		v := transport.Verdict{Code: transport.Refused, Reason: "the member is stopping"}
		select {
		case v = <-answer:
		case <-to.ctx.Done():
		}
		o.from.e.mu.Lock()
		defer o.from.e.mu.Unlock()
		switch {
		case o.closed || !o.calling || o.call != call: // it comes too late
		case v.Code != transport.Accepted:
			o.failed((*transport.Refusal)(&v))
		default:
			o.connect(to, peer, hello)
		}
	})
}

func (o *outgoing) connect(to *port, peer int, hello transport.Hello) {
	o.calling = false
	o.attempt.Stop()
	suspicion := hello.Timing.Patience(to.Timing.Suspicion, false)
	o.in = &incoming{at: to, peer: peer, hello: hello, out: o, suspicion: suspicion}
	to.in = append(to.in, o.in)
	to.post(transport.Arrived{In: o.in})
	o.from.post(transport.Dialed{Out: o, Hello: to.Hello(hello.From)})
	o.flush()
}

// flush sends what waits.
func (o *outgoing) flush() {
	for frame, slot := o.queue.Take(); frame != nil; frame, slot = o.queue.Take() {
		f := o.frame(Message)
		f.Kind, f.Payload = transport.SplitFrame(frame)
		f.Slot = slot
		o.shown = true
		o.from.e.send(f)
	}
}

func (o *outgoing) Peer() int { return o.peer }

func (o *outgoing) Send(frame []byte, slot uint64) {
	o.from.e.mu.Lock()
	defer o.from.e.mu.Unlock()
	switch {
	case o.closed:
	case !o.queue.Put(frame, slot):
		o.close()
	case o.in != nil:
		o.flush()
	}
}

func (o *outgoing) Beat(seldom bool) {
	o.from.e.mu.Lock()
	defer o.from.e.mu.Unlock()
	if o.in != nil && !o.closed && (!o.shown || seldom != o.told) {
		f := o.frame(Heartbeat)
		f.Seldom, o.told = seldom, seldom
		o.from.e.send(f)
	}
	o.shown = false
}

func (o *outgoing) Nudge() {
	o.from.e.mu.Lock()
	defer o.from.e.mu.Unlock()
	if !o.closed && !o.calling && o.attempt.Stop() {
		o.attempt.Reset(0)
	}
}

func (o *outgoing) Close() {
	o.from.e.mu.Lock()
	defer o.from.e.mu.Unlock()
	o.close()
}

func (o *outgoing) close() {
	if o.forget() {
		o.from.e.send(o.frame(End))
		o.from.post(transport.Broken{Out: o, Err: context.Canceled})
	}
}

// forget takes the dialer's end out of use. It reports whether it was in use.
func (o *outgoing) forget() bool {
	if o.closed {
		return false
	}
	o.closed = true
	o.attempt.Stop()
	o.from.out = slices.DeleteFunc(o.from.out, func(other *outgoing) bool { return other == o })
	return true
}

// incoming is the other end.
type incoming struct {
	at        *port
	peer      int
	hello     transport.Hello
	out       *outgoing
	suspicion time.Duration
	silence   *time.Timer // ends the connection; nil before it was admitted
	ended     bool
	waiting   []any // events of before it was admitted
}

func (in *incoming) event(event any) {
	if in.silence != nil {
		in.at.post(event)
	} else {
		in.waiting = append(in.waiting, event)
	}
}

// hear notes that something has arrived.
func (in *incoming) hear() {
	if in.silence != nil {
		in.silence.Reset(in.suspicion)
	}
}

// end ends the connection at both ends.
func (in *incoming) end(err error) {
	if in.ended {
		return
	}
	in.ended = true
	if in.silence != nil {
		in.silence.Stop()
	}
	in.event(transport.Ended{In: in, Err: err})
	in.at.in = slices.DeleteFunc(in.at.in, func(other *incoming) bool { return other == in })
	if in.out.forget() {
		in.out.from.post(transport.Broken{Out: in.out, Err: err})
	}
}

func (in *incoming) Peer() int              { return in.peer }
func (in *incoming) Hello() transport.Hello { return in.hello }

func (in *incoming) Admit(read bool) {
	in.at.e.mu.Lock()
	defer in.at.e.mu.Unlock()
	if !read {
		in.end(context.Canceled)
		return
	}
	in.silence = time.AfterFunc(in.suspicion, func() {
		in.at.e.mu.Lock()
		defer in.at.e.mu.Unlock()
		in.end(os.ErrDeadlineExceeded)
	})
	if in.ended {
		in.silence.Stop()
	}
	for _, event := range in.waiting {
		in.at.post(event)
	}
	in.waiting = nil
}

func (in *incoming) Taken() {}

func (in *incoming) Drain() { in.Close() }

func (in *incoming) Close() {
	in.at.e.mu.Lock()
	defer in.at.e.mu.Unlock()
	in.end(context.Canceled)
}
