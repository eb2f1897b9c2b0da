package transport

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// MostStrangers is the limit of open connections that are not confirmed yet, without a certificate. Beyond it, one of
// them is closed. As many may have one.
const MostStrangers = 64

// mostWelcomes limits the goroutines with such connections, and with those that are closed already: their goroutines
// are in the middle of a handshake.
const mostWelcomes = 2 * MostStrangers

// strangers are connections that are not confirmed yet, the oldest first. If there are too many, the host with the most
// of them loses its oldest one; hosts of members come last. So a flood closes its own connections, and a distant member
// with a slow Hello gets in. Connections with a certificate are apart, and the name in it is their host.
type strangers struct {
	mu      sync.Mutex
	members map[string]bool // hosts of members
	conns   []stranger
}

type stranger struct {
	conn net.Conn
	host string
}

// hostOf returns the host of an address, or the whole address if it has none.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// isMember notes that the host of an address has a member.
func (s *strangers) isMember(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.members == nil {
		s.members = map[string]bool{}
	}
	s.members[hostOf(address)] = true
}

func (s *strangers) enter(conn net.Conn, host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, stranger{conn, host})
	if len(s.conns) <= MostStrangers {
		return
	}
	count := map[string]int{}
	for _, c := range s.conns {
		count[c.host]++
	}
	leaves := 0
	for i, c := range s.conns {
		worst := s.conns[leaves].host
		known, worstKnown := s.members[c.host], s.members[worst]
		if worstKnown && !known || known == worstKnown && count[c.host] > count[worst] {
			leaves = i
		}
	}
	s.conns[leaves].conn.Close()
	s.conns = slices.Delete(s.conns, leaves, leaves+1)
}

func (s *strangers) leave(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = slices.DeleteFunc(s.conns, func(c stranger) bool { return c.conn == conn })
}

// strangerBytes limits what the other end of a connection may send before it is a known member: a TLS handshake with
// some certificates, and a Hello.
const strangerBytes = 1 << 15

var errTooMuch = errors.New("it sends too much before its Hello")

// guarded is a connection to or from a stranger.
type guarded struct {
	net.Conn
	socket *kernel.Socket // nil: it is read as a net.Conn
	again  []byte         // is read again
	left   int            // how much may be read
}

func (g *guarded) Read(b []byte) (n int, err error) {
	if len(g.again) > 0 {
		n = copy(b, g.again)
		g.again = g.again[n:]
		return n, nil
	}
	if g.left <= 0 {
		return 0, errTooMuch
	}
	n, err = g.read(b[:min(len(b), g.left)])
	g.left -= n
	return n, err
}

func (g *guarded) read(b []byte) (int, error) {
	if g.socket == nil || len(b) == 0 {
		return g.Conn.Read(b)
	}
	n, err := g.socket.Read(b)
	switch {
	case err != nil:
		return 0, &net.OpError{Op: "read", Net: g.LocalAddr().Network(), Source: g.LocalAddr(), Addr: g.RemoteAddr(), Err: err}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
