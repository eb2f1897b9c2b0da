package tcprun

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
)

// Order is a conductor's order to a processor.
type Order string

// The orders, as they come.
const (
	Listen  Order = "listen"  // return your address
	Connect Order = "connect" // connect to the others
	Start   Order = "start"   // make the first step; initiators only
	Go      Order = "go"      // take messages
	Count   Order = "count"   // return your counts
	End     Order = "end"     // stop, and return your outcome
)

// Request is an order with its arguments.
type Request struct {
	Order     Order
	Addresses []string `json:",omitempty"` // Connect: by position
}

// Reply is the answer to a request.
type Reply struct {
	Error   string   `json:",omitempty"` // why the processor cannot continue
	Address string   `json:",omitempty"` // Listen
	Counts  *Counts  `json:",omitempty"` // Count
	Outcome *Outcome `json:",omitempty"` // End
}

// Counts counts what a processor has done.
type Counts struct {
	Sent, Received uint64 // messages; without those to crashed processes
	Said           uint64 // messages that are not overhead
	Steps          uint64
	Timeouts       uint64
	At             time.Duration // timed: on the processor's clock
	Running        int           // timers
	Left           time.Duration // until the last of them expires
	Decision       network.Decision
	Halted         bool   `json:",omitempty"` // a limit was passed, and the processor takes no more steps
	Broken         string `json:",omitempty"` // the broken link, and the cause
}

// Outcome is the outcome of a run for a processor.
type Outcome struct {
	Decision   network.Decision
	Eligible   bool     // it may become leader
	Faults     []string `json:",omitempty"`
	Sent       []uint64 // by kind, with those to crashed processes
	ByPhase    []uint64 // nil without phases
	Deliveries uint64
	Lost       uint64
	Longest    time.Duration
	Markers    uint64

	Elected, Decided, Quiet Moment
}

// Moment is the last time of an event; zero if it never happened.
type Moment struct {
	Clock int64  `json:",omitempty"` // nanoseconds on the system's clock, which all processors share
	Round uint64 `json:",omitempty"` // of a synchronous run
}

func later(a, b Moment) Moment { return Moment{max(a.Clock, b.Clock), max(a.Round, b.Round)} }

// Control is the conductor's end of a processor. Asks come one after the other.
type Control interface {
	Ask(Request) (Reply, error)
	Close() error // end it in any state, and wait for that
}

// processor is one processor. Its loop owns all mutable state.
type processor struct {
	plan     Plan
	d        *election.Declaration
	p        *network.Instance
	network  *network.Network
	first    uint32 // its first link
	dead     []bool // by position
	machine  *process.Machine
	acting   *process.Input // of the current step; nil between steps
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	inbox    inbox
	asks     chan ask // of capacity 1
	done     chan struct{}
	err      error // once done is closed

	out       []link          // by port
	unwritten []election.Port // links with pending frames
	begun     time.Time
	at        time.Duration // timed: the time of the current step, on this processor's clock
	timers    process.Timers
	going     bool
	starting  bool // synchronous: it starts in the next round
	held      []arrival
	rounds    rounds
	counts    Counts
	outcome   Outcome
}

// ask is a request that waits for its reply.
type ask struct {
	request Request
	reply   chan Reply // of capacity 1
}

// streams is the first of the processors' streams of random numbers, one each, separate from all others.
const streams = 1 << 32

// begin makes a listening processor.
func begin(p *network.Instance, program *process.Program, plan Plan) (*processor, error) {
	network, d := p.Network, p.Declaration()
	r := &processor{
		plan: plan, d: d, p: p, network: network, first: network.First(plan.Position), dead: make([]bool, p.Size()),
		out: make([]link, network.Degree(plan.Position)), asks: make(chan ask, 1), done: make(chan struct{}),
		outcome: Outcome{Sent: make([]uint64, len(d.Kinds))},
	}
	for _, q := range plan.Dead {
		r.dead[q] = true
	}
	// A source for each position: on one-directional rings, where schedules change nothing, a seed determines the run.
	source := random.New(plan.Seed, streams+uint64(plan.Position))
	r.machine = program.NewMachine(p, plan.Position, func(n uint32) uint32 { return uint32(source.Below(uint64(n))) }, nil)
	if r.machine.Phases() {
		r.outcome.ByPhase = []uint64{}
	}
	var err error
	if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	r.inbox.news = make(chan struct{}, 1)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.rounds.wait(r)
	go r.run()
	return r, nil
}

// Ask sends a request, and waits for the reply. It does not queue behind messages: the more of them wait, the more
// the conductor needs to know that.
func (p *processor) Ask(request Request) (Reply, error) {
	a := ask{request, make(chan Reply, 1)}
	p.asks <- a
	p.inbox.wake()
	select {
	case reply := <-a.reply:
		return reply, nil
	case <-p.done:
		return Reply{}, p.err
	}
}

