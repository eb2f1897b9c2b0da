package lab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/serve/observe"
	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/statushttp"
)

// pipes is a listener without a network, so that its connections live in the time of a bubble.
type pipes struct {
	come chan net.Conn
	done chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.come:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

const pipeHost = "127.0.0.1:8017"

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return pipeHost }

// inBubble serves an engine in a bubble of time. A test connects by dial, and ends the server by stop, which returns how long that took.
func inBubble(t *testing.T, engine lab.Engine, test func(t *testing.T, dial func() net.Conn, stop func() time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := &pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- lab.Serve(ctx, listener, engine, nil) }()
		var clients []net.Conn
		stopped := false
		stop := func() time.Duration {
			begun := time.Now()
			cancel()
			if err := <-served; err != nil {
				t.Error(err)
			}
			stopped = true
			return time.Since(begun)
		}
		test(t, func() net.Conn {
			client, server := net.Pipe()
			clients = append(clients, client)
			listener.come <- server
			return client
		}, stop)
		if !stopped {
			stop()
		}
		for _, c := range clients {
			c.Close()
		}
	})
}

// asking is a question of the page, as it is sent.
func asking(question, body string) string {
	return fmt.Sprintf("POST /api/%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", question, pipeHost, len(body), body)
}

// send writes to a connection, and fails if the server does not read it.
func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Errorf("the server does not read: %v", err)
	}
}

// closed waits until the server closes a connection, without an answer, and returns how long that took.
func closed(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	begun := time.Now()
	if b, err := io.ReadAll(c); err != nil || len(b) > 0 {
		t.Errorf("the server sends %q, %v", b, err)
	}
	return time.Since(begun)
}

// replied returns the status and the text of the answer on a connection, and how long it took.
func replied(t *testing.T, c net.Conn) (status int, text string, took time.Duration) {
	t.Helper()
	begun := time.Now()
	reply, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Error(err)
		return 0, "", 0
	}
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Error(err)
	}
	return reply.StatusCode, string(b), time.Since(begun)
}

func TestAClientThatSendsHalfAQuestionIsLeft(t *testing.T) {
	inBubble(t, echo, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		c := dial()
		send(t, c, strings.TrimSuffix(asking("run", "{}"), "}"))
		if status, text, took := replied(t, c); status != http.StatusBadRequest || !strings.Contains(text, "too slowly") || took != 10*time.Second {
			t.Errorf("half a question is answered %d after %v: %s", status, took, text)
		}
	})
}

func TestAClientThatSendsHalfAHeaderIsLeft(t *testing.T) {
	inBubble(t, echo, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		c := dial()
		send(t, c, "GET / HTTP/1.1\r\nHost: ")
		if took := closed(t, c); took != 10*time.Second {
			t.Errorf("it takes %v", took)
		}
	})
}

func TestAConnectionWithoutARequestIsClosed(t *testing.T) {
	inBubble(t, echo, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		c := dial()
		send(t, c, asking("run", "{}"))
		if status, _, _ := replied(t, c); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
		if took := closed(t, c); took != time.Minute {
			t.Errorf("it takes %v", took)
		}
	})
}

// Else clients that send nothing would take all file descriptors of the process.
func TestConnectionsWithoutARequestMakeRoomForOthers(t *testing.T) {
	inBubble(t, echo, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		oldest := dial()
		for range statushttp.MostConnections {
			dial()
		}
		if took := closed(t, oldest); took != 0 {
			t.Errorf("the oldest of %d connections is closed after %v", statushttp.MostConnections+1, took)
		}
		c := dial()
		send(t, c, asking("run", "{}"))
		if status, _, _ := replied(t, c); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	})
}

func TestAHeaderHasALimitedSize(t *testing.T) {
	inBubble(t, echo, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		c := dial()
		go io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+pipeHost+"\r\nX: "+strings.Repeat("x", 1<<16)+"\r\n\r\n") // the server does not read all
		if status, _, _ := replied(t, c); status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d", status)
		}
	})
}

func TestAQuestionHasALimitedTime(t *testing.T) {
	var endless engineFunc = func(ctx context.Context, _ string, _ []byte, _ func(string)) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	inBubble(t, endless, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		c := dial()
		send(t, c, asking("verify", "{}"))
		if _, text, took := replied(t, c); took != lab.MostTime || !strings.Contains(text, "deadline exceeded") {
			t.Errorf("after %v the answer is %s", took, text)
		}
	})
}

