package statushttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// The limits of a [Server].
const (
	MostConnections = 64
	MostRequests    = 500             // a second, and as many new connections; 50 may come at once
	fewestRequests  = 100             // while this process is busy
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
//
// They cannot take the processor either, which the member needs to keep its lead: the server takes at most [MostRequests] connections a second, and
// answers as many requests, or a fifth of that for a second after this process has used more than a quarter of a processor. What comes beyond that waits.
func Server(h http.Handler) *http.Server {
	return guard(&connections{opened: pace{used: kernel.Used}, asked: pace{used: kernel.Used}}, &http.Server{
		Handler:           http.MaxBytesHandler(h, mostBody),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    mostHeader,
	})
}

// Guard limits how many connections a server with a handler and with timeouts of its own has open, as [Server] does.
func Guard(s *http.Server) *http.Server { return guard(&connections{}, s) }

func guard(c *connections, s *http.Server) *http.Server {
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

	opened, asked pace // of new connections, and of requests
}

// pace lets events happen at most so often. Its zero value lets all happen at once.
type pace struct {
	used func() time.Duration // how long this process has had a processor

	mu     sync.Mutex
	next   time.Time     // when the next event is due
	looked time.Time     // when it called used last
	had    time.Duration // what that was
	busy   time.Time     // until when this process counts as busy
}

const (
	burst     = 50 // events that may happen at once
	lookEvery = 100 * time.Millisecond

	// together is how often events that wait happen, all that are due at once: between them the process sleeps. Go's runtime looks after a process
	// that never sleeps each 20 microseconds, and that takes more of the processor than the answers.
	together = 50 * time.Millisecond

	stayBusy = time.Second
)

// apart returns the time between two events.
func (p *pace) apart(now time.Time) time.Duration {
	if passed := now.Sub(p.looked); passed >= lookEvery {
		had := p.used()
		if had-p.had > passed/4 {
			p.busy = now.Add(stayBusy)
		}
		p.looked, p.had = now, had
	}
	if now.Before(p.busy) {
		return time.Second / fewestRequests
	}
	return time.Second / MostRequests
}

// wait waits until the next event is due, or ctx is done, and reports whether it is due.
func (p *pace) wait(ctx context.Context) bool {
	if p.used == nil {
		return true
	}
	p.mu.Lock()
	now := time.Now()
	apart := p.apart(now)
	if least := now.Add(-burst * apart); p.next.Before(least) {
		p.next = least
	}
	p.next = p.next.Add(apart)
	early := p.next.Sub(now)
	p.mu.Unlock()
	if early <= 0 {
		return true
	}
	timer := time.NewTimer(now.Add(early).Truncate(together).Add(together).Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

type connection struct {
	net.Conn
	busy bool // it has sent a whole request, which is being answered
}

// mark notes that a connection has sent a whole request: its header, and its body as far as the handler reads it.
func (c *connections) mark(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(ownConn{}).(net.Conn)
		if !c.asked.wait(r.Context()) { // until then it may have to make room
			panic(http.ErrAbortHandler)
		}
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
	if state == http.StateNew { // the server takes no other connection meanwhile
		c.opened.wait(context.Background())
	}
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