// Close ends the processor.
func (p *processor) Close() error {
	p.cancel()
	<-p.done
	return nil
}

// run runs the processor until its end.
func (p *processor) run() {
	defer close(p.done)
	defer p.listener.Close()
	defer p.cancel()
	defer func() {
		if bug := recover(); bug != nil {
			p.err = fmt.Errorf("%s failed: %v", p.p.Name(p.plan.Position), bug)
			if p.acting != nil {
				p.err = errors.New(p.machine.Breach(*p.acting, bug))
			}
		}
	}()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for p.ctx.Err() == nil {
		events := p.inbox.take()
		for _, event := range events {
			p.expire() // timers that expire before a message is handled go first
			p.reply()
			p.arrive(event)
		}
		p.expire()
		replied := p.reply()
		played := p.rounds.play(p)
		p.flush()
		if len(events) > 0 || replied || played {
			continue
		}
		alarm.Reset(p.next())
		select {
		case <-p.inbox.news:
		case <-alarm.C:
		case <-p.ctx.Done():
		}
	}
	p.err = p.ctx.Err()
}

// reply obeys an order, if there is one.
func (p *processor) reply() bool {
	select {
	case a := <-p.asks:
		a.reply <- p.obey(a.request)
		return true
	default:
		return false
	}
}

func (p *processor) timed() bool       { return p.d.Timing == election.Timed }
func (p *processor) synchronous() bool { return p.d.Timing == election.Synchronous }

// now returns the time on the processor's clock: in its units, and as timers count it. In rounds both are the same.
// Steps take no time on that clock: their time counts as delay of the messages that they send.
func (p *processor) now() (ticks uint64, at time.Duration) {
	switch {
	case p.timed():
		return uint64(p.at / p.plan.Unit), p.at
	case p.synchronous():
		return p.rounds.number, time.Duration(p.rounds.number)
	}
	return 0, 0
}

// unit returns the unit of that clock.
func (p *processor) unit() time.Duration {
	if p.timed() {
		return p.plan.Unit
	}
	return 1
}

// next returns the time until the next event is due.
func (p *processor) next() time.Duration {
	switch {
	case p.timed() && p.going:
		_, wait := p.timers.Next(clocks(time.Since(p.begun)))
		return wait
	case p.synchronous() && p.going && p.rounds.complete():
		return p.plan.Unit - time.Since(p.rounds.began)
	}
	return process.Never
}

// clocks returns the readings of a process that has one clock.
func clocks(now time.Duration) process.Now { return process.Now{Timers: now, Deadlines: now} }

// expire advances the clock of a timed algorithm, and fires due timers, each at most once: otherwise a timer that is
// repeatedly set to 0 would starve messages. A timer expires at the moment for which it was set, even on a late
// machine: its lateness counts as delay of the messages that are sent then. So if no message took longer than
// assumed, the algorithm's assumption held.
func (p *processor) expire() {
	if !p.timed() || !p.going { // before that, the clock is stopped
		return
	}
	now := time.Since(p.begun)
	for range p.d.Timers {
		timer, wait := p.timers.Next(clocks(now))
		if wait > 0 {
			break
		}
		p.at = max(p.at, now+wait)
		p.timeout(timer)
	}
	p.at = now
}

func (p *processor) timeout(timer election.Timer) {
	p.timers.Stop(timer)
	p.counts.Timeouts++
	p.step(process.Input{What: process.Expired, Timer: timer})
}

// arrive takes a frame from a port.
func (p *processor) arrive(a arrival) {
	switch {
	case a.err != nil:
		p.broke(a.port, a.err)
	case p.synchronous():
		p.rounds.arrive(a)
	case !p.going:
		p.held = append(p.held, a)
	default:
		p.take(a)
	}
}

// take hands a message to the algorithm.
func (p *processor) take(a arrival) {
	if int(a.kind) >= len(p.d.Kinds) {
		p.broke(a.port, fmt.Errorf("a frame of kind %d", a.kind))
		return
	}
	if a.sent != 0 {
		p.outcome.Longest = max(p.outcome.Longest, time.Duration(p.clock()-a.sent))
		if p.outcome.Longest > p.plan.Within {
			p.halt()
			return
		}
	}
	if err := p.step(process.Input{What: process.Received, Port: a.port, Kind: election.Kind(a.kind), Message: a.message}); err != nil {
		p.broke(a.port, err)
		return
	}
	p.counts.Received++
	p.outcome.Deliveries++
	p.outcome.Quiet = p.moment()
}

