package tcprun

import (
	"bufio"
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/framing"
)

// What travels on a connection, little-endian:
//
//	dialer   → acceptor  magic, the secret of the run, the link that the dialer will send on (4 bytes)
//	acceptor → dialer    welcome (1 byte)
//	both ways            frames of package process, the message being of the algorithm, or one of these kinds
const (
	magic      = "ringrun\x01"
	secretSize = 16
	helloSize  = len(magic) + secretSize + 4
	welcome    = 'w'

	marker = 0xff // the end of a round
	stamp  = 0xfe // when the messages that follow were sent: nanoseconds on the system's clock (8 bytes)
)

var markerFrame = framing.Append(nil, marker, nil)

// link is the outgoing side of a port.
type link struct {
	conn    net.Conn // nil: to a crashed process
	pending []byte   // frames that have not been written yet
}

// arrival is a frame received on a port, or the end of its input.
type arrival struct {
	port    election.Port
	kind    uint8
	message []byte
	sent    int64 // timed: nanoseconds on the system's clock
	err     error
}

// behind returns the link that leads to a port, and its sender.
func (p *processor) behind(port int) (from int, back uint32) {
	from, at := p.network.End(p.first + uint32(port))
	return from, p.network.First(from) + uint32(at)
}

// dials reports whether this processor dials the connection of a port, and awaits whether it accepts it; both for a
// link that leads back to its own port.
func (p *processor) dials(port int) bool {
	from, back := p.behind(port)
	return !p.dead[from] && p.first+uint32(port) <= back
}

func (p *processor) awaits(port int) bool {
	from, back := p.behind(port)
	return !p.dead[from] && back <= p.first+uint32(port)
}

// connect connects all links.
func (p *processor) connect(addresses []string) error {
	accepted := make(chan error, 1)
	go func() { accepted <- p.accept() }()
	for port := range p.out {
		if !p.dials(port) {
			continue
		}
		to, back := p.behind(port)
		conn, err := p.dial(addresses[to], p.first+uint32(port))
		if err != nil {
			return fmt.Errorf("cannot connect to %s: %w", p.p.Name(to), err)
		}
		p.out[port].conn = conn
		if back != p.first+uint32(port) {
			p.listen(port, conn)
		}
	}
	select {
	case err := <-accepted:
		return err
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// hello returns a dialer's first bytes.
func (p *processor) hello(link uint32) []byte {
	b := append([]byte(magic), p.plan.Secret...)
	return binary.LittleEndian.AppendUint32(b, link)
}

func (p *processor) dial(address string, link uint32) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(p.ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	p.own(conn)
	if _, err := conn.Write(p.hello(link)); err != nil {
		return nil, err
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil || answer[0] != welcome {
		return nil, errors.New("it refuses the connection")
	}
	return conn, nil
}

// accept receives connections until all awaited ones exist, and then no more. Any other dialer may be silent or
// send anything: each connection has its own goroutine, while we listen.
func (p *processor) accept() error {
	defer p.listener.Close()
	awaited := 0
	for port := range p.out {
		if p.awaits(port) {
			awaited++
		}
	}
	ctx, done := context.WithCancel(p.ctx)
	defer done()
	defer context.AfterFunc(ctx, func() { p.listener.Close() })()
	type guest struct {
		port int
		conn net.Conn
	}
	guests, failed := make(chan guest), make(chan error, 1)
	go func() {
		for {
			conn, err := p.listener.Accept()
			if err != nil {
				failed <- fmt.Errorf("cannot accept a connection: %w", err)
				return
			}
			go func() {
				stop := context.AfterFunc(ctx, func() { conn.Close() })
				port, ok := p.identify(conn)
				if !ok || !stop() {
					conn.Close()
					return
				}
				select {
				case guests <- guest{port, conn}:
				case <-ctx.Done():
					conn.Close()
				}
			}()
		}
	}()
	stands := make([]bool, len(p.out))
	for awaited > 0 {
		select {
		case g := <-guests:
			if stands[g.port] { // a dialer with the secret connects once
				g.conn.Close()
				continue
			}
			p.own(g.conn)
			if _, err := g.conn.Write([]byte{welcome}); err != nil {
				return err
			}
			stands[g.port], awaited = true, awaited-1
			if !p.dials(g.port) {
				p.out[g.port].conn = g.conn
			}
			p.listen(g.port, g.conn)
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// identify reads a hello; ok reports that it has the secret of the run and an awaited link.
func (p *processor) identify(conn net.Conn) (port int, ok bool) {
	var raw [helloSize]byte
	if _, err := io.ReadFull(conn, raw[:]); err != nil {
		return 0, false
	}
	known := raw[:helloSize-4]
	if subtle.ConstantTimeCompare(known, p.hello(0)[:helloSize-4]) != 1 {
		return 0, false
	}
	link := binary.LittleEndian.Uint32(raw[helloSize-4:])
	if link >= uint32(p.network.Links()) {
		return 0, false
	}
	to, at := p.network.End(link)
	return int(at), to == p.plan.Position && p.awaits(int(at))
}

// own closes a connection when the processor ends. By then no message is under way. Connections are reset, so that
// the system keeps no state of thousands of them.
func (p *processor) own(conn net.Conn) {
	conn.(*net.TCPConn).SetLinger(0)
	context.AfterFunc(p.ctx, func() { conn.Close() })
}

// listen hands over the frames that arrive on a port.
func (p *processor) listen(port int, conn net.Conn) {
	go func() {
		r := bufio.NewReader(conn)
		at := arrival{port: election.Port(port)}
		for at.err == nil {
			at.kind, at.message, at.err = readFrame(r)
			if at.err == nil && at.kind == stamp && len(at.message) == 8 {
				at.sent = int64(binary.LittleEndian.Uint64(at.message))
				continue
			}
			p.inbox.put(at)
		}
	}()
}

// readFrame reads a frame; the message is a copy.
func readFrame(r *bufio.Reader) (kind uint8, message []byte, err error) {
	var head [framing.HeadSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := int(binary.LittleEndian.Uint16(head[:])) - 1
	if size < 0 || size > framing.MaxMessage {
		return 0, nil, fmt.Errorf("a frame of %d bytes", size)
	}
	if size > 0 {
		message = make([]byte, size)
		_, err = io.ReadFull(r, message)
	}
	return head[2], message, err
}

// send puts a frame on a link; flush writes it.
func (p *processor) send(port election.Port, frame []byte) {
	l := &p.out[port]
	if len(l.pending) == 0 {
		p.unwritten = append(p.unwritten, port)
		if p.timed() {
			l.pending = framing.Append(l.pending, stamp, func(b []byte) []byte {
				return binary.LittleEndian.AppendUint64(b, uint64(p.clock()))
			})
		}
	}
	l.pending = append(l.pending, frame...)
}

// flush writes the sent frames. It cannot wait for ever: the other end always reads.
func (p *processor) flush() {
	for _, port := range p.unwritten {
		l := &p.out[port]
		if _, err := l.conn.Write(l.pending); err != nil {
			p.broke(port, err)
		}
		l.pending = l.pending[:0]
	}
	p.unwritten = p.unwritten[:0]
}
