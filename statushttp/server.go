package statushttp

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The limits of a [Server].
const (
	MostConnections = 64
	readTimeout     = 5 * time.Second // of a request
	writeTimeout    = 10 * time.Second
	idleTimeout     = 30 * time.Second // between two requests
	mostHeader      = 1 << 14          // bytes
)

// Server returns a server whose clients cannot take all file descriptors of the process, which the member needs for
// the others. At most [MostConnections] are open at a time, and slow ones, or those idle for half a minute, are
// closed. A further connection closes the oldest one without a request under way; if there is none, it is closed
// itself.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    mostHeader,
		ConnState:         new(connections).change,
	}
}

// connections are the connections of a server, the longest without a request first.
type connections struct {
	mu    sync.Mutex
	conns []connection
}

type connection struct {
	net.Conn
	busy bool
}

func (c *connections) change(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = slices.DeleteFunc(c.conns, func(other connection) bool { return other.Conn == conn })
	if state == http.StateClosed || state == http.StateHijacked {
		return
	}
	c.conns = append(c.conns, connection{conn, state == http.StateActive})
	if len(c.conns) > MostConnections {
		leaves := slices.IndexFunc(c.conns, func(other connection) bool { return !other.busy })
		c.conns[leaves].Close() // the last one is new, and so has no request under way
		c.conns = slices.Delete(c.conns, leaves, leaves+1)
	}
}
