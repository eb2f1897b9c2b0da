//go:build !js

package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/serve/observe"
)

// nextState reads an event of a stream.
func nextState(t *testing.T, lines *bufio.Scanner) (s observe.State) {
	t.Helper()
	for lines.Scan() {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			var raw struct {
				Title string
				Lines []observe.Line
			}
			if err := json.Unmarshal([]byte(data), &raw); err != nil {
				t.Fatal(err)
			}
			return observe.State{Title: raw.Title, Lines: raw.Lines}
		}
	}
	t.Fatalf("the stream has ended: %v", lines.Err())
	return s
}

func open(t *testing.T, address string) *bufio.Scanner {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%s, %s", response.Status, kind)
	}
	return bufio.NewScanner(response.Body)
}

func TestAStreamHasAllLinesFirstAndThenTheNewOnes(t *testing.T) {
	b := observe.NewBoard("a group")
	server := httptest.NewServer(newStreams((&Live{Board: b}).With(nil)))
	t.Cleanup(server.Close)
	b.Say(time.Now(), observe.Change, "one")
	first := open(t, server.URL)
	if s := nextState(t, first); s.Title != "a group" || len(s.Lines) != 1 {
		t.Fatalf("%+v", s)
	}
	b.Say(time.Now(), observe.Change, "two")
	if s := nextState(t, first); len(s.Lines) != 1 || s.Lines[0].Text != "two" {
		t.Errorf("%+v", s)
	}
	if s := nextState(t, open(t, server.URL)); len(s.Lines) != 2 {
		t.Errorf("a reader that comes later, or again, gets %+v", s.Lines)
	}
}

// writer is the writing half of a connection. Its client reads nothing if it is deaf.
type writer struct {
	*httptest.ResponseRecorder
	deaf bool

	mu       sync.Mutex
	deadline time.Time
	writes   int
}

func (w *writer) SetWriteDeadline(at time.Time) error {
	w.deadline = at
	return nil
}

func (w *writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.writes++
	w.mu.Unlock()
	if w.deaf {
		<-time.After(time.Until(w.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	return len(b), nil
}

func (w *writer) written() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes
}

func TestAClientThatDoesNotReadLosesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := observe.NewBoard("a group")
		streams := newStreams((&Live{Board: b}).With(nil))
		ctx, cancel := context.WithCancel(t.Context())
		serve := func(w *writer) { streams.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)) }
		for range MostStreams {
			go serve(&writer{ResponseRecorder: httptest.NewRecorder(), deaf: true})
		}
		synctest.Wait()
		if n := len(streams.places); n != MostStreams {
			t.Errorf("%d clients have places", n)
		}
		late := &writer{ResponseRecorder: httptest.NewRecorder()}
		if serve(late); late.Code != http.StatusServiceUnavailable {
			t.Errorf("one stream more is answered %d", late.Code)
		}
		<-time.After(sendTime + time.Second)
		synctest.Wait()
		if n := len(streams.places); n != 0 {
			t.Errorf("after a while %d clients that do not read have their places", n)
		}
		good := &writer{ResponseRecorder: httptest.NewRecorder()}
		go serve(good)
		synctest.Wait()
		if good.written() != 1 {
			t.Error("a client that reads gets no state")
		}
		<-time.After(time.Hour)
		if n := good.written(); n < 200 || n > 300 {
			t.Errorf("a stream without a change has %d signs of life in an hour", n)
		}
		cancel()
		synctest.Wait()
		if len(streams.places) != 0 {
			t.Error("a client that has left has its place")
		}
	})
}

// Leases are renewed every few milliseconds.
func TestAStreamHasAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := observe.NewBoard("a group")
		ctx, cancel := context.WithCancel(t.Context())
		w := &writer{ResponseRecorder: httptest.NewRecorder()}
		go newStreams((&Live{Board: b}).With(nil)).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		for range 1000 {
			b.Show(observe.State{})
			<-time.After(time.Millisecond)
		}
		if n := w.written(); n < 20 || n > 26 {
			t.Errorf("%d states in a second", n)
		}
		cancel()
		synctest.Wait()
	})
}

func TestCommandsAreObeyedOnlyWhereThatIsAllowed(t *testing.T) {
	var given []string
	acting := &Live{Act: func(_ context.Context, line string) error {
		given = append(given, line)
		if line != "kill 3" {
			return errors.New("no such command")
		}
		return nil
	}}
	for _, c := range []struct {
		live *Live
		body string
		want string // of the error; empty: it is obeyed
	}{
		{acting, `{"command":"kill 3"}`, ""},
		{acting, `{"command":"reboot"}`, "no such command"},
		{acting, ``, `{"command": "kill 3"}`},
		{acting, `[]`, `{"command": "kill 3"}`},
		{acting, `{"command":["kill","3"]}`, `{"command": "kill 3"}`},
		{&Live{}, `{"command":"kill 3"}`, "can only look"},
	} {
		_, err := c.live.With(nil).Ask(t.Context(), "act", []byte(c.body), nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.body, err, c.want)
		}
	}
	if fmt.Sprint(given) != "[kill 3 reboot]" {
		t.Errorf("given are %q", given)
	}
}
