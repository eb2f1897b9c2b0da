package transport

import (
	"net"
	"slices"
	"sync"
)

// MostStrangers is how many connections may stand that have not presented themselves yet. One more, and one of them is
// closed.
const MostStrangers = 64

// strangers are connections that have not presented themselves yet, the oldest first. When there are too many, the oldest
// one goes of the host that has most of them; and hosts of members come last. So a flood closes its own connections, and
// a member far away, which takes long to present itself, comes in.
type strangers struct {
	mu      sync.Mutex
	members map[string]bool // hosts at which members live
	conns   []stranger
}

type stranger struct {
	conn net.Conn
	host string
}

// hostOf returns the host of an address, or all of an address that has none.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// isMember notes that a member lives at the host of an address.
func (s *strangers) isMember(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.members == nil {
		s.members = map[string]bool{}
	}
	s.members[hostOf(address)] = true
}

func (s *strangers) enter(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, stranger{conn, hostOf(conn.RemoteAddr().String())})
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