// broke notes that a link broke. That is not the end: the conductor finds out whether a process crashed.
func (p *processor) broke(port election.Port, err error) {
	if p.counts.Broken == "" {
		from, _ := p.behind(int(port))
		p.counts.Broken = fmt.Sprintf("the connection of %s to %s failed: %v", p.p.Name(p.plan.Position), p.p.Name(from), err)
	}
}

// clock returns the time of the current step of a timed algorithm, in nanoseconds on the system's clock.
func (p *processor) clock() int64 {
	if !p.going {
		return time.Now().UnixNano()
	}
	return p.begun.Add(p.at).UnixNano()
}

// moment returns the current moment.
func (p *processor) moment() Moment { return Moment{time.Now().UnixNano(), p.rounds.number} }

// step gives an event to the algorithm, and applies its effects. An error means that a message is malformed.
func (p *processor) step(e process.Input) error {
	ticks, _ := p.now()
	p.acting = &e
	effects, err := p.machine.Step(e, election.Units(ticks))
	p.acting = nil
	if err != nil {
		return err
	}
	p.counts.Steps++
	for i := range effects.Sent {
		p.sent(&effects.Sent[i])
	}
	_, now := p.now()
	p.timers.Apply(effects.Other, time.Duration(ticks)*p.unit(), now, p.unit())
	for _, effect := range effects.Other {
		p.decide(effect)
	}
	if p.counts.Sent+p.counts.Timeouts > p.plan.Limit {
		p.halt()
	}
	return nil
}

// halt ends the part of a processor in a run that is too long: its work may grow faster than the conductor can ask.
func (p *processor) halt() { p.going, p.counts.Halted = false, true }

// sent counts a message, and puts it on its link.
func (p *processor) sent(s *process.Frame) {
	p.outcome.Sent[s.Kind]++
	if s.Phase >= 0 {
		for len(p.outcome.ByPhase) <= s.Phase {
			p.outcome.ByPhase = append(p.outcome.ByPhase, 0)
		}
		p.outcome.ByPhase[s.Phase]++
	}
	if p.d.Kinds[s.Kind].Class != election.Overhead {
		p.counts.Said++
	}
	if p.out[s.Port].conn == nil {
		p.outcome.Lost++
		return
	}
	p.counts.Sent++
	p.send(s.Port, s.Frame)
}

// decide applies a decision, if the effect is one.
func (p *processor) decide(e election.Effect) {
	d, before := &p.counts.Decision, p.counts.Decision
	if err := d.Apply(p.d.Task, e, p.p.ID(p.plan.Position)); err != nil {
		p.outcome.Faults = append(p.outcome.Faults, fmt.Sprintf("%s %v", p.p.Name(p.plan.Position), err))
	}
	if *d == before {
		return
	}
	p.outcome.Decided = p.moment()
	if d.Role == network.Leader {
		p.outcome.Elected = p.outcome.Decided
	}
}

// obey carries out an order.
func (p *processor) obey(r Request) (reply Reply) {
	switch r.Order {
	case Listen:
		reply.Address = p.listener.Addr().String()
	case Connect:
		if err := p.connect(r.Addresses); err != nil {
			return Reply{Error: err.Error()}
		}
		for _, q := range p.plan.Dead {
			p.suspect(q)
		}
	case Start:
		if p.starting = p.synchronous(); !p.starting {
			p.step(process.Input{What: process.Started})
		}
	case Go:
		p.going, p.begun = true, time.Now()
		for _, a := range p.held {
			p.take(a)
		}
		p.held = nil
	case Count:
		counts := p.counts
		at, running := p.timers.Last()
		_, now := p.now()
		counts.At, counts.Running, counts.Left = now, running, at-now
		reply.Counts = &counts
	case End:
		p.going = false
		p.outcome.Decision, p.outcome.Eligible = p.counts.Decision, p.machine.Eligible()
		reply.Outcome = &p.outcome
	}
	return reply
}

// suspect reports to the algorithm that the process at a position has crashed.
func (p *processor) suspect(position int) {
	for port := range p.out {
		if from, _ := p.behind(port); from == position {
			p.step(process.Input{What: process.Suspected, Port: election.Port(port)})
		}
	}
}

// inbox is an unbounded queue. So a reader of a connection never waits, and therefore no writer waits for ever.
type inbox struct {
	mu     sync.Mutex
	events []arrival
	news   chan struct{} // of capacity 1
}

func (i *inbox) put(event arrival) {
	i.mu.Lock()
	i.events = append(i.events, event)
	i.mu.Unlock()
	i.wake()
}

func (i *inbox) wake() {
	select {
	case i.news <- struct{}{}:
	default:
	}
}

func (i *inbox) take() []arrival {
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.events
	i.events = nil
	return events
}
