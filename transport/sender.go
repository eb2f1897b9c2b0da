package transport

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The pauses between two attempts to connect; each is lengthened or shortened by up to a half at random.
const (
	LeastPause = 20 * time.Millisecond
	MostPause  = 500 * time.Millisecond
)

// batchBytes limits what one write takes from the queue, except for its last frame.
const batchBytes = 1 << 16

// sender carries frames to one peer, over one connection that it dials until it succeeds. It ends when
// that connection breaks; the loop then makes a new one.
type sender struct {
	tcp    *tcp
	peer   int // its position
	ctx    context.Context
	cancel context.CancelFunc
	queue  Queue
	kick   chan struct{} // there is a frame to send
	heard  chan struct{} // the peer has connected
	beat   chan struct{} // a heartbeat is due
	seldom atomic.Bool   // and the next one takes longer
	shown  atomic.Bool   // frames have shown since the last Beat that this member is live

	mu   sync.Mutex // of what follows, and of writes
	conn net.Conn   // nil: there is none, or one that is not eager
	raw  *prompt    // the connection below it
	err  error      // of a write of the member's
}

// Refusal is a peer's verdict against us.
type Refusal Verdict

func (r *Refusal) Error() string { return "refused: " + r.Reason }

func (t *tcp) Dial(to int, rest time.Duration) Outgoing {
	s := &sender{
		tcp: t, peer: to,
		kick: make(chan struct{}, 1), heard: make(chan struct{}, 1), beat: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(t.ctx)
	t.senders.Go(func() { s.run(rest) })
	return s
}

func (s *sender) Peer() int { return s.peer }

func (s *sender) Nudge() { nudge(s.heard) }

func (s *sender) Beat(seldom bool) {
	if shown := s.shown.Swap(false); s.seldom.Swap(seldom) != seldom || !shown {
		nudge(s.beat)
	}
}

func (s *sender) Close() { s.cancel() }

// Send queues a frame. A sender with a full queue ends, and takes no more frames: messages after a lost one must not
// arrive without it.
func (s *sender) Send(frame []byte, slot uint64) {
	switch {
	case s.ctx.Err() != nil, s.hand(frame):
	case s.queue.Put(frame, slot):
		nudge(s.kick)
	default:
		s.cancel()
	}
}

// hand writes a frame at once, if nothing waits before it. It reports whether the frame needs no place in the queue.
func (s *sender) hand(frame []byte) bool {
	if !s.mu.TryLock() {
		return false // the goroutine writes
	}
	defer s.mu.Unlock()
	if s.conn == nil || !s.queue.Empty() || s.raw.rests() {
		return false
	}
	if _, err := s.conn.Write(frame); err != nil {
		s.conn, s.err = nil, err
		nudge(s.kick)
	}
	s.shown.Store(true)
	return true
}

// nudge ends a pause.
func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run pauses and connects. Queued frames do not shorten the pause: a peer that disconnects because of our messages must
// not get them again at once.
func (s *sender) run(rest time.Duration) {
	defer s.cancel()
	pause, kick := rest, (<-chan struct{})(nil)
	for backoff := LeastPause; ; backoff = min(2*backoff, MostPause) {
		if !s.wait(pause, kick) {
			s.tcp.Post(Broken{s, context.Canceled})
			return
		}
		queued := s.queue.Last()
		conn, hello, err := s.dial()
		if err == nil {
			select { // one that was due before the connection was confirmed
			case <-s.beat:
			default:
			}
			s.seldom.Store(false)
			s.tcp.Post(Dialed{Out: s, Hello: hello})
			s.tcp.Post(Broken{s, cutOff(s.write(conn))})
			return
		}
		if p := s.tcp.list.Load().places[s.peer]; p != nil {
			s.tcp.look(p) // it may be elsewhere now
		}
		s.tcp.Post(Dialed{Out: s, Err: err, Lost: s.queue.Drop(queued)})
		pause, kick = Jitter(backoff), s.kick
	}
}

// wait pauses, but not longer than until the peer connects, or until a kick. It returns false if the sender must end.
func (s *sender) wait(pause time.Duration, kick <-chan struct{}) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.heard:
	case <-kick:
	case <-s.ctx.Done():
		return false
	case <-s.tcp.staying.Done():
		return false
	}
	select { // frames queued by now are no reason for a second attempt
	case <-s.kick:
	default:
	}
	return true
}

// Jitter returns a duration from a half to three halves of d, at random. d is at least 1 ns.
func Jitter(d time.Duration) time.Duration {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(d)))
	if err != nil {
		panic(err) // the system's source never fails
	}
	return d/2 + time.Duration(i.Int64())
}

// MostHandshake is how long a handshake may take, on both sides, if the suspicion timeout is not longer. Where many members
// start on few processors, all their handshakes together take seconds, and one that was given up has to be made again.
const MostHandshake = 5 * time.Second

func (t *tcp) handshake() time.Duration { return max(MostHandshake, t.Timing.Suspicion) }

