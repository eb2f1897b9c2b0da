package lab_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/show/lab"
)

// patience is for conditions; a server that is well fulfils them in a fraction.
const patience = 60 * time.Second

// engineFunc is an engine for tests.
type engineFunc func(ctx context.Context, question string, body []byte, progress func(string)) (json.RawMessage, error)

func (f engineFunc) Ask(ctx context.Context, question string, body []byte, progress func(string)) (json.RawMessage, error) {
	return f(ctx, question, body, progress)
}

// echo answers with the question.
var echo engineFunc = func(_ context.Context, question string, body []byte, progress func(string)) (json.RawMessage, error) {
	progress("reading " + question)
	return body, nil
}

// serve starts a server, and returns its address.
func serve(t testing.TB, engine lab.Engine) string {
	t.Helper()
	listener, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- lab.Serve(ctx, listener, engine, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// request makes a request that the page could make, changed by a function.
func request(t *testing.T, address, method, path, body string, change func(*http.Request)) *http.Response {
	t.Helper()
	ctx, late := context.WithTimeout(t.Context(), patience)
	t.Cleanup(late)
	r, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "http://"+address)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if change != nil {
		change(r)
	}
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reply.Body.Close() })
	return reply
}

func text(t *testing.T, reply *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnAnswerIsLinesOfProgressAndThenTheAnswer(t *testing.T) {
	reply := request(t, serve(t, echo), http.MethodPost, "/api/run", `{"run":["lcr"]}`, nil)
	if got, want := text(t, reply), `{"progress":"reading run"}`+"\n"+`{"answer":{"run":["lcr"]}}`+"\n"; got != want {
		t.Errorf("%s, and not %s", got, want)
	}
	if kept := reply.Header.Get("Cache-Control"); kept != "no-store" {
		t.Errorf("a browser keeps answers: %q", kept)
	}
}

func TestAnErrorAndAPanicAreErrorLines(t *testing.T) {
	for want, engine := range map[string]engineFunc{
		"no such": func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
			return nil, errors.New("no such")
		},
		"lost; found (this is a bug of ringleader)": func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
			panic("lost\nfound")
		},
	} {
		reply := request(t, serve(t, engine), http.MethodPost, "/api/run", "{}", nil)
		if got := text(t, reply); got != `{"error":"`+want+"\"}\n" {
			t.Errorf("%s, and not %s", got, want)
		}
	}
}

func TestForeignAndMalformedRequestsAreRefused(t *testing.T) {
	var asked atomic.Int64
	address := serve(t, engineFunc(func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
		asked.Add(1)
		return json.RawMessage("1"), nil
	}))
	_, port, _ := net.SplitHostPort(address)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, c := range []struct {
		method, path string
		change       func(*http.Request)
		want         int
	}{
		{http.MethodPost, "/api/run", host("evil.example"), http.StatusMisdirectedRequest},
		{http.MethodPost, "/api/run", host("evil.example:" + port), http.StatusMisdirectedRequest},
		{http.MethodPost, "/api/run", host("127.0.0.1"), http.StatusMisdirectedRequest},
		{http.MethodGet, "/", host("evil.example:" + port), http.StatusMisdirectedRequest},
		{http.MethodPost, "/api/run", header("Origin", "http://evil.example"), http.StatusForbidden},
		{http.MethodPost, "/api/run", header("Origin", "null"), http.StatusForbidden},
		{http.MethodPost, "/api/run", header("Origin", "https://"+address), http.StatusForbidden},
		{http.MethodPost, "/api/run", header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		{http.MethodPost, "/api/run", header("Sec-Fetch-Site", "same-site"), http.StatusForbidden},
		{http.MethodPost, "/api/run", header("Content-Type", "text/plain"), http.StatusUnsupportedMediaType},
		{http.MethodPost, "/api/run", header("Content-Type", "application/x-www-form-urlencoded"), http.StatusUnsupportedMediaType},
		{http.MethodPost, "/api/run", func(r *http.Request) { r.Header.Del("Content-Type") }, http.StatusUnsupportedMediaType},
		{http.MethodGet, "/api/run", nil, http.StatusMethodNotAllowed},
		{http.MethodPut, "/api/run", nil, http.StatusMethodNotAllowed},
		{http.MethodOptions, "/api/run", nil, http.StatusMethodNotAllowed},
		{http.MethodPost, "/", nil, http.StatusMethodNotAllowed},
		{http.MethodGet, "/static/index.html", nil, http.StatusNotFound},
		{http.MethodGet, "/../server.go", nil, http.StatusNotFound},
		{http.MethodGet, "/favicon.ico", nil, http.StatusNotFound},
	} {
		reply := request(t, address, c.method, c.path, "{}", c.change)
		if reply.StatusCode != c.want {
			t.Errorf("%s %s: status %d, and not %d", c.method, c.path, reply.StatusCode, c.want)
		}
		if got := text(t, reply); !strings.HasPrefix(got, `{"error":`) {
			t.Errorf("%s %s: %s", c.method, c.path, got)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("the engine was asked %d times", asked.Load())
	}
	for _, change := range []func(*http.Request){nil, host("localhost:" + port), func(r *http.Request) {
		r.Header.Del("Origin")
		r.Header.Del("Sec-Fetch-Site")
	}, header("Content-Type", "application/json; charset=utf-8")} {
		if change != nil {
			was := change
			change = func(r *http.Request) {
				was(r)
				if r.Header.Get("Origin") != "" {
					r.Header.Set("Origin", "http://"+r.Host)
					if r.Host == "" {
						r.Header.Set("Origin", "http://"+address)
					}
				}
			}
		}
		if reply := request(t, address, http.MethodPost, "/api/run", "{}", change); reply.StatusCode != http.StatusOK {
			t.Errorf("a request of the page: status %d, %s", reply.StatusCode, text(t, reply))
		}
	}
}

func TestAQuestionHasALimitedSize(t *testing.T) {
	address := serve(t, echo)
	body := func(size int) string { return `"` + strings.Repeat("x", size-2) + `"` }
	if reply := request(t, address, http.MethodPost, "/api/run", body(lab.MostBody), nil); reply.StatusCode != http.StatusOK {
		t.Errorf("the largest question: status %d", reply.StatusCode)
	}
	if reply := request(t, address, http.MethodPost, "/api/run", body(lab.MostBody+1), nil); reply.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a larger question: status %d", reply.StatusCode)
	}
}

