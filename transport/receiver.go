package transport

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"sync"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// incoming is a connection that a peer dialed.
type incoming struct {
	group     *sync.WaitGroup // of goroutines
	peer      int             // its position
	hello     Hello
	conn      net.Conn
	least     time.Duration // the suspicion timeout of this member
	admit     chan bool     // of capacity 1: read it, or close
	suspicion time.Duration // how long it may be silent; read changes it

	taken chan struct{} // of capacity 1: the last message was

	mu       sync.Mutex
	draining bool
}

// LastWords is how long an abandoned connection is still read, for data that has already arrived.
const LastWords = 50 * time.Millisecond

// A look for received data that is less late than punctual is on time; blink is the duration of one more look.
const (
	punctual = time.Millisecond
	blink    = 5 * time.Millisecond
)

// accept receives connections until the listener is closed. A flood that comes faster than the handshakes are made
// waits in the system.
func (t *tcp) accept() {
	for {
		select {
		case t.welcomes <- struct{}{}:
		case <-t.ctx.Done():
			return
		}
		conn, err := t.Listener.Accept()
		if err != nil {
			<-t.welcomes
		}
		switch {
		case err == nil:
			t.group.Go(func() { t.serve(conn) })
		case t.staying.Err() != nil: // it is this member that has closed it
			return
		case errors.Is(err, net.ErrClosed):
			t.Post(Failed{fmt.Errorf("listening on %s: %w", t.Listener.Addr(), err)})
			return
		default: // for example without file descriptors: peers will dial again
			t.Log.Warn("cannot accept a connection", "error", err)
			select {
			case <-time.After(LeastPause):
			case <-t.ctx.Done():
			}
		}
	}
}

// serve runs an incoming connection.
func (t *tcp) serve(conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(t.ctx, func() { conn.Close() })()
	in, err := t.welcome(conn)
	<-t.welcomes
	if err != nil {
		t.Log.Debug("a connection came to nothing", "from", conn.RemoteAddr(), "error", err)
		return
	}
	t.Post(Arrived{in})
	select {
	case read := <-in.admit:
		if !read {
			return
		}
	case <-t.ctx.Done():
		return
	}
	t.Post(Ended{in, in.read(func(kind uint8, payload []byte) {
		select { // a flooding peer waits as long as each of the others
		case <-in.taken:
		case <-t.ctx.Done():
		}
		t.Post(Message{in, kind, payload})
	})})
}

var errLearnt = errors.New("it brought a proof of death")

// welcome reads a hello, answers it, and waits for the confirmation. It takes memory of fixed size.
func (t *tcp) welcome(raw net.Conn) (*incoming, error) {
	t.strangers.enter(raw, hostOf(raw.RemoteAddr().String()))
	defer t.strangers.leave(raw)
	defer t.certified.leave(raw)
	raw.SetDeadline(time.Now().Add(t.handshake()))
	guarded := &guarded{Conn: raw, socket: kernel.NewSocket(raw), left: strangerBytes}
	var first [len(magic)]byte
	if _, err := io.ReadFull(guarded, first[:]); err != nil {
		return nil, err
	}
	guarded.again = first[:]
	if string(first[:]) == proofMagic {
		return nil, cmp.Or(t.learn(guarded), errLearnt)
	}
	conn, name, err := t.authenticate(guarded, first[:])
	if err != nil {
		return nil, err
	}
	h, err := ReadHello(conn)
	if err != nil {
		return nil, err
	}
	p, v := t.judge(h, name)
	answer := t.Hello(h.From)
	if v.Code == Refused {
		answer = Hello{From: t.self(), To: h.From} // an unknown process learns nothing else here
	}
	if _, err := conn.Write(append(answer.Encode(), v.Encode()...)); err != nil {
		return nil, err
	}
	if v.Code != Accepted {
		return nil, fmt.Errorf("refused: %s", v.Reason)
	}
	var confirmation [3]byte
	if _, err := io.ReadFull(conn, confirmation[:]); err != nil {
		return nil, err
	}
	if string(confirmation[:]) != string(HeartbeatFrame) {
		return nil, ErrFrame
	}
	guarded.left = math.MaxInt
	in := &incoming{
		group: &t.group, peer: p, hello: h, conn: conn, admit: make(chan bool, 1), taken: make(chan struct{}, 1),
		least: t.Timing.Suspicion, suspicion: h.Timing.Patience(t.Timing.Suspicion, false),
	}
	in.Taken() // there was no message yet
	return in, nil
}

// tlsHandshake is the first byte of a connection with TLS.
const tlsHandshake = 0x16