// dial connects, within the suspicion timeout, and sends our Hello, unless the member leaves.
func (s *sender) dial() (net.Conn, Hello, error) {
	suspicion := s.tcp.Timing.Suspicion
	ctx, cancel := context.WithTimeout(s.ctx, s.tcp.handshake())
	defer cancel()
	defer context.AfterFunc(s.tcp.staying, cancel)()
	slow := time.NewTimer(suspicion)
	defer slow.Stop()
	within, cancelConnect := context.WithTimeout(ctx, suspicion)
	defer cancelConnect()
	raw, err := s.tcp.connect(within, s.peer)
	if err != nil {
		return nil, Hello{}, unreached(err, suspicion)
	}
	s.tcp.strangers.isMember(raw.RemoteAddr().String()) // its name may have had another address before
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	var conn net.Conn
	var hello Hello
	done := make(chan struct{})
	s.raw = newPrompt(raw, func() { nudge(s.kick) })
	s.tcp.group.Go(func() {
		defer close(done)
		conn, hello, err = s.introduce(&guarded{Conn: s.raw, left: strangerBytes})
	})
	select {
	case <-done:
	case <-slow.C:
		s.tcp.Post(Dialed{Out: s, Err: unreached(context.DeadlineExceeded, suspicion), Slow: true, Lost: !s.queue.Empty()})
		<-done
	}
	if !stop() {
		err = unreached(ctx.Err(), s.tcp.handshake())
	}
	if err != nil {
		raw.Close()
		return nil, Hello{}, err
	}
	return conn, hello, nil
}

// introduce secures a connection, if this member uses TLS, and presents this member.
func (s *sender) introduce(raw *guarded) (conn net.Conn, hello Hello, err error) {
	conn = raw
	if s.tcp.TLS != nil {
		if conn, err = s.tcp.TLS.client(raw, MemberName(s.tcp.Name, s.tcp.member(s.peer).ID)); err != nil {
			return nil, Hello{}, err
		}
	}
	hello, err = s.present(conn)
	return conn, hello, err
}

// present presents this member, and looks at the answer: only the member that is meant can accept us.
func (s *sender) present(conn net.Conn) (Hello, error) {
	ours := s.tcp.Hello(s.tcp.member(s.peer).ID)
	if _, err := conn.Write(ours.Encode()); err != nil {
		return Hello{}, err
	}
	h, err := ReadHello(conn)
	var v Verdict
	if err == nil {
		v, err = ReadVerdict(conn)
	}
	switch {
	case errors.As(err, new(*Refusal)): // by TLS
		return h, err
	case err != nil:
		return h, fmt.Errorf("no answer: %w", err)
	case v.Code != Refused && v.Code != RefusedSelf && (h.Group.Name != ours.Group.Name || h.Group.Algorithm != ours.Group.Algorithm || h.Group.apart(&ours.Group) || h.From != ours.To || h.To != ours.From):
		return h, fmt.Errorf("member %d of another group answers", h.From)
	case v.Code == RefusedSelf && h.Incarnation != ours.Incarnation:
		return h, errProtocol
	case v.Code != Accepted:
		return h, (*Refusal)(&v)
	}
	_, err = conn.Write(HeartbeatFrame)
	return h, err
}

// listen passes on the frames that come back, until the other side closes the connection. One that sends them faster than they are
// taken waits.
func (s *sender) listen(conn net.Conn) error {
	for frames := bufio.NewReaderSize(conn, MaxTold); ; {
		kind, payload, err := ReadFrame(frames)
		switch {
		case err != nil:
			return err
		case kind > LastOpaque:
			return ErrFrame
		}
		s.tcp.Post(Told{s, kind, payload})
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-time.After(LastWords):
		}
	}
}

// write sends queued frames, and heartbeats if there are none, until the connection breaks or the member leaves. The
// other side hardly ever sends, so a read ends when it has closed.
func (s *sender) write(conn net.Conn) error {
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	defer conn.Close()
	defer s.hold(nil)
	closed := make(chan error, 1)
	s.tcp.group.Go(func() {
		closed <- s.listen(conn)
	})
	if s.raw.hasten() {
		s.hold(conn)
	}
	for {
		if err := s.flush(conn); err != nil {
			return err
		}
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case err := <-closed:
			return err
		case <-s.kick:
		case <-s.beat:
			if err := s.send(conn, beats(s.seldom.Load())); err != nil {
				return err
			}
		case <-s.tcp.staying.Done():
			if err := s.flush(conn); err != nil {
				return err
			}
			return s.send(conn, goodbyeFrame)
		}
	}
}

// hold lets the member write to a connection, or to none.
func (s *sender) hold(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
}

// beats returns the frame of a heartbeat.
func beats(seldom bool) []byte {
	if seldom {
		return SeldomFrame
	}
	return HeartbeatFrame
}

// flush writes all queued frames, as many as possible at a time.
func (s *sender) flush(conn net.Conn) error {
	for {
		some, err := s.batch(conn)
		if err == nil {
			err = s.drain()
		}
		if err != nil || !some {
			return err
		}
	}
}

// batch writes queued frames, and reports whether there were any.
func (s *sender) batch(conn net.Conn) (some bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var batch []byte
	for len(batch) < batchBytes {
		frame, _ := s.queue.Take()
		if frame == nil {
			break
		}
		batch = append(batch, frame...)
	}
	if s.err != nil || len(batch) == 0 {
		return false, s.err
	}
	err = s.pass(conn, batch)
	s.shown.Store(true)
	return true, err
}

func (s *sender) send(conn net.Conn, b []byte) error {
	s.mu.Lock()
	err := s.pass(conn, b)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.drain()
}

// pass writes to the connection, which takes no longer than the suspicion timeout.
func (s *sender) pass(conn net.Conn, b []byte) error {
	if s.conn == nil {
		conn.SetWriteDeadline(time.Now().Add(s.tcp.Timing.Suspicion))
	}
	_, err := conn.Write(b)
	return err
}

// drain writes what an eager connection has left, which takes no longer than the suspicion timeout.
func (s *sender) drain() error {
	if !s.raw.rests() {
		return nil
	}
	s.raw.SetWriteDeadline(time.Now().Add(s.tcp.Timing.Suspicion))
	defer s.raw.SetWriteDeadline(time.Time{})
	return s.raw.drain()
}
