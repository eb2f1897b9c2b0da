package demo

import (
	"net"
	"sync"
	"time"
)

// link forwards the connections that one member dials to another. All messages from the one to the other travel on these.
type link struct {
	listener net.Listener
	to       string // where the other listens

	mu     sync.Mutex
	cut    bool
	delay  time.Duration
	change chan struct{} // closed when cut or delay changes
	conns  map[net.Conn]bool
	closed bool
}

func newLink(to string) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, to: to, change: make(chan struct{}), conns: map[net.Conn]bool{}}
	go l.accept()
	return l, nil
}

func (l *link) address() string { return l.listener.Addr().String() }

// set cuts the link, or not, and determines how long a message takes. Nothing is lost on a link: what was sent while it was cut
// arrives when it is not any more, as with TCP.
func (l *link) set(cut bool, delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.delay = cut, delay
	close(l.change)
	l.change = make(chan struct{})
}

func (l *link) state() (cut bool, delay time.Duration, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut && !l.closed, l.delay, l.change
}

// whole waits until the link is not cut.
func (l *link) whole() {
	for cut, _, changed := l.state(); cut; cut, _, changed = l.state() {
		<-changed
	}
}

// keep notes a connection, which close closes. It reports false after close.
func (l *link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.conns[c] = true
	}
	return !l.closed
}

func (l *link) drop(c net.Conn) {
	c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

func (l *link) close() {
	l.listener.Close()
	l.mu.Lock()
	l.closed = true
	for c := range l.conns {
		c.Close()
	}
	l.mu.Unlock()
	l.set(false, 0)
}

func (l *link) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.forward(conn)
	}
}

// forward carries both directions of a connection until one end closes it.
func (l *link) forward(dialed net.Conn) {
	defer l.drop(dialed)
	if !l.keep(dialed) {
		return
	}
	l.whole()
	out, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer l.drop(out)
	if !l.keep(out) {
		return
	}
	var ends sync.WaitGroup
	ends.Go(func() { l.carry(out, dialed, true) })
	ends.Go(func() { l.carry(dialed, out, false) })
	ends.Wait()
}

// carry copies one direction, and closes the receiver at the end. Answers are not delayed: they are the other's messages.
func (l *link) carry(to, from net.Conn, delayed bool) {
	type piece struct {
		data []byte
		at   time.Time
	}
	const most = 1024 // pieces under way
	pieces := make(chan piece, most)
	go func() {
		defer close(pieces)
		for buffer := make([]byte, 1<<16); ; {
			n, err := from.Read(buffer)
			if n > 0 {
				pieces <- piece{append([]byte{}, buffer[:n]...), time.Now()}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		_, delay, changed := l.state()
		for wait := time.Until(p.at.Add(delay)); delayed && wait > 0; wait = time.Until(p.at.Add(delay)) {
			select {
			case <-time.After(wait):
			case <-changed:
			}
			_, delay, changed = l.state()
		}
		l.whole()
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	l.whole()
	to.Close()
	from.Close()
	for range pieces { // so that the reader ends
	}
}
