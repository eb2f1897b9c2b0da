package statushttp

import (
	"context"
	"io"
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
	mostBody        = 1 << 12          // bytes
)

// Server returns a server whose clients cannot take all file descriptors of the process, which the member needs for
// the others. At most [MostConnections] are open at a time, and slow ones, or those idle for half a minute, are
// closed. A further connection closes the oldest one without a whole request; if there is none, it is closed itself. So
// clients that send nothing, or half of a request or of its body, do not keep out others.
func Server(h http.Handler) *http.Server {
	return Guard(&http.Server{
		Handler:           http.MaxBytesHandler(h, mostBody),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    mostHeader,
	})
}

// Guard limits the connections of a server with a handler and with timeouts of its own, as [Server] does.
func Guard(s *http.Server) *http.Server {
	c := &connections{}
	s.Handler, s.ConnState = c.mark(s.Handler), c.change
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, ownConn{}, conn)
	}
	return s
}

// ownConn is the key of the connection in the context of its requests.
type ownConn struct{}

// connections are the connections of a server, the longest without a request first.
type connections struct {
	mu    sync.Mutex
	conns []connection
}

type connection struct {
	net.Conn
	busy bool // it has sent a whole request, which is being answered
}

// mark notes that a connection has sent a whole request: its header, and its body as far as the handler reads it.
func (c *connections) mark(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(ownConn{}).(net.Conn)
		whole := func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if i := c.index(conn); i >= 0 {
				c.conns[i].busy = true
			}
		}
		if r.ContentLength == 0 {
			whole()
			h.ServeHTTP(w, r)
			return
		}
		marked := *r
		marked.Body = body{r.Body, whole}
		h.ServeHTTP(w, &marked)
	})
}

// body calls a function when it was read to its end.
type body struct {
	io.ReadCloser
	whole func()
}

func (b body) Read(into []byte) (n int, err error) {
	if n, err = b.ReadCloser.Read(into); err == io.EOF {
		b.whole()
	}
	return n, err
}

func (c *connections) index(conn net.Conn) int {
	return slices.IndexFunc(c.conns, func(other connection) bool { return other.Conn == conn })
}

func (c *connections) change(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.conns)
	c.conns = slices.DeleteFunc(c.conns, func(other connection) bool { return other.Conn == conn })
	switch known := len(c.conns) < before; {
	case state == http.StateClosed, state == http.StateHijacked:
		return
	case state != http.StateNew && !known:
		return // it was closed to make room, and its goroutine does not know that yet
	}
	c.conns = append(c.conns, connection{conn, false})
	if len(c.conns) > MostConnections {
		leaves := slices.IndexFunc(c.conns, func(other connection) bool { return !other.busy })
		c.conns[leaves].Close() // the last one is new, and so has no request under way
		c.conns = slices.Delete(c.conns, leaves, leaves+1)
	}
}