// Two questions are computed at a time: clients that do not read their answers must not keep these places.
func TestClientsThatDoNotReadAreLeft(t *testing.T) {
	var large engineFunc = func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
		return json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`), nil
	}
	inBubble(t, large, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		for range 2 {
			send(t, dial(), asking("run", "{}"))
		}
		synctest.Wait()
		c := dial()
		send(t, c, asking("run", "{}"))
		if status, text, took := replied(t, c); status != http.StatusOK || len(text) < 1<<20 || took != 10*time.Second {
			t.Errorf("the next question is answered %d after %v, with %d bytes", status, took, len(text))
		}
	})
}

// A slow client that reads gets its answer: the time is that of a part.
func TestAClientThatReadsSlowlyGetsItsAnswer(t *testing.T) {
	const size = 3 << 20
	var large engineFunc = func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
		return json.RawMessage(`"` + strings.Repeat("x", size) + `"`), nil
	}
	inBubble(t, large, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		c := dial()
		send(t, c, asking("run", "{}"))
		begun, got := time.Now(), 0
		for b := make([]byte, 1<<18); got < size; { // 32 KiB a second, about
			n, err := c.Read(b)
			if err != nil {
				t.Fatalf("after %v and %d bytes: %v", time.Since(begun), got, err)
			}
			got += n
			<-time.After(time.Duration(n) * 8 * time.Microsecond)
		}
		if took := time.Since(begun); took < 20*time.Second {
			t.Errorf("it takes %v only, which shows nothing", took)
		}
	})
}

func TestAnAnswerLeavesItsPlace(t *testing.T) {
	inBubble(t, echo, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		c := dial()
		for k := range 40 {
			send(t, c, asking("run", "{}"))
			if status, _, _ := replied(t, c); status != http.StatusOK {
				t.Fatalf("question %d has status %d", k+1, status)
			}
		}
	})
}

func TestAClientThatLeavesWhileItWaitsLeavesItsPlace(t *testing.T) {
	var slow engineFunc = func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
		<-time.After(time.Minute / 2) // it hears nothing
		return json.RawMessage("1"), nil
	}
	inBubble(t, slow, func(t *testing.T, dial func() net.Conn, _ func() time.Duration) {
		for k := range 16 {
			c := dial()
			send(t, c, asking("run", "{}"))
			synctest.Wait()
			if k >= 2 { // it waits for the first two
				c.Close()
			} else {
				go io.Copy(io.Discard, c)
			}
		}
		synctest.Wait()
		c := dial()
		send(t, c, asking("run", "{}"))
		if status, text, took := replied(t, c); status != http.StatusOK || took != time.Minute {
			t.Errorf("after %v the next question is answered %d: %s", took, status, text)
		}
	})
}

func TestACommandHasALimitedTime(t *testing.T) {
	live := &lab.Live{Board: observe.NewBoard("a group"), Act: func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if _, err := live.With(echo).Ask(t.Context(), "act", []byte(`{"command":"kill 3"}`), nil); err == nil || time.Since(begun) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}

// The end of the server is that of its questions.
func TestTheEndOfTheServerEndsQuestionsAtOnce(t *testing.T) {
	var endless engineFunc = func(ctx context.Context, _ string, _ []byte, _ func(string)) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	inBubble(t, endless, func(t *testing.T, dial func() net.Conn, stop func() time.Duration) {
		c := dial()
		send(t, c, asking("verify", "{}"))
		synctest.Wait()
		go io.Copy(io.Discard, c)
		if took := stop(); took >= time.Second {
			t.Errorf("it takes %v", took)
		}
	})
}

// The server ends, also while a question goes on that hears nothing.
func TestTheEndOfTheServerWaitsForNoQuestion(t *testing.T) {
	var deaf engineFunc = func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
		<-time.After(time.Hour)
		return nil, errors.New("late")
	}
	inBubble(t, deaf, func(t *testing.T, dial func() net.Conn, stop func() time.Duration) {
		c := dial()
		send(t, c, asking("verify", "{}"))
		synctest.Wait()
		if took := stop(); took > 2*time.Second {
			t.Errorf("it takes %v", took)
		}
		if took := closed(t, c); took > 0 {
			t.Errorf("the connection is open for %v more", took)
		}
		<-time.After(2 * time.Hour) // until the question has ended
	})
}
