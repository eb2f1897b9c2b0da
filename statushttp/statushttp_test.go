package statushttp_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/core/leaks"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/statushttp"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A member serves its status beside the program's own work.
func ExampleHandler() {
	member, err := ringleader.Join(context.Background(), ringleader.Config{
		ID: 7, Members: []ringleader.MemberAddress{{ID: 7, Address: freeAddress()}}, Algorithm: ringleader.Bully, NoQuorum: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer member.Close()
	lead(member)

	server := httptest.NewServer(statushttp.Handler(member))
	defer server.Close()
	response, err := server.Client().Get(server.URL + "/leader")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

// lead waits until a member leads.
func lead(m *ringleader.Member) {
	for now := range m.Observe(context.Background()) {
		if now.Role == ringleader.Leader {
			return
		}
	}
}

// freeAddress returns a loopback address without a listener.
func freeAddress() string {
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		log.Fatal(err)
	}
	return addresses[0]
}

func TestHandlerDistinguishesTheLeader(t *testing.T) {
	// Member 4 never runs, so that nothing below depends on when member 9 notices its end.
	config := ringleader.Config{ID: 9, Members: []ringleader.MemberAddress{{ID: 4, Address: freeAddress()}, {ID: 9, Address: freeAddress()}}, Algorithm: ringleader.Bully, NoQuorum: true}
	config.Timing.Suspicion = time.Hour // for which no machine stalls
	join := func() *ringleader.Member {
		m, err := ringleader.Join(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		lead(m)
		return m
	}
	stopped := join()
	stopped.Close()
	leading := join()
	defer leading.Close()

	members := fmt.Sprintf(`"members":[{"id":4,"address":%q,"reachable":false},{"id":9,"address":%q,"reachable":true}]`,
		config.Members[0].Address, config.Members[1].Address)
	leads := `{"id":9,"algorithm":"bully","role":"leader","leader":9,"term":0,"quorum":false,"lease":null,"stopping":false,"last_change":{"cause":"elected","detail":"no leader was known before","time":"","from":null,"to":9},` + members + `}`
	knowsNone := `{"id":9,"algorithm":"bully","role":"electing","leader":null,"term":0,"quorum":false,"lease":null,"stopping":false,"last_change":{"cause":"stopped","time":"","from":9,"to":null},` + members + `,"why":["this member has stopped: the member is closed"]}`
	for _, test := range []struct {
		member       *ringleader.Member
		method, path string
		code         int
		body         string
	}{
		{leading, "GET", "/status", 200, leads},
		{leading, "GET", "/leader", 200, leads},
		{leading, "GET", "/healthz", 200, `{"healthy":true}`},
		{leading, "HEAD", "/leader", 200, ""},
		{stopped, "GET", "/status", 200, knowsNone},
		{stopped, "GET", "/leader", 503, knowsNone},
		{stopped, "HEAD", "/leader", 503, ""},
		{stopped, "GET", "/healthz", 503, `{"healthy":false,"reason":"the member is closed"}`},
		{leading, "POST", "/status", 405, ""},
		{leading, "DELETE", "/leader", 405, ""},
		{leading, "GET", "/nothing", 404, ""},
	} {
		name := test.method + " " + test.path
		response, body := ask(t, test.member, test.method, test.path)
		body = moment.ReplaceAllString(problem.ReplaceAllString(body, ""), `"time":""`)
		if response.StatusCode != test.code || test.body != "" && body != test.body+"\n" {
			t.Errorf("%s: %d %s; want %d %s", name, response.StatusCode, body, test.code, test.body)
		}
		if test.code == 404 || test.code == 405 {
			continue
		}
		if got := response.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: the type is %q", name, got)
		}
		if got := response.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: a cache may keep it: %q", name, got)
		}
	}
}

// hanging is a log that lets the member hang when its mutex is locked.
type hanging struct {
	slog.Handler
	*sync.Mutex
}

func (hanging) Enabled(_ context.Context, level slog.Level) bool { return level == slog.LevelInfo }

func (h hanging) Handle(context.Context, slog.Record) error {
	h.Lock()
	defer h.Unlock()
	return nil
}

func (h hanging) WithAttrs([]slog.Attr) slog.Handler { return h }

func TestAMemberThatStandsStillIsNotHealthy(t *testing.T) {
	here, there := freeAddress(), freeAddress()
	config := ringleader.Config{
		ID: 2, Members: []ringleader.MemberAddress{{ID: 1, Address: there}, {ID: 2, Address: here}},
		Algorithm: ringleader.Bully, NoQuorum: true,
		Timing: ringleader.Timing{Heartbeat: 20 * time.Millisecond, Suspicion: 100 * time.Millisecond},
	}
	var free sync.Mutex
	config.Logger = slog.New(hanging{slog.DiscardHandler, &free})
	free.Lock() // it logs first that it listens
	m, err := ringleader.Join(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	until := func(code int, body string) {
		t.Helper()
		for {
			response, got := ask(t, m, "GET", "/healthz")
			if response.StatusCode == code && strings.HasPrefix(got, body) {
				return
			}
			if t.Context().Err() != nil {
				t.Fatalf("%d %s", response.StatusCode, got)
			}
		}
	}
	until(503, `{"healthy":false,"reason":"it has stood still for `)
	free.Unlock()
	until(200, `{"healthy":true}`)
}

// problem matches why member 4 cannot be reached, which is known soon after the start.
var problem = regexp.MustCompile(`,"problem":"connection refused: no process listens there"`)

// moment is the time of a change.
var moment = regexp.MustCompile(`"time":"[^"]*"`)

// ask sends one request to the handler of a member, over a real connection.
func ask(t *testing.T, m *ringleader.Member, method, path string) (response *http.Response, body string) {
	t.Helper()
	server := httptest.NewServer(statushttp.Handler(m))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err = server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(read)
}
