package transport

import (
	"net"
	"sync"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// prompt is a connection to a peer. Once it is eager, a write does not wait for the peer: what the system has no room for waits in rest, and the goroutine of
// the sender writes that. So the member itself can write, which saves a turn of another goroutine for each message.
type prompt struct {
	net.Conn
	socket *kernel.Socket // nil: no write is eager
	more   func()         // is called when rest is to be written

	mu    sync.Mutex
	eager bool
	rest  []byte
}

func newPrompt(c net.Conn, more func()) *prompt {
	return &prompt{Conn: c, socket: kernel.NewSocket(c), more: more}
}

// hasten makes the connection eager, and reports whether it is.
func (p *prompt) hasten() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eager = p.socket != nil
	return p.eager
}

func (p *prompt) Write(b []byte) (n int, err error) {
	p.mu.Lock()
	if !p.eager {
		p.mu.Unlock()
		return p.Conn.Write(b)
	}
	defer p.mu.Unlock()
	if len(p.rest) == 0 {
		if n, err = p.socket.WriteNow(b); err != nil {
			return n, &net.OpError{Op: "write", Net: p.LocalAddr().Network(), Source: p.LocalAddr(), Addr: p.RemoteAddr(), Err: err}
		}
	}
	if p.rest = append(p.rest, b[n:]...); len(p.rest) > 0 {
		p.more()
	}
	return len(b), nil
}

// rests reports whether a write waits.
func (p *prompt) rests() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.rest) > 0
}

// drain writes what waits. Writes that come meanwhile wait behind it.
func (p *prompt) drain() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.rest) > 0 {
		rest := p.rest
		p.mu.Unlock()
		_, err := p.Conn.Write(rest)
		p.mu.Lock()
		if err != nil {
			return err
		}
		p.rest = p.rest[len(rest):]
	}
	p.rest = nil
	return nil
}
