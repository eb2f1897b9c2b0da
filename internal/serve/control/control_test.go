package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/core/leaks"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

func TestMain(m *testing.M) {
	rig.Environment()
	leaks.Main(m)
}

// alone returns a member of a group of one, which leads, and keeps its lease however slow the machine is.
func alone(t *testing.T, change ...func(*ringleader.Config)) *ringleader.Member {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	disk, err := storage.Memory().Open()
	if err != nil {
		t.Fatal(err)
	}
	config := ringleader.Config{
		ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: l.Addr().String()}}, Storage: disk, Transport: transport.TCP{Listener: l}.Open,
		Timing: ringleader.Timing{Lease: 10 * time.Minute, Preempt: 10 * time.Minute},
	}
	for _, f := range change {
		f(&config)
	}
	m, err := ringleader.Join(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	for v := range m.Observe(t.Context()) {
		if v.Role == ringleader.Leader {
			break
		}
	}
	return m
}

// served serves a member until the returned function is called, which waits for the end.
func served(t *testing.T, m *ringleader.Member, o Options) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	o.Log = slog.New(slog.DiscardHandler)
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, m, o) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	}
}

// answered waits until the member answers, and returns its state.
func answered(t *testing.T, c *Client) ringleader.Status {
	t.Helper()
	for {
		s, err := c.Status(t.Context())
		if err == nil {
			return s
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestTheSocketIsForItsUserAndOutlivesNoProcess(t *testing.T) {
	m, path := alone(t), Socket(t.TempDir())
	stale, err := net.Listen("unix", path) // of a process that was killed
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	stop := served(t, m, Options{Socket: path})
	if s := answered(t, NewClient(path)); s.Role != ringleader.Leader || s.ID != 1 {
		t.Errorf("it answers %+v", s)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, the mode is %v", err, info.Mode())
	}
	if _, err := listen(path); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second process gets %v", err)
	}
	if s := answered(t, NewClient(path)); s.ID != 1 {
		t.Errorf("after that it answers %+v", s)
	}
	stop()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end the socket is there: %v", err)
	}
}

func TestASocketReplacesNoOtherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.sock")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(path); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("got %v", err)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 200))
	if _, err := listen(long); err == nil || !strings.Contains(err.Error(), "bytes; systems allow about 100") {
		t.Errorf("a long path gets %v", err)
	}
}

func TestAHostThatIsAnUnknownNameIsRefused(t *testing.T) {
	h := Called([]string{"localhost", "db1.example"}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"localhost": 200, "LocalHost:8001": 200, "db1.example:8001": 200, "127.0.0.1:8001": 200, "10.0.0.9": 200, "[::1]:8001": 200, "[::1]": 200, "": 200,
		"evil.example": 421, "evil.example:8001": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example:8001": 421, "db2.example": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/status", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("the host %q gets %d, want %d", host, w.Code, want)
		}
	}
}

// ask sends a request to a handler.
func ask(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	h.ServeHTTP(w, r)
	return w
}

func TestACommandIsRefusedUnlessItMayComeAndTheMemberLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		leader, follower := handler(c.Member(3), newRecorded(""), true), handler(c.Member(1), newRecorded(""), true)
		for _, test := range []struct {
			h       http.Handler
			path    string
			headers []string
			code    int
			says    string
		}{
			{handler(c.Member(3), newRecorded(""), false), "/resign", nil, 403, "commands come over the control socket"},
			{handler(c.Member(3), newRecorded(""), false), "/transfer?to=1", nil, 403, "commands come over the control socket"},
			{leader, "/resign", []string{"Sec-Fetch-Site", "cross-site"}, 403, "cross-origin"},
			{leader, "/resign", []string{"Origin", "http://evil.example"}, 403, "cross-origin"},
			{leader, "/transfer?to=9", nil, 400, "member 9 is not another member of the group"},
			{leader, "/transfer?to=3", nil, 400, "member 3 is this one; a transfer names another member of the group"},
			{handler(c.Member(3), newRecorded(""), false), "/pause-preemption", nil, 403, "commands come over the control socket"},
			{handler(c.Member(3), newRecorded(""), false), "/resume-preemption", nil, 403, "commands come over the control socket"},
			{leader, "/pause-preemption", nil, 409, "member 3 does not preempt"},
			{leader, "/pause-preemption?for=x", nil, 400, `not \"x\"`},
			{leader, "/transfer?to=x", nil, 400, `not \"x\"`},
			{handler(c.Member(3), newRecorded(""), false), "/members/remove?id=1", nil, 403, "commands come over the control socket"},
			{leader, "/members/add?id=9", nil, 400, "there is no member 9"},
			{leader, "/members/remove?id=3", nil, 400, "does not remove itself"},
			{leader, "/members/remove?id=x", nil, 400, `not \"x\"`},
			{follower, "/members/remove?id=2", nil, 409, "member 3 leads, and changes the voters"},
			{follower, "/resign", nil, 409, "member 1 does not lead: member 3 leads in term 1"},
			{follower, "/transfer?to=2", nil, 409, "member 1 does not lead: member 3 leads in term 1"},
		} {
			if w := ask(test.h, http.MethodPost, test.path, test.headers...); w.Code != test.code || !strings.Contains(w.Body.String(), test.says) {
				t.Errorf("%s %q: %d %s; want %d %s", test.path, test.headers, w.Code, w.Body, test.code, test.says)
			}
		}
		if w := ask(leader, http.MethodGet, "/resign"); w.Code != 404 {
			t.Errorf("GET /resign: %d", w.Code)
		}
		if n := c.Member(3).Counters(); n.Tenures != 1 || c.Member(3).View().Leader != 3 {
			t.Errorf("after commands that were refused: %+v", n)
		}
	})
}

