package live

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"runtime/debug"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// loop owns all mutable state. Its methods run in one goroutine.
type loop struct {
	*Member
	declaration election.Declaration
	prepared    *network.Instance
	position    int
	machine     *process.Machine
	store       *store
	recover     bool // this is not the first life

	mirror   transport.Outgoing // dials our own address until it has reached us; nil if that is certain
	reached  bool               // our own address leads to us
	problem  string             // if not
	started  bool
	beatAt   time.Duration // when the next heartbeat is due
	startBy  time.Duration // the end of the wait for the first connections
	timers   process.Timers
	own      []process.Input // messages to ourselves
	decision network.Decision
	lease    time.Duration // when our leadership ends by itself
}

// firstConnections is how long a member waits, before it starts, for members that are not connected with it. They may
// start at the same time, and a member that begins without them elects itself.
const firstConnections = 100 * time.Millisecond

// live runs the life of a member.
func (l *loop) live() {
	l.startBy, l.beatAt = firstConnections, l.config.Heartbeat
	l.lease = process.Never
	for _, p := range l.peers {
		if p != nil {
			p.out = l.transport.Dial(p.position, 0)
		}
	}
	if !l.reached {
		l.mirror = l.transport.Dial(l.position, 0)
	}
	l.transport.Serve()
	l.log.Info("listening", "address", l.transport.Address(), "incarnation", l.incarnation, "recovering", l.recover)
	err := l.run()
	l.cancel()
	l.decision, l.lease = network.Decision{Term: l.decision.Term}, process.Never
	l.show() // it stops leading before the others hear of that
	l.transport.Close()
	l.err = errors.Join(err, l.store.close())
	for _, p := range l.peers {
		if p != nil {
			p.health, p.problem, p.difference = unknown, "", ""
		}
	}
	l.show()
	if err != nil {
		l.log.Error("stopped", "error", err)
	}
	close(l.done)
}

// run ends with the life of the member, or with a failure, such as a panic in a step.
func (l *loop) run() (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			l.log.Error("panic", "fault", fault, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", ErrPanic, fault)
		}
	}()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for l.ctx.Err() == nil {
		l.beat()
		// Timers that expired before an event go first, so that a late step knows of them.
		if err := l.expire(); err != nil {
			return err
		}
		if len(l.own) > 0 {
			in := l.own[0]
			l.own = l.own[1:]
			if err := l.step(in); err != nil {
				return err
			}
			continue
		}
		alarm.Reset(l.next() - l.now())
		select {
		case <-l.ctx.Done():
		case <-alarm.C:
		case event := <-l.inbox:
			if err := l.expire(); err != nil { // it may have waited for long
				return err
			}
			if err := l.handle(event); err != nil {
				return err
			}
		}
	}
	return nil
}

// beat shows that the loop runs: to callers in this process, and at each heartbeat to the other members.
func (l *loop) beat() {
	now := l.now()
	l.turn.Store(int64(now))
	if now < l.beatAt {
		return
	}
	l.beatAt = now + l.config.Heartbeat
	for _, p := range l.peers {
		if p != nil {
			p.out.Beat()
		}
	}
}

// next returns when beat or expire are due.
func (l *loop) next() time.Duration {
	_, at := l.timers.Next()
	at = min(at, l.beatAt)
	if !l.started && l.now() < l.startBy { // after that, the awaited event comes by the inbox
		at = l.startBy
	}
	return min(at, l.lease)
}

// expire starts the algorithm when that is due, and fires expired timers.
func (l *loop) expire() error {
	if !l.started && l.mayStart() {
		if err := l.start(); err != nil {
			return err
		}
	}
	now := l.now()
	if l.lease <= now {
		l.lease = process.Never
		l.decision = network.Decision{Term: l.decision.Term}
		l.show()
	}
	for range l.declaration.Timers { // and no more: a timer that is repeatedly set to 0 must not starve messages
		timer, at := l.timers.Next()
		if at > now {
			return nil
		}
		l.timers.Stop(timer)
		if err := l.step(process.Input{What: process.Expired, Timer: timer}); err != nil {
			return err
		}
	}
	return nil
}

