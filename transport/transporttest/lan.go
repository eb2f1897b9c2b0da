package transporttest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// LAN is TCP in memory, for a synctest bubble: bytes take no time, and addresses can be separated from
// each other. Bytes sent across a separation arrive when it ends, as TCP's retransmissions do.
type LAN struct {
	mu        sync.Mutex
	change    sync.Cond
	listeners map[string]*Listener
	ends      []*end
	side      map[string]int     // addresses on different sides are separated
	links     map[[2]string]bool // pairs of addresses that are separated
	refused   [2]string          // the first cannot connect to the second
	stopped   map[string]bool
	aliases   map[string]string
}

// NewLAN returns a network without listeners.
func NewLAN() *LAN {
	n := &LAN{listeners: map[string]*Listener{}, side: map[string]int{}, stopped: map[string]bool{}, aliases: map[string]string{}, links: map[[2]string]bool{}}
	n.change.L = &n.mu
	return n
}

// Separate puts addresses on a side; all begin on side 0.
func (n *LAN) Separate(side int, addresses ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range addresses {
		n.side[a] = side
	}
	n.change.Broadcast()
}

// Cut separates two addresses from each other, and Mend ends all such cuts.
func (n *LAN) Cut(a, b string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[[2]string{a, b}], n.links[[2]string{b, a}] = true, true
	n.change.Broadcast()
}

// Mend ends all that Cut began.
func (n *LAN) Mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.links)
	n.change.Broadcast()
}

// cut reports whether two addresses are separated.
func (n *LAN) cut(a, b string) bool { return n.side[a] != n.side[b] || n.links[[2]string{a, b}] }

// Refuse lets no connection be made from one address to another, as a firewall does.
func (n *LAN) Refuse(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused = [2]string{from, to}
}

// Stop lets an address read nothing until it resumes, as a stopped process. Its deadlines pass meanwhile.
func (n *LAN) Stop(at string, stopped bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped[at] = stopped
	n.change.Broadcast()
}

// Reset breaks one connection, as a router does that forgets it.
func (n *LAN) Reset(choose func(n int) int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.ends) == 0 {
		return
	}
	e := n.ends[choose(len(n.ends))]
	e.in.reset, e.out.reset = true, true
	n.change.Broadcast()
}

// ResetAll breaks all connections.
func (n *LAN) ResetAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.ends {
		e.in.reset, e.out.reset = true, true
	}
	n.change.Broadcast()
}

// Alias lets an address lead to another one; an empty target removes the alias.
func (n *LAN) Alias(of, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.aliases[of] = to
}

type address string

func (a address) Network() string { return "memory" }
func (a address) String() string  { return string(a) }

// Listener is one of a LAN.
type Listener struct {
	n       *LAN
	at      string
	waiting []*end
	closed  bool
}

// Listen returns a listener at an address.
func (n *LAN) Listen(at string) *Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &Listener{n: n, at: at}
	n.listeners[at] = l
	return l
}

// Addr returns where it listens.
func (l *Listener) Addr() net.Addr { return address(l.at) }

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	for len(l.waiting) == 0 {
		if l.closed {
			return nil, net.ErrClosed
		}
		l.n.change.Wait()
	}
	e := l.waiting[0]
	l.waiting = l.waiting[1:]
	return e, nil
}

// Called reports whether a connection waits to be accepted.
func (l *Listener) Called() bool {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	return len(l.waiting) > 0
}

// Close ends it, with the connections that were not accepted.
func (l *Listener) Close() error {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	l.closed = true
	if l.n.listeners[l.at] == l {
		delete(l.n.listeners, l.at)
	}
	for _, e := range l.waiting {
		e.close()
	}
	l.n.change.Broadcast()
	return nil
}

// Dialer returns the Dial of the member at an address.
func (n *LAN) Dialer(from string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, to string) (net.Conn, error) {
		defer context.AfterFunc(ctx, n.wake)()
		n.mu.Lock()
		defer n.mu.Unlock()
		to = cmp.Or(n.aliases[to], to)
		for n.cut(from, to) && ctx.Err() == nil {
			n.change.Wait()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l := n.listeners[to]
		if l == nil || n.refused == [2]string{from, to} {
			return nil, syscall.ECONNREFUSED
		}
		there, back := &stream{}, &stream{}
		near := &end{n: n, here: from, there: to, in: back, out: there}
		far := &end{n: n, here: to, there: from, in: there, out: back}
		l.waiting = append(l.waiting, far)
		n.ends = append(n.ends, near)
		n.change.Broadcast()
		return near, nil
	}
}

func (n *LAN) wake() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.change.Broadcast()
}

// stream holds the bytes under way in one direction.
type stream struct {
	data          []byte
	ended, reset  bool // by the writer; by the network
	readersClosed bool
}

type end struct {
	n               *LAN
	here, there     string
	in, out         *stream
	closed          bool
	readBy, writeBy time.Time
}

func passed(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }

func (e *end) Read(b []byte) (int, error) {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	for {
		cut := e.n.cut(e.here, e.there)
		switch {
		case e.closed:
			return 0, net.ErrClosed
		case e.n.stopped[e.here]:
		case passed(e.readBy):
			return 0, os.ErrDeadlineExceeded
		case e.in.reset:
			return 0, syscall.ECONNRESET
		case !cut && len(e.in.data) > 0:
			count := copy(b, e.in.data)
			e.in.data = e.in.data[count:]
			e.n.change.Broadcast()
			return count, nil
		case !cut && e.in.ended:
			return 0, io.EOF
		}
		e.n.change.Wait()
	}
}

// Buffer is the number of bytes under way before a writer waits.
const Buffer = 1 << 12

func (e *end) Write(b []byte) (written int, err error) {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	for written < len(b) {
		cut := e.n.cut(e.here, e.there)
		room := Buffer - len(e.out.data)
		switch {
		case e.closed:
			return written, net.ErrClosed
		case passed(e.writeBy):
			return written, os.ErrDeadlineExceeded
		case e.out.reset || !cut && e.out.readersClosed:
			return written, syscall.ECONNRESET
		case room > 0:
			count := min(room, len(b)-written)
			e.out.data = append(e.out.data, b[written:written+count]...)
			written += count
			e.n.change.Broadcast()
		default:
			e.n.change.Wait()
		}
	}
	return written, nil
}

func (e *end) close() {
	e.closed, e.out.ended, e.in.readersClosed = true, true, true
	e.n.change.Broadcast()
}

func (e *end) Close() error {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	e.close()
	return nil
}

func (e *end) LocalAddr() net.Addr  { return address(e.here) }
func (e *end) RemoteAddr() net.Addr { return address(e.there) }

func (e *end) SetDeadline(t time.Time) error {
	return errors.Join(e.SetReadDeadline(t), e.SetWriteDeadline(t))
}

func (e *end) SetReadDeadline(t time.Time) error { return e.set(&e.readBy, t) }

func (e *end) SetWriteDeadline(t time.Time) error { return e.set(&e.writeBy, t) }

func (e *end) set(deadline *time.Time, t time.Time) error {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	*deadline = t
	if !t.IsZero() {
		time.AfterFunc(time.Until(t), e.n.wake)
	}
	e.n.change.Broadcast()
	return nil
}
