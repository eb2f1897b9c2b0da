package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// The pauses between two attempts to connect, and between two connections to a peer from whom we part again
// and again; each is lengthened or shortened by up to a half at random.
const (
	leastPause = 20 * time.Millisecond
	mostPause  = 500 * time.Millisecond
	mostRest   = 5 * time.Second
)

// queueLength is how many messages wait for a connection, or for a slow peer, before it is given up.
const queueLength = 256

// sender carries messages to one peer, over one connection that it dials until it succeeds. It ends when
// that connection breaks; the loop then makes a new one.
type sender struct {
	member *Member
	peer   *peer
	ctx    context.Context
	cancel context.CancelFunc
	queue  chan []byte   // frames
	kick   chan struct{} // there is something to send
	heard  chan struct{} // the peer has connected
}

// dialed reports an attempt of a sender to connect: nil, or why it failed, and whether messages were
// lost by that: those that were queued before it began.
type dialed struct {
	from *sender
	err  error
	lost bool
}

// broken reports the end of a sender.
type broken struct {
	from *sender
	err  error
}

// refusal is a peer's verdict against us.
type refusal verdict

func (r *refusal) Error() string { return "refused: " + r.reason }

func newSender(m *Member, p *peer, rest time.Duration) *sender {
	s := &sender{
		member: m, peer: p, queue: make(chan []byte, queueLength),
		kick: make(chan struct{}, 1), heard: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(m.ctx)
	m.group.Go(func() { s.run(rest) })
	return s
}

// send queues a frame and never blocks. A sender whose queue is full ends, and takes nothing more: what follows a
// message that is lost must not arrive without it.
func (s *sender) send(frame []byte) {
	if s.ctx.Err() != nil {
		return
	}
	select {
	case s.queue <- frame:
		nudge(s.kick)
	default:
		s.cancel()
	}
}

// nudge ends a pause.
func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run rests and connects. What is queued does not shorten the rest, or whoever parts from us for what we send
// would be sent to again at once.
func (s *sender) run(rest time.Duration) {
	defer s.cancel()
	pause, kick := rest, (<-chan struct{})(nil)
	for backoff := leastPause; ; backoff = min(2*backoff, mostPause) {
		if !s.wait(pause, kick) {
			s.member.post(broken{s, s.ctx.Err()})
			return
		}
		queued := len(s.queue)
		conn, err := s.dial()
		if err == nil {
			s.member.post(dialed{from: s})
			s.member.post(broken{s, s.write(conn)})
			return
		}
		for range queued {
			<-s.queue
		}
		s.member.post(dialed{s, err, queued > 0})
		pause, kick = jitter(backoff), s.kick
	}
}

// wait pauses, but not longer than until the peer connects, or until a kick. It is false when the sender is to end.
func (s *sender) wait(pause time.Duration, kick <-chan struct{}) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.heard:
	case <-kick:
	case <-s.ctx.Done():
		return false
	}
	select { // what is queued by now is not a reason for a second attempt
	case <-s.kick:
	default:
	}
	return true
}

func jitter(d time.Duration) time.Duration { return d/2 + time.Duration(below(uint64(d))) }

// dial connects and presents us, within the suspicion timeout.
func (s *sender) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.member.config.Suspicion)
	defer cancel()
	conn, err := s.member.config.Dial(ctx, "tcp", s.peer.address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	err = s.present(conn)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (s *sender) present(conn net.Conn) error {
	h := hello{s.member.shared, s.member.config.ID, s.peer.id, s.member.incarnation}
	if _, err := conn.Write(h.encode()); err != nil {
		return err
	}
	v, err := readVerdict(conn)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if v.code != accepted {
		return (*refusal)(&v)
	}
	_, err = conn.Write(heartbeatFrame)
	return err
}

var errTalks = errors.New("the listening side sent something")

// write sends what is queued, and heartbeats where there is nothing, until the connection breaks. The
// other side never sends anything, so that a read ends when it has closed.
func (s *sender) write(conn net.Conn) error {
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	defer conn.Close()
	closed := make(chan error, 1)
	s.member.group.Go(func() {
		_, err := conn.Read(make([]byte, 1))
		if err == nil {
			err = errTalks
		}
		closed <- err
	})
	idle := time.NewTicker(s.member.config.Heartbeat)
	defer idle.Stop()
	for {
		frame := heartbeatFrame
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case err := <-closed:
			return err
		case frame = <-s.queue:
		case <-idle.C:
		}
		conn.SetWriteDeadline(time.Now().Add(s.member.config.Suspicion))
		if _, err := conn.Write(frame); err != nil {
			return err
		}
		idle.Reset(s.member.config.Heartbeat)
	}
}