// mayStart reports whether all members are connected, so that the first messages reach them; the wait is short,
// because some may have crashed. A member must not start if it cannot be reached, or if others take it for a second
// process with one identifier: it would lead beside the first.
func (l *loop) mayStart() bool {
	late := l.now() >= l.startBy
	for _, p := range l.peers {
		if p != nil && (p.duplicate || !p.standing && p.next == nil && !late) {
			return false
		}
	}
	return l.reached
}

func (l *loop) start() error {
	l.started = true
	in := process.Input{What: process.Started}
	if l.recover {
		in.What = process.Recovered
	}
	if err := l.step(in); err != nil {
		return err
	}
	for _, p := range l.peers {
		if p != nil {
			if err := l.admit(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loop) handle(event any) error {
	switch e := event.(type) {
	case transport.Asked:
		e.Answer <- l.verdict(l.peers[e.Peer], e.Hello)
	case transport.Arrived:
		return l.arrived(e.In)
	case transport.Message:
		e.In.Taken()
		return l.message(e)
	case transport.Ended:
		return l.ended(e)
	case transport.Dialed:
		return l.dialed(e)
	case transport.Broken:
		if p := l.peers[e.Out.Peer()]; p != nil && e.Out == p.out {
			l.log.Debug("connection to a member broke", "peer", p.id, "error", e.Err)
			return l.part(p)
		}
	case election.Command:
		if l.started {
			return l.step(process.Input{What: process.Commanded, Command: e})
		}
	case transport.Failed:
		return e.Err
	}
	return nil
}

// step gives an event to the algorithm, and applies its effects in the promised order. An error, except for a
// malformed message, stops the member.
func (l *loop) step(in process.Input) error {
	unit := l.config.Unit
	ticks := l.now() / unit
	effects, err := l.machine.Step(in, election.Units(uint64(ticks)))
	if err != nil {
		return err
	}
	if err := l.store.save(l.machine.Durable()); err != nil {
		return err
	}
	for _, s := range effects.Sent {
		if int(s.Port) == l.position {
			l.own = append(l.own, process.Input{What: process.Received, Port: s.Port, Kind: s.Kind, Message: s.Frame[process.HeadSize:]})
			continue
		}
		l.peers[s.Port].out.Send(s.Frame, 0)
	}
	l.timers.Apply(effects.Other, ticks*unit, l.now(), unit)
	decided := false
	for _, e := range effects.Other {
		if e.Op == election.SetTimer || e.Op == election.StopTimer || e.Op == election.StopWork {
			continue
		}
		decided = true
		if err := l.decision.Apply(l.declaration.Task, e, l.prepared.ID(l.position)); err != nil {
			return fmt.Errorf("%s is wrong: %w", l.algorithm, err)
		}
		l.lease = process.Never
		if e.Op == election.Lead && e.Deadline {
			l.lease = process.Moment(ticks*unit, e.Ticks, unit)
		}
	}
	if decided {
		l.show()
	}
	return nil
}

// show publishes the state.
func (l *loop) show() {
	before, _ := l.State()
	s := State{
		Role: l.decision.Role, Leader: l.prepared.RealOf(l.decision.Leader), Term: l.decision.Term,
		Since: before.Since,
	}
	s.Reachable, s.Problems = l.members()
	if l.contested() {
		s.Role, s.Leader = network.Undecided, 0
	}
	if s.Role != before.Role || s.Leader != before.Leader || s.Term != before.Term {
		s.Since = time.Now()
		l.log.Info("leadership changed", "role", s.Role, "leader", s.Leader, "term", s.Term)
	}
	if l.lease != process.Never {
		s.Until = l.begun.Add(l.lease)
	}
	l.publish(s)
}

// members returns, for each member, whether it is heard from, and its problem.
func (l *loop) members() (heard []bool, problems []string) {
	for _, member := range l.config.Members {
		if p := l.peerOf(member.ID); p != nil {
			heard, problems = append(heard, p.health == reachable), append(problems, cmp.Or(p.problem, p.difference))
		} else {
			heard, problems = append(heard, true), append(problems, l.problem)
		}
	}
	return heard, problems
}

// choose returns one of 0 .. n-1, each with the same probability.
func choose(n uint32) uint32 { return uint32(below(uint64(n))) }

// below returns one of 0 .. n-1, each with the same probability, from the system's source of random numbers.
func below(n uint64) uint64 {
	i, err := rand.Int(rand.Reader, new(big.Int).SetUint64(n))
	if err != nil {
		panic(err) // the system's source never fails
	}
	return i.Uint64()
}
