package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// incoming is a connection that a peer dialed.
type incoming struct {
	peer        *peer
	incarnation uint64 // of the peer
	conn        net.Conn
	admit       chan bool     // the loop's word: read it, or leave
	suspicion   time.Duration // how long it may be silent

	mu       sync.Mutex
	deadline time.Time
	draining bool
}

// asked is a hello that waits for a verdict.
type asked struct {
	peer   *peer
	hello  hello
	answer chan verdict // of capacity 1
}

// arrived says that a connection stands.
type arrived struct{ in *incoming }

// message is a message of the algorithm.
type message struct {
	in      *incoming
	kind    uint8
	payload []byte
}

// ended says that a connection is at its end, and that all that came from it came before.
type ended struct {
	in  *incoming
	err error
}

// failed says that the member cannot go on.
type failed struct{ err error }

// mostStrangers is how many connections may stand that have not presented themselves yet. One more,
// and the oldest is closed: so nobody who only connects can keep the members out.
const mostStrangers = 64

// lastWords is how long a connection is still read that is given up: for what has arrived already.
const lastWords = 50 * time.Millisecond

// strangers are connections that have not presented themselves yet, the oldest first.
type strangers struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (s *strangers) enter(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == mostStrangers {
		s.conns[0].Close()
		s.conns = slices.Delete(s.conns, 0, 1)
	}
	s.conns = append(s.conns, conn)
}

func (s *strangers) leave(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = slices.DeleteFunc(s.conns, func(c net.Conn) bool { return c == conn })
}

// accept receives connections until the listener is closed.
func (m *Member) accept() {
	for {
		conn, err := m.listener.Accept()
		switch {
		case err == nil:
			m.group.Go(func() { m.serve(conn) })
		case m.ctx.Err() != nil:
			return
		case errors.Is(err, net.ErrClosed):
			m.post(failed{fmt.Errorf("listening on %s: %w", m.listener.Addr(), err)})
			return
		default: // no more file descriptors, say: peers will dial again
			m.log.Warn("cannot accept a connection", "error", err)
			select {
			case <-time.After(leastPause):
			case <-m.ctx.Done():
			}
		}
	}
}

// serve is the life of an incoming connection.
func (m *Member) serve(conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(m.ctx, func() { conn.Close() })()
	in, err := m.welcome(conn)
	if err != nil {
		m.log.Debug("a connection came to nothing", "from", conn.RemoteAddr(), "error", err)
		return
	}
	m.post(arrived{in})
	select {
	case read := <-in.admit:
		if !read {
			return
		}
	case <-m.ctx.Done():
		return
	}
	m.post(ended{in, in.read(func(kind uint8, payload []byte) { m.post(message{in, kind, payload}) })})
}

// welcome reads a hello, answers it, and waits for the confirmation. It takes memory of fixed size.
func (m *Member) welcome(conn net.Conn) (*incoming, error) {
	m.strangers.enter(conn)
	defer m.strangers.leave(conn)
	conn.SetDeadline(time.Now().Add(m.config.Suspicion))
	var raw [helloSize]byte
	if _, err := io.ReadFull(conn, raw[:]); err != nil {
		return nil, err
	}
	h, ok := decodeHello(raw[:])
	if !ok {
		return nil, errors.New("it does not speak this protocol")
	}
	p, v := m.judge(h)
	if _, err := conn.Write(v.encode()); err != nil {
		return nil, err
	}
	if v.code != accepted {
		return nil, fmt.Errorf("refused: %s", v.reason)
	}
	var confirmation [3]byte
	if _, err := io.ReadFull(conn, confirmation[:]); err != nil {
		return nil, err
	}
	if string(confirmation[:]) != string(heartbeatFrame) {
		return nil, errFrame
	}
	return &incoming{
		peer: p, incarnation: h.Incarnation, conn: conn, admit: make(chan bool, 1), suspicion: m.config.Suspicion,
	}, nil
}

// judge says whether a hello comes from a peer, and gives it a verdict.
func (m *Member) judge(h hello) (*peer, verdict) {
	no := func(format string, args ...any) (*peer, verdict) {
		return nil, verdict{refused, fmt.Sprintf(format, args...)}
	}
	switch {
	case h.Group.Members != m.shared.Members:
		return no("member %d has another list of members; all must be given the same", m.config.ID)
	case h.Group.Algorithm != m.shared.Algorithm:
		return no("member %d runs another algorithm, or another version of %s", m.config.ID, m.algorithm)
	case h.Group.Parameters != m.shared.Parameters:
		return no("member %d has other parameters or another message delay; all must be given the same", m.config.ID)
	case h.From == m.config.ID:
		return nil, verdict{refusedDuplicate, fmt.Sprintf("another live process has id %d", h.From)}
	case h.To != m.config.ID:
		return no("this is member %d, not %d; its address is wrong in the list of members, or it listens at a wrong one", m.config.ID, h.To)
	}
	p := m.peerOf(h.From)
	if p == nil {
		return no("there is no member %d", h.From)
	}
	ask := asked{p, h, make(chan verdict, 1)}
	m.post(ask)
	select {
	case v := <-ask.answer:
		return p, v
	case <-m.ctx.Done():
		return no("member %d is stopping", m.config.ID)
	}
}

// read passes on what arrives until the connection breaks, is silent for too long, or is drained.
func (in *incoming) read(pass func(kind uint8, payload []byte)) error {
	frames := newFrameReader(in.conn)
	for {
		kind, payload, err := in.next(frames)
		if err != nil {
			return err
		}
		if kind != heartbeat {
			pass(kind, payload)
		}
	}
}

func (in *incoming) next(frames *bufio.Reader) (uint8, []byte, error) {
	in.extend(in.suspicion)
	kind, payload, err := readFrame(frames)
	if errors.Is(err, os.ErrDeadlineExceeded) && in.overslept() {
		// It was we who were away: what has come meanwhile is still to be read.
		in.extend(lastWords)
		kind, payload, err = readFrame(frames)
	}
	return kind, payload, err
}

func (in *incoming) extend(wait time.Duration) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.draining {
		in.deadline = time.Now().Add(wait)
		in.conn.SetReadDeadline(in.deadline)
	}
}

func (in *incoming) overslept() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return time.Since(in.deadline) > lastWords
}

// drain lets a connection end soon: when what has arrived is read.
func (in *incoming) drain() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.draining {
		in.draining = true
		in.conn.SetReadDeadline(time.Now().Add(lastWords))
	}
}
