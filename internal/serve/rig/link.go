package rig

import (
	"context"
	"net"
	"sync"
	"time"
)

// Link forwards the connections that one process dials to another, whatever they carry. Its methods may be called at any
// time, by any goroutine.
type Link struct {
	listener net.Listener
	dial     func() (net.Conn, error) // to where the other listens

	mu          sync.Mutex
	there, back Way
	change      chan struct{} // closed when there or back changes, or the last connection ends
	conns       map[net.Conn]bool
	closed      bool
}

// Way is the state of one direction of a link.
type Way struct {
	Cut bool // nothing arrives

	// Delay returns how long a piece of data takes; pieces do not overtake each other. nil means no time.
	Delay func() time.Duration
}

// NewLink makes a link to the process that listens at an address. It is whole at first.
func NewLink(to string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return newLink(listener, func() (net.Conn, error) { return net.Dial("tcp", to) }), nil
}

func newLink(listener net.Listener, dial func() (net.Conn, error)) *Link {
	l := &Link{listener: listener, dial: dial, change: make(chan struct{}), conns: map[net.Conn]bool{}}
	go l.accept()
	return l
}

// Address returns where the link listens, for the process that dials.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Set determines what becomes of data: there is from the process that dials to the other, and back the opposite. Nothing
// is lost on a link: what was sent while it was cut arrives when it is not any more, as with TCP. A connection is made
// when neither direction is cut.
func (l *Link) Set(there, back Way) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.there, l.back = there, back
	l.changed()
}

// changed wakes those who wait for a change. The caller holds mu.
func (l *Link) changed() {
	close(l.change)
	l.change = make(chan struct{})
}

// Idle returns when the link has no connection: each process that has dialled over it has its answer, or waits no longer.
func (l *Link) Idle(ctx context.Context) error {
	for {
		l.mu.Lock()
		n, change := len(l.conns), l.change
		l.mu.Unlock()
		if n == 0 {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Reset ends all connections of the link. What was on its way is lost.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.Close()
	}
}

// direction chooses one of the two directions.
type direction func(l *Link) Way

func forward(l *Link) Way  { return l.there }
func backward(l *Link) Way { return l.back }

// both is a direction that is cut if one of the two is.
func both(l *Link) Way { return Way{Cut: l.there.Cut || l.back.Cut} }

func (l *Link) state(of direction) (w Way, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w = of(l)
	w.Cut = w.Cut && !l.closed
	return w, l.change
}

// whole waits until a direction is not cut.
func (l *Link) whole(of direction) {
	for w, changed := l.state(of); w.Cut; w, changed = l.state(of) {
		<-changed
	}
}

// keep notes a connection, which close closes. It reports false after close.
func (l *Link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.conns[c] = true
	}
	return !l.closed
}

func (l *Link) drop(c net.Conn) {
	c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if delete(l.conns, c); len(l.conns) == 0 {
		l.changed()
	}
}

// Close ends the link and its connections.
func (l *Link) Close() {
	l.listener.Close()
	l.mu.Lock()
	l.closed = true
	for c := range l.conns {
		c.Close()
	}
	l.mu.Unlock()
	l.Set(Way{}, Way{})
}

func (l *Link) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.connect(conn)
	}
}

// connect carries both directions of a connection until one end closes it.
func (l *Link) connect(dialed net.Conn) {
	defer l.drop(dialed)
	if !l.keep(dialed) {
		return
	}
	l.whole(both)
	out, err := l.dial()
	if err != nil {
		return
	}
	defer l.drop(out)
	if !l.keep(out) {
		return
	}
	var ends sync.WaitGroup
	ends.Go(func() { l.carry(out, dialed, forward) })
	ends.Go(func() { l.carry(dialed, out, backward) })
	ends.Wait()
}

// carry copies one direction, and closes the receiver at the end.
func (l *Link) carry(to, from net.Conn, of direction) {
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
		l.wait(p.at, of)
		l.whole(of)
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	l.whole(of)
	to.Close()
	from.Close()
	for range pieces { // so that the reader ends
	}
}

// wait waits until a piece that was sent at a moment may arrive.
func (l *Link) wait(sent time.Time, of direction) {
	for {
		w, changed := l.state(of)
		if w.Delay == nil {
			return
		}
		wait := time.Until(sent.Add(w.Delay()))
		if wait <= 0 {
			return
		}
		alarm := time.NewTimer(wait)
		select {
		case <-alarm.C:
			return
		case <-changed:
			alarm.Stop()
		}
	}
}