func TestACommandIsAnsweredWhenAnotherMemberLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		for _, test := range []struct {
			leads  uint64
			path   string
			leader uint64
		}{{3, "/transfer?to=1", 1}, {1, "/resign", 3}} {
			w := ask(handler(c.Member(test.leads), newRecorded(""), true), http.MethodPost, test.path)
			var s ringleader.Status
			if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != 200 || s.Leader == nil || *s.Leader != test.leader {
				t.Errorf("%s: %d %s", test.path, w.Code, w.Body)
			}
			c.Await(test.leader)
		}
		for version, test := range []struct {
			path   string
			voters []uint64
		}{{"/members/remove?id=2", []uint64{1, 3}}, {"/members/add?id=2", []uint64{1, 2, 3}}} {
			w := ask(handler(c.Member(3), newRecorded(""), true), http.MethodPost, test.path)
			var s ringleader.Status
			if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != 200 || s.Voters == nil || s.Voters.Version != uint64(version)+1 ||
				!slices.Equal(s.Voters.Members, test.voters) || s.Voters.Kept < 2 {
				t.Errorf("%s: %d %s", test.path, w.Code, w.Body)
			}
		}
		c.Cut()
		begun := time.Now()
		if w := ask(handler(c.Member(3), newRecorded(""), true), http.MethodPost, "/resign"); w.Code != 202 || time.Since(begun) != patience {
			t.Errorf("without others it answers %d after %v", w.Code, time.Since(begun))
		}
	})
}

func TestAPauseOfPreemptionIsInTheStatusUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Preempt: true}, 1)
		defer c.Close()
		c.Start(1)
		h := handler(c.Member(1), newRecorded(""), true)
		for _, test := range []struct {
			path   string
			paused bool
			left   float64 // 0: it has no end
		}{
			{"/pause-preemption", true, 0},
			{"/pause-preemption?for=90s", true, 90},
			{"/resume-preemption", false, 0},
		} {
			w := ask(h, http.MethodPost, test.path)
			var s ringleader.Status
			if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != 200 || s.Preemption == nil {
				t.Fatalf("%s: %d %s", test.path, w.Code, w.Body)
			}
			if p := s.Preemption; p.Paused != test.paused || (p.Left != nil) != (test.left != 0) || p.Left != nil && *p.Left != test.left {
				t.Errorf("%s: %s", test.path, w.Body)
			}
		}
	})
}

func TestALeaderThatLeadsAgainIsNoSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1)
		defer c.Close()
		c.Start(1)
		c.Await(1)
		w := ask(handler(c.Member(1), newRecorded(""), true), http.MethodPost, "/resign")
		var s ringleader.Status
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != http.StatusAccepted || s.Term != 2 || s.Role != ringleader.Leader {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestAMemberWithoutAQuorumHandsOverToNone(t *testing.T) {
	m := alone(t, func(c *ringleader.Config) {
		c.Algorithm, c.NoQuorum, c.Timing = ringleader.Bully, true, ringleader.Timing{}
	})
	if w := ask(handler(m, newRecorded(""), true), http.MethodPost, "/resign"); w.Code != 409 || !strings.Contains(w.Body.String(), "bully does not hand over") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// document is the part of an OpenAPI document that is checked.
type document struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema jsonschema.Schema }
		}
	}
	Components struct{ Schemas map[string]*jsonschema.Schema }
}

