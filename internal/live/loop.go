package live

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/network"
)

// loop owns all that changes. Its methods run in one goroutine.
type loop struct {
	*Member
	declaration election.Declaration
	prepared    *network.Instance
	position    int
	machine     *process.Machine
	store       *store
	recover     bool // this is not the first life

	begun    time.Time
	started  bool
	startBy  time.Duration // when not to wait for the first connections any longer
	timers   process.Timers
	home     []process.Input // messages to ourselves
	decision election.Decision
	lease    time.Duration // when our leading ends by itself
}

// firstConnections is how long a member waits, before it starts, for those who do not answer its calls. Who
// refuses them answers.
const firstConnections = 100 * time.Millisecond

// live is the life of a member.
func (l *loop) live() {
	l.begun = time.Now()
	l.startBy = firstConnections
	l.lease = process.Never
	for _, p := range l.peers {
		if p != nil {
			p.out = newSender(l.Member, p, 0)
		}
	}
	l.group.Go(l.accept)
	l.log.Info("listening", "address", l.listener.Addr(), "incarnation", l.incarnation, "recovering", l.recover)
	err := l.run()
	l.cancel()
	l.listener.Close()
	l.group.Wait()
	l.err = errors.Join(err, l.store.close())
	l.decision, l.lease = election.Decision{Term: l.decision.Term}, process.Never
	for _, p := range l.peers {
		if p != nil {
			p.health = unknown
		}
	}
	l.show()
	if err != nil {
		l.log.Error("stopped", "error", err)
	}
	close(l.done)
}

func (l *loop) run() error {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for l.ctx.Err() == nil {
		// What expired before an event is handled goes first, so that a step that comes late knows it.
		if err := l.expire(); err != nil {
			return err
		}
		if len(l.home) > 0 {
			in := l.home[0]
			l.home = l.home[1:]
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

// now is the time since the start, on the monotonic clock.
func (l *loop) now() time.Duration { return time.Since(l.begun) }

// next is when expire has something to do.
func (l *loop) next() time.Duration {
	_, at := l.timers.Next()
	if !l.started && l.now() < l.startBy { // after that, the news that it waits for comes by the inbox
		at = l.startBy
	}
	return min(at, l.lease)
}

// expire starts the algorithm when it is time, and lets what has expired expire.
func (l *loop) expire() error {
	if !l.started && l.mayStart() {
		if err := l.start(); err != nil {
			return err
		}
	}
	now := l.now()
	if l.lease <= now {
		l.lease = process.Never
		l.decision = election.Decision{Term: l.decision.Term}
		l.show()
	}
	for range l.declaration.Timers { // and no more: a timer that is set to 0 again and again must not shut out messages
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

// mayStart says whether everybody who is up is connected, so that the first messages reach them; it does not
// wait for those who do not answer. Who is taken for a second process with one identifier must not start.
func (l *loop) mayStart() bool {
	late := l.now() >= l.startBy
	for _, p := range l.peers {
		if p != nil && (!p.duplicate.IsZero() || !p.resolved && !late) {
			return false
		}
	}
	return true
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
	case asked:
		e.answer <- l.verdict(e.peer, e.hello)
	case arrived:
		return l.arrived(e.in)
	case message:
		return l.message(e)
	case ended:
		return l.ended(e)
	case dialed:
		return l.dialed(e)
	case broken:
		if p := e.from.peer; e.from == p.out {
			l.log.Debug("connection to a member broke", "peer", p.id, "error", e.err)
			return l.part(p)
		}
	case election.Command:
		if l.started {
			return l.step(process.Input{What: process.Commanded, Command: e})
		}
	case failed:
		return e.err
	}
	return nil
}

// step gives an event to the algorithm, and its effects to the world, in the promised order. An error that
// is not about a malformed message stops the member.
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
			l.home = append(l.home, process.Input{What: process.Received, Port: s.Port, Kind: s.Kind, Message: s.Frame[process.HeadSize:]})
			continue
		}
		l.peers[s.Port].out.send(s.Frame)
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

// show publishes what is known.
func (l *loop) show() {
	before, _ := l.State()
	s := State{
		Role: l.decision.Role, Leader: l.prepared.RealOf(l.decision.Leader), Term: l.decision.Term,
		Since: before.Since, Reachable: l.reachable(),
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

func (l *loop) reachable() []bool {
	members := make([]bool, len(l.config.Members))
	for i, member := range l.config.Members {
		p := l.peerOf(member.ID)
		members[i] = p == nil || p.health == reachable
	}
	return members
}

// choose is one of 0 .. n-1, each as likely as the others.
func choose(n uint32) uint32 { return uint32(below(uint64(n))) }

// below is one of 0 .. n-1, each as likely as the others, from the system's source of random numbers.
func below(n uint64) uint64 {
	i, err := rand.Int(rand.Reader, new(big.Int).SetUint64(n))
	if err != nil {
		panic(err) // the system's source never fails
	}
	return i.Uint64()
}
