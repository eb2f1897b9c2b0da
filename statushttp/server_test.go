package statushttp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/statushttp"
	"ringleader.example/ringleader/transport/transporttest"
)

// client is a connection to a server in a synctest bubble.
type client struct {
	net.Conn
	t *testing.T
}

func serve(t *testing.T, h http.HandlerFunc) (connect func() client, stop func()) {
	network := transporttest.NewLAN()
	server := statushttp.Server(h)
	go server.Serve(network.Listen("server:1"))
	synctest.Wait()
	return func() client {
		conn, err := network.Dialer("client:1")(context.Background(), "", "server:1")
		if err != nil {
			t.Fatal(err)
		}
		pause()
		return client{conn, t}
	}, func() { server.Close() }
}

func (c client) isOpen() bool {
	c.SetReadDeadline(time.Now().Add(1))
	_, err := io.Copy(io.Discard, c)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

func (c client) write(text string) {
	c.t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		c.t.Fatal(err)
	}
	pause()
}

// pause lets the server take a connection or a request, also if it is busy.
func pause() {
	time.Sleep(10 * time.Millisecond)
	synctest.Wait()
}

const request = "GET / HTTP/1.1\r\nHost: server\r\n\r\n"

func (c client) isAnswered() bool {
	c.SetReadDeadline(time.Now().Add(1))
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	return err == nil && response.StatusCode == http.StatusOK
}

func TestConnectionsOverTheLimitCloseTheOldestThatIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		connect, stop := serve(t, func(http.ResponseWriter, *http.Request) { <-free })
		defer stop()
		busy := connect()
		busy.write(request)
		var idle []client
		for range statushttp.MostConnections {
			idle = append(idle, connect())
		}
		if !busy.isOpen() || idle[0].isOpen() || !idle[1].isOpen() {
			t.Errorf("one with a request under way is open: %v; the oldest other: %v, the next: %v",
				busy.isOpen(), idle[0].isOpen(), idle[1].isOpen())
		}
		for _, c := range idle[1:] {
			c.write(request)
		}
		if late := connect(); late.isOpen() {
			t.Error("all have requests under way, and one more comes in")
		}
		close(free)
		synctest.Wait()
		if late := connect(); !late.isOpen() {
			t.Error("all were answered, and one more is closed")
		}
	})
}

// A byte a second would otherwise keep a place for as long as a request may take.
func TestClientsThatSendHalfOfARequestDoNotKeepOutOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect, stop := serve(t, func(http.ResponseWriter, *http.Request) {})
		defer stop()
		for range 3 * statushttp.MostConnections {
			connect().write(request[:20])
		}
		honest := connect()
		honest.write(request)
		if !honest.isAnswered() {
			t.Error("a whole request is not answered")
		}
	})
}

// The server reads the rest of a body that the handler leaves.
func TestClientsThatSendHalfOfABodyDoNotKeepOutOthers(t *testing.T) {
	const half = "POST / HTTP/1.1\r\nHost: server\r\nContent-Length: 2\r\n\r\n1"
	free := make(chan struct{})
	for name, h := range map[string]http.HandlerFunc{
		"it is read":     func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) },
		"it is not read": func(http.ResponseWriter, *http.Request) {},
		"it is whole, and not answered": func(_ http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); len(body) == 2 {
				<-free
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free = make(chan struct{})
				answer := sync.OnceFunc(func() { close(free) })
				defer answer()
				connect, stop := serve(t, h)
				defer stop()
				whole := connect()
				whole.write(half + "2")
				for range 3 * statushttp.MostConnections {
					connect().write(half)
				}
				honest := connect()
				if honest.write(request); !honest.isAnswered() {
					t.Error("a whole request is not answered")
				}
				if answer(); !whole.isAnswered() {
					t.Error("nor is one with a body")
				}
			})
		})
	}
}

// What they ask for costs the processor that the member needs.
func TestClientsThatAskAsOftenAsTheyCanAreAnsweredAtAPace(t *testing.T) {
	const number = 2 * statushttp.MostRequests
	for name, connections := range map[string]int{"over one connection": 1, "each over its own": number} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := transporttest.NewLAN()
				server := statushttp.Server(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				go server.Serve(network.Listen("server:1"))
				defer server.Close()
				synctest.Wait()
				begun := time.Now()
				for range connections {
					conn, err := network.Dialer("client:1")(context.Background(), "", "server:1")
					if err != nil {
						t.Fatal(err)
					}
					answers := bufio.NewReader(conn)
					for range number / connections {
						io.WriteString(conn, request)
						if response, err := http.ReadResponse(answers, nil); err != nil || response.StatusCode != http.StatusOK {
							t.Fatalf("%v, %v", response, err)
						}
					}
					conn.Close()
				}
				if took := time.Since(begun); took < 1800*time.Millisecond {
					t.Errorf("%d requests take %v", number, took)
				}
			})
		})
	}
}

func TestBodiesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read int64
		connect, stop := serve(t, func(_ http.ResponseWriter, r *http.Request) { read, _ = io.Copy(io.Discard, r.Body) })
		defer stop()
		c := connect()
		defer c.Close()
		c.Write([]byte("POST / HTTP/1.1\r\nHost: server\r\nContent-Length: 1000000\r\n\r\n"))
		c.SetWriteDeadline(time.Now().Add(time.Second))
		io.CopyN(c, endless('x'), 1e6)
		if read == 0 || read > 1<<16 {
			t.Errorf("the handler reads %d bytes of the body", read)
		}
	})
}

func TestSlowAndIdleConnectionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect, stop := serve(t, func(http.ResponseWriter, *http.Request) {})
		defer stop()
		silent, slow, idle := connect(), connect(), connect()
		slow.write(request[:20])
		idle.write(request)
		if !idle.isAnswered() {
			t.Error("a request is not answered")
		}
		<-time.After(6 * time.Second)
		if silent.isOpen() || slow.isOpen() || !idle.isOpen() {
			t.Errorf("after a while, one without a request is open: %v; with half of one: %v; with one that was answered: %v",
				silent.isOpen(), slow.isOpen(), idle.isOpen())
		}
		<-time.After(25 * time.Second)
		if idle.isOpen() {
			t.Error("after long, one that was answered is open")
		}
	})
}

func TestAConnectionThatDoesNotReadItsAnswerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect, stop := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<16)) })
		defer stop()
		deaf := connect()
		deaf.write(request)
		<-time.After(11 * time.Second)
		if deaf.isOpen() {
			t.Error("it is open")
		}
	})
}

func TestHeadersAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect, stop := serve(t, func(http.ResponseWriter, *http.Request) {})
		defer stop()
		c := connect()
		defer c.Close()
		c.Write([]byte("GET / HTTP/1.1\r\nX: "))
		c.SetWriteDeadline(time.Now().Add(time.Second))
		_, err := io.CopyN(c, endless('x'), 1<<20)
		if err == nil {
			t.Error("it reads a megabyte of a header")
		}
	})
}

type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}