// resolved returns a schema of the document.
func (d *document) resolved(t *testing.T, s jsonschema.Schema) *jsonschema.Resolved {
	t.Helper()
	s.Defs = d.Components.Schemas
	text, err := json.Marshal(&s) // a copy: what is resolved cannot be resolved again
	if err != nil {
		t.Fatal(err)
	}
	var whole jsonschema.Schema
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	r, err := whole.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readDocument(t *testing.T) (d document) {
	t.Helper()
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(openAPI), "#/components/schemas/", "#/$defs/")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// routes are the patterns that the handlers have.
var routes = regexp.MustCompile(`"(GET|POST) (/[a-z./-]+)"`)

func TestTheDocumentHasTheRoutesOfTheHandlers(t *testing.T) {
	var have, want []string
	for _, file := range []string{"handler.go", "../../../statushttp/statushttp.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range routes.FindAllStringSubmatch(string(text), -1) {
			have = append(have, match[1]+" "+match[2])
		}
	}
	for path, methods := range readDocument(t).Paths {
		for method := range methods {
			want = append(want, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) || len(have) < 10 {
		t.Errorf("the handlers have\n%q and the document\n%q", have, want)
	}
}

func TestAnswersAreAsTheDocumentStates(t *testing.T) {
	d := readDocument(t)
	synctest.Test(t, func(t *testing.T) {
		directory := t.TempDir()
		c := ringleadertest.New(t, ringleader.Config{Record: ringleader.Record{Directory: directory}, Preempt: true, Health: ringleader.HealthCheck{Rise: 1, Check: func(context.Context) error { return nil }}}, 1, 2, 3)
		defer c.Close()
		seen := map[string]bool{}
		check := func(id uint64, may bool, method, path string) {
			t.Helper()
			w := ask(handler(c.Member(id), newRecorded(filepath.Join(directory, fmt.Sprint(id))), may), method, path)
			plain, _, _ := strings.Cut(path, "?")
			seen[method+" "+plain] = true
			answer, documented := d.Paths[plain][strings.ToLower(method)].Responses[fmt.Sprint(w.Code)]
			kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
			content, typed := answer.Content[kind]
			if !documented || !typed {
				t.Errorf("%s %s: the document has no answer %d of type %q", method, path, w.Code, kind)
				return
			}
			var body any = w.Body.String()
			if kind == "application/json" {
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.resolved(t, content.Schema).Validate(body); err != nil {
				t.Errorf("%s %s: %v\n%s", method, path, err, w.Body)
			}
		}
		look := func(id uint64) {
			t.Helper()
			for _, path := range []string{"/status", "/leader", "/healthz", "/readyz", "/metrics", "/clock", "/openapi.json", "/record", "/explain", "/explain?format=text&last=1h"} {
				check(id, true, http.MethodGet, path)
			}
		}
		c.Start(1)
		c.Pass(time.Second)
		look(1)
		check(1, false, http.MethodGet, "/record")
		check(1, true, http.MethodGet, "/record?last=soon")
		check(1, true, http.MethodGet, "/explain?format=html")
		check(1, true, http.MethodGet, "/explain?last=1ns") // it has no record of that time
		check(1, true, http.MethodPost, "/resign")
		check(1, true, http.MethodPost, "/pause-preemption?for=soon")
		check(1, true, http.MethodPost, "/pause-preemption?for=-1s")
		check(1, true, http.MethodPost, "/pause-preemption?for=1h")
		look(1)
		check(1, true, http.MethodPost, "/pause-preemption")
		check(1, false, http.MethodPost, "/pause-preemption")
		check(1, true, http.MethodPost, "/resume-preemption")
		check(1, false, http.MethodPost, "/resume-preemption")
		c.Start(2, 3)
		leader := c.AwaitAny()
		look(1)
		look(leader)
		check(leader, false, http.MethodPost, "/resign")
		check(leader, true, http.MethodPost, "/transfer?to=9")
		check(leader, true, http.MethodPost, "/resign")
		leader = c.AwaitAny()
		check(leader, true, http.MethodPost, fmt.Sprintf("/transfer?to=%d", leader%3+1))
		leader = c.AwaitAny()
		check(leader, true, http.MethodPost, "/members/add?id=9")
		check(leader, true, http.MethodPost, fmt.Sprintf("/members/remove?id=%d", leader%3+1))
		check(leader, true, http.MethodPost, fmt.Sprintf("/members/add?id=%d", leader%3+1))
		check(leader%3+1, true, http.MethodPost, "/members/add?id=1")
		check(leader, true, http.MethodPost, "/addresses/add?id=9&address=host9:1&standby=true")
		check(leader, true, http.MethodPost, "/addresses/add?id=9&address=nowhere")
		check(leader, false, http.MethodPost, "/addresses/add?id=9&address=host9:1")
		check(leader, true, http.MethodPost, "/addresses/remove?id=9")
		check(leader, true, http.MethodPost, "/addresses/remove?id=77")
		check(leader, false, http.MethodPost, "/addresses/remove?id=9")
		look(leader)
		c.Cut()
		check(leader, true, http.MethodPost, fmt.Sprintf("/members/remove?id=%d", leader%3+1))
		check(leader, true, http.MethodPost, "/resign")
		c.Member(1).Close()
		check(1, true, http.MethodGet, "/watch") // which ends at once
		look(1)
		for path, methods := range d.Paths {
			for method := range methods {
				if !seen[strings.ToUpper(method)+" "+path] {
					t.Errorf("%s %s is in the document, and was not asked", method, path)
				}
			}
		}
	})
}

// Clients that send half of a request, noise, or nothing, and some that watch and do not read.
func TestHundredsOfHostileClientsChangeNeitherLeaderNorWhatOperatorsSee(t *testing.T) {
	m, path := alone(t), Socket(t.TempDir())
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := web.Addr().String()
	stop := served(t, m, Options{Socket: path, HTTP: web})
	defer stop()
	before := answered(t, NewClient(path)).Term
	var hostile []net.Conn
	defer func() {
		for _, conn := range hostile {
			conn.Close()
		}
	}()
	for i := range 200 {
		for _, place := range []struct{ network, address string }{{"tcp", address}, {"unix", path}} {
			conn, err := net.Dial(place.network, place.address)
			if err != nil {
				continue // the system's queue is full for a moment
			}
			hostile = append(hostile, conn)
			text := []string{"GET /status HTTP/1.1\r\nHo", "", strings.Repeat("\x16\x03\x01noise\x00\xff", 1000), "GET /watch HTTP/1.1\r\nHost: localhost\r\n\r\n"}[i%4]
			conn.SetWriteDeadline(time.Now().Add(time.Minute))
			_, _ = conn.Write([]byte(text)) // it may be closed by now
		}
		if s := answered(t, NewClient(path)); s.Role != ringleader.Leader || s.Term != before {
			t.Fatalf("after %d clients it is %s in term %d", i+1, s.Role, s.Term)
		}
		if s := answered(t, NewHTTPClient(address, nil)); s.Term != before {
			t.Fatalf("after %d clients it is in term %d", i+1, s.Term)
		}
	}
	if n := m.Counters(); n.Tenures != 1 || n.Lapses != 0 {
		t.Errorf("%+v", n)
	}
}

func TestAClientReportsWhatIsNoMember(t *testing.T) {
	text := make(chan string, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, <-text)
			conn.Close()
		}
	}()
	defer func() {
		l.Close()
		<-ended
	}()
	for answer, want := range map[string]string{
		"SSH-2.0-OpenSSH_9.2\r\n\r\n":                           "no member answers at",
		"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n":   "404 Not Found",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc":       "no member of ringleader answers at",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc":       "is cut off",
		"HTTP/1.1 409 Conflict\r\n\r\n{\"error\":\"so it is\"}": "refused: so it is",
	} {
		text <- answer
		if _, err := NewHTTPClient(l.Addr().String(), nil).Status(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gets %v, want %q", answer, err, want)
		}
	}
	text <- "HTTP/1.1 200 OK\r\n\r\ndata: " + strings.Repeat("1", mostAnswer)
	for _, err := range NewHTTPClient(l.Addr().String(), nil).Watch(t.Context()) {
		if err == nil || !strings.Contains(err.Error(), "a line has more than 4194304 bytes") {
			t.Errorf("a line without an end gets %v", err)
		}
	}
}

func TestAWatchYieldsEachLeaderAndTheEnd(t *testing.T) {
	m, path := alone(t), Socket(t.TempDir())
	stop := served(t, m, Options{Socket: path})
	defer stop()
	answered(t, NewClient(path))
	var last error
	n := 0
	for s, err := range NewClient(path).Watch(t.Context()) {
		if last = err; err != nil {
			break
		}
		if n++; n == 1 && s.Role != ringleader.Leader {
			t.Errorf("first it yields %+v", s)
		}
		m.Close()
	}
	if n < 2 || last == nil || !strings.Contains(last.Error(), "has ended") {
		t.Errorf("%d states, and then %v", n, last)
	}
}

// The routes are those that the description has, and the page for operators.
func TestTheRequestsAreDescribedAndOnThePage(t *testing.T) {
	find := func(file, pattern string) (all []string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			all = append(all, found[1]+" "+found[2])
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	const route = `mux\.Handle(?:Func)?\("([A-Z]+) ([^"]+)"`
	routes := slices.Concat(find("handler.go", route), find("../../../statushttp/statushttp.go", route))
	slices.Sort(routes)
	if len(routes) < 18 {
		t.Fatalf("%d routes: %q", len(routes), routes)
	}
	if page := find("../../../docs/operate.md", "`(GET|POST) (/[a-z/.-]+)"); !slices.Equal(page, routes) {
		t.Errorf("docs/operate.md has %q, want %q", page, routes)
	}
	var described struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(openAPI, &described); err != nil {
		t.Fatal(err)
	}
	var all []string
	for path, methods := range described.Paths {
		for method := range methods {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	if slices.Sort(all); !slices.Equal(all, routes) {
		t.Errorf("openapi.json has %q, want %q", all, routes)
	}
}