func TestThePageHasTheTermsOfItsLibraries(t *testing.T) {
	recorded, err := lab.Recorded("a run", json.RawMessage("{}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../../web/vendor/*/LICENSE")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	pages := []string{string(recorded)}
	address := serve(t, echo)
	for _, path := range []string{"/lab.js", "/lab-style.css"} {
		pages = append(pages, text(t, request(t, address, http.MethodGet, path, "", nil)))
	}
	for _, file := range files {
		terms, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, page := range pages {
			if !strings.Contains(page, strings.TrimSpace(string(terms))) {
				t.Errorf("page %d lacks %s", i, file)
			}
		}
	}
}

func TestFilesOfThePageAreCompressedAndCached(t *testing.T) {
	address := serve(t, echo)
	for _, path := range []string{"/", "/index.html", "/lab.js", "/lab-style.css", "/lab-worker.js"} {
		plain := request(t, address, http.MethodGet, path, "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "identity") })
		want := text(t, plain)
		packed := request(t, address, http.MethodGet, path, "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
		unpacked, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if got, err := io.ReadAll(unpacked); err != nil || string(got) != want || want == "" {
			t.Errorf("%s: %d bytes, %d unpacked, %v", path, len(want), len(got), err)
		}
		again := request(t, address, http.MethodGet, path, "", func(r *http.Request) {
			r.Header.Set("Accept-Encoding", "gzip")
			r.Header.Set("If-None-Match", packed.Header.Get("ETag"))
		})
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: status %d for a current copy", path, again.StatusCode)
		}
		if other := request(t, address, http.MethodGet, path, "", func(r *http.Request) { r.Header.Set("If-None-Match", `"x"`) }); other.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d for an old copy", path, other.StatusCode)
		}
		if got := request(t, address, http.MethodHead, path, "", nil); got.StatusCode != http.StatusOK {
			t.Errorf("HEAD %s: status %d", path, got.StatusCode)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := plain.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if policy := plain.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
}

// gate is an engine whose questions wait until they are let go, or cancelled.
type gate struct {
	mu        sync.Mutex
	under, at int // questions under way, and the most
	arrived   chan string
	leave     chan struct{}
}

func newGate() *gate { return &gate{arrived: make(chan string, 100), leave: make(chan struct{})} }

func (g *gate) Ask(ctx context.Context, question string, _ []byte, _ func(string)) (json.RawMessage, error) {
	g.mu.Lock()
	g.under++
	g.at = max(g.at, g.under)
	g.mu.Unlock()
	g.arrived <- question
	defer func() {
		g.mu.Lock()
		g.under--
		g.mu.Unlock()
	}()
	select {
	case <-ctx.Done():
		g.arrived <- "cancelled"
		return nil, ctx.Err()
	case <-g.leave:
		return json.RawMessage("1"), nil
	}
}

func TestAFloodIsComputedTwoAtATimeAndRefusedBeyondThePlaces(t *testing.T) {
	g := newGate()
	address := serve(t, g)
	const flood = 40
	statuses := make(chan int, flood)
	for range flood {
		go func() {
			r, _ := http.NewRequest(http.MethodPost, "http://"+address+"/api/run", strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			reply, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				statuses <- 0
				return
			}
			io.Copy(io.Discard, reply.Body)
			reply.Body.Close()
			statuses <- reply.StatusCode
		}()
	}
	counts := map[int]int{}
	await := func() {
		select {
		case status := <-statuses:
			counts[status]++
		case <-time.After(patience):
			t.Fatalf("no more questions are answered; statuses %v", counts)
		}
	}
	for range flood - 16 { // the others wait
		await()
	}
	if counts[http.StatusServiceUnavailable] != flood-16 {
		t.Errorf("statuses %v while the places are taken", counts)
	}
	<-g.arrived
	close(g.leave)
	for range 16 {
		await()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at > 2 {
		t.Errorf("%d questions at a time", g.at)
	}
	if counts[http.StatusOK] != 16 || g.at > 2 {
		t.Errorf("statuses %v at the end, %d questions at a time", counts, g.at)
	}
}

func TestQuestionsThatComputeNothingDoNotWaitForOthers(t *testing.T) {
	g := newGate()
	address := serve(t, g)
	ask := func(question string) {
		r, _ := http.NewRequest(http.MethodPost, "http://"+address+"/api/"+question, strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		if reply, err := http.DefaultTransport.RoundTrip(r); err == nil {
			reply.Body.Close()
		}
	}
	go ask("run")
	go ask("run")
	<-g.arrived
	<-g.arrived
	for _, quick := range []string{"catalogue", "listing", "stories", "act"} {
		go ask(quick)
		select {
		case got := <-g.arrived:
			if got != quick {
				t.Errorf("%s", got)
			}
		case <-time.After(patience):
			t.Errorf("%s waits for others", quick)
		}
	}
	close(g.leave)
}

func TestAClientThatLeavesCancelsItsQuestion(t *testing.T) {
	g := newGate()
	address := serve(t, g)
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(connection, "POST /api/verify HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", address)
	<-g.arrived
	connection.Close()
	if got := <-g.arrived; got != "cancelled" {
		t.Errorf("%s", got)
	}
}

func TestTheEndOfTheServerCancelsQuestions(t *testing.T) {
	g := newGate()
	listener, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- lab.Serve(ctx, listener, g, nil) }()
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "POST /api/verify HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", listener.Addr())
	<-g.arrived
	cancel()
	if got := <-g.arrived; got != "cancelled" {
		t.Errorf("%s", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestOnlyLoopbackAddressesAreServed(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:0", "[::]:0", ":0", "example.com:0", "8017", "", "127.0.0.1", "127.0.0.1.example:0"} {
		if listener, err := lab.Listen(address); !errors.Is(err, lab.ErrAddress) {
			t.Errorf("%q: %v", address, err)
			if err == nil {
				listener.Close()
			}
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.0.0.2:0"} {
		listener, err := lab.Listen(address)
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		listener.Close()
	}
}

func TestAnExportedSiteHasThePageAndTheEngines(t *testing.T) {
	folder := t.TempDir() + "/site"
	engines := lab.Engines{Wasm: lab.Pack([]byte("\x00asm")), Glue: []byte("glue")}
	for range 2 { // the second replaces the first
		if err := engines.Export(folder, []*lab.Story{{Name: "mine"}}); err != nil {
			t.Fatal(err)
		}
	}
	if stories := read(t, folder+"/stories.json"); !strings.HasPrefix(stories, `[{"name":"mine",`) {
		t.Errorf("the stories are %s", stories)
	}
	if disk := read(t, folder+"/lab-disk.js"); !strings.HasPrefix(disk, `window.lab = {"engines":"`+base64.StdEncoding.EncodeToString(engines.Wasm)+`","stories":[{"name":"mine",`) || !strings.Contains(disk, `"worker":"glue\n`) {
		t.Errorf("the script of a page from disk is %.200s", disk)
	}
	page := read(t, folder+"/index.html")
	for _, want := range []string{`name="engine" content="wasm"`, "script-src 'self' 'wasm-unsafe-eval';", "worker-src 'self' blob:;", `<script defer src="lab.js">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, absolute := range []string{`="/`, "http://", "https://"} {
		if strings.Contains(page, absolute) {
			t.Errorf("the page has an absolute address: %s", absolute)
		}
	}
	for _, name := range []string{"lab.js", "lab-style.css", "lab-worker.js"} {
		if read(t, folder+"/"+name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
	unpacked, err := gzip.NewReader(bytes.NewReader([]byte(read(t, folder+"/lab.wasm.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	if wasm, err := io.ReadAll(unpacked); err != nil || string(wasm) != "\x00asm" {
		t.Errorf("%q %v", wasm, err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