// authenticate secures a connection, if this member uses TLS, and returns the name in the peer's certificate. A peer
// that uses TLS where this member does not, or the reverse, gets the reason in clear text. The first bytes decide. A peer
// that gets a reason closes the connection: its last words may be under way, and if they arrive after the end of this
// side, the system drops the reason.
func (t *tcp) authenticate(conn *guarded, first []byte) (secure net.Conn, name string, err error) {
	uses, v := first[0] == tlsHandshake, Verdict{Code: Refused}
	switch {
	case uses && t.TLS != nil:
		if secure, name, err = t.TLS.server(conn); err != nil {
			io.Copy(io.Discard, conn)
			return nil, "", err
		}
		t.strangers.leave(conn.Conn)
		t.certified.enter(conn.Conn, name)
		return secure, name, nil
	case uses:
		v.Reason = fmt.Sprintf("member %d does not use TLS", t.self())
	case t.TLS == nil:
		return conn, "", nil
	case string(first) == magic:
		v.Reason = fmt.Sprintf("member %d takes only connections with TLS", t.self())
	default:
		return nil, "", errProtocol
	}
	answer := Hello{From: t.self()}
	conn.Write(append(answer.Encode(), v.Encode()...))
	io.Copy(io.Discard, conn)
	return nil, "", fmt.Errorf("refused: %s", v.Reason)
}

// refusals holds why processes were refused last, by the identifiers that they present: each reason is logged once.
type refusals struct {
	mu   sync.Mutex
	last map[uint64]string
}

// mostRefusals is the number of identifiers whose refusals are logged: any process can present others.
const mostRefusals = 64

func (r *refusals) isNew(from uint64, reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, known := r.last[from]; last == reason || !known && len(r.last) >= mostRefusals {
		return false
	}
	if r.last == nil {
		r.last = map[uint64]string{}
	}
	r.last[from] = reason
	return true
}

// judge returns the peer of a hello, and a verdict. The name comes from the certificate.
func (t *tcp) judge(h Hello, name string) (peer int, v Verdict) {
	if want := MemberName(t.Name, h.From); t.TLS != nil && name != want {
		return 0, Verdict{Code: Refused, Reason: fmt.Sprintf("the certificate names %s, not %s", name, want)}
	}
	c := t.Config
	c.Members = t.list.Load().members
	if peer, v = c.Judge(h); v.Code != Accepted {
		if v.Code == Refused && t.refusals.isNew(h.From, v.Reason) {
			t.Log.Warn("a process is refused", "peer", h.From, "reason", v.Reason)
		}
		return peer, v
	}
	answer := make(chan Verdict, 1)
	t.Post(Asked{peer, h, answer})
	select {
	case v = <-answer:
		return peer, v
	case <-t.ctx.Done():
		return peer, Verdict{Code: Refused, Reason: fmt.Sprintf("member %d is stopping", t.self())}
	}
}

func (in *incoming) Peer() int       { return in.peer }
func (in *incoming) Hello() Hello    { return in.hello }
func (in *incoming) Admit(read bool) { in.admit <- read }
func (in *incoming) Taken()          { in.taken <- struct{}{} }
func (in *incoming) Close()          { in.conn.Close() }

// Tell writes on a connection on which this side has written nothing since the verdict, or little: so the system sends it at once.
func (in *incoming) Tell(frame []byte) {
	in.group.Go(func() {
		in.conn.SetWriteDeadline(time.Now().Add(in.least))
		in.conn.Write(frame)
	})
}

// read passes on what arrives until the connection breaks, is silent for too long, or is drained.
func (in *incoming) read(pass func(kind uint8, payload []byte)) error {
	frames := NewFrameReader(in.conn)
	for {
		kind, payload, err := in.next(frames)
		if err != nil {
			return cutOff(err)
		}
		switch kind {
		case heartbeat, seldom:
			in.suspicion = in.hello.Timing.Patience(in.least, kind == seldom)
		case goodbye:
			return ErrLeft
		default:
			pass(kind, payload)
		}
	}
}

// next reads a frame. Silence is judged in two looks: data that arrived while this process itself was stopped is read
// before a peer is suspected. If the last look comes late, this process was stopped again, and looks once more.
func (in *incoming) next(frames *bufio.Reader) (kind uint8, payload []byte, err error) {
	last := min(LastWords, in.suspicion/2)
	for i, wait := range [...]time.Duration{in.suspicion - last, last, blink, blink, blink} {
		late := in.extend(wait)
		kind, payload, err = ReadFrame(frames)
		if !errors.Is(err, os.ErrDeadlineExceeded) || i > 0 && late() < punctual {
			break
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && !in.drains() {
		err = silence{in.suspicion}
	}
	return kind, payload, err
}

// drains reports whether the connection is to end.
func (in *incoming) drains() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.draining
}

// extend sets how long the next read may take, and returns a function for how much longer it took. A draining
// connection keeps its own deadline.
func (in *incoming) extend(wait time.Duration) (late func() time.Duration) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.draining {
		return func() time.Duration { return 0 }
	}
	deadline := time.Now().Add(wait)
	in.conn.SetReadDeadline(deadline)
	return func() time.Duration { return time.Since(deadline) }
}

// Drain ends a connection after its received data is read.
func (in *incoming) Drain() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.draining {
		in.draining = true
		in.conn.SetReadDeadline(time.Now().Add(LastWords))
	}
}
