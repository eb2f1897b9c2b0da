//go:build !js

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"ringleader.example/ringleader/statushttp"
)

// The limits of the server.
const (
	mostComputed = 2  // questions that are computed at a time
	mostWaiting  = 16 // questions that are read, computed or wait
	readTime     = 10 * time.Second
	writeTime    = 10 * time.Second // of a part of an answer
	partSize     = 1 << 20
	idleTime     = time.Minute
	closingTime  = time.Second
	mostHeader   = 1 << 14
)

// quick are the questions that compute nothing, and wait for no other.
var quick = map[string]bool{"catalogue": true, "listing": true, "stories": true, "models": true, "act": true}

// policy lets the page load its own files, ask its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; frame-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Serve serves the page and its questions until ctx is done. The listener is one of [Listen]. Gather finds the records of members that run; nil: the
// page opens files of records only.
func Serve(ctx context.Context, listener net.Listener, engine Engine, gather Gather) error {
	handler, err := newHandler(engine, gather, listener.Addr().String())
	if err != nil {
		return err
	}
	server := statushttp.Guard(&http.Server{
		Handler: handler, ReadHeaderTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	})
	stopped := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(stopped)
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
		defer cancel()
		if server.Shutdown(closing) != nil {
			_ = server.Close() // nothing is left to do about a connection that does not close
		}
	})()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	return nil
}

// ErrAddress reports an address that other machines could reach.
var ErrAddress = errors.New("the lab is for this machine only: give a loopback address, such as 127.0.0.1:8017")

// Listen listens on a loopback address. The error wraps [ErrAddress] for any other one.
func Listen(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w, not %q", ErrAddress, address)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%w, not %q", ErrAddress, address)
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// handler answers requests of the page.
type handler struct {
	engine    Engine
	hosts     []string // by which the page is called
	assets    map[string]*asset
	waiting   chan struct{} // a place for each question
	computed  chan struct{}
	streams   *streams // of the group that is shown; nil: none is
	incidents *incidents
}

// newHandler returns the handler of a server at a loopback address.
func newHandler(engine Engine, gather Gather, address string) (*handler, error) {
	files, err := assets()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return &handler{
		engine: engine, hosts: []string{address, "localhost:" + port}, assets: files,
		waiting: make(chan struct{}, mostWaiting), computed: make(chan struct{}, mostComputed),
		streams: newStreams(engine), incidents: newIncidents(gather),
	}, nil
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	question, asks := strings.CutPrefix(r.URL.Path, "/api/")
	file := h.assets[r.URL.Path]
	switch {
	case !h.known(r.Host):
		refuse(w, http.StatusMisdirectedRequest, "this server is not called by that name")
	case asks && !sameOrigin(r):
		refuse(w, http.StatusForbidden, "only the page of the lab asks questions")
	case asks && question == "live" && r.Method == http.MethodGet && h.streams != nil:
		h.streams.ServeHTTP(w, r)
	case asks && r.Method != http.MethodPost:
		header.Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "a question is a POST")
	case asks:
		h.asked(w, r, question)
	case strings.HasPrefix(r.URL.Path, folder) && r.Method == http.MethodGet:
		h.incidents.ServeHTTP(w, r)
	case file == nil:
		refuse(w, http.StatusNotFound, "there is no such file")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "a file is only read")
	default:
		file.serve(w, r)
	}
}

// asked finds who answers a question.
func (h *handler) asked(w http.ResponseWriter, r *http.Request, question string) {
	a := asking{question, h.engine, MostBody, readTime}
	opens, archive := question == "incident", isMedia(r, "application/octet-stream")
	switch {
	case opens && archive:
		a.engine, a.most, a.readTime = h.incidents.asker(false), MostArchive, archiveTime
	case !isMedia(r, "application/json"):
		refuse(w, http.StatusUnsupportedMediaType, "a question is application/json")
		return
	case opens:
		a.engine = h.incidents.asker(true)
	}
	h.ask(w, r, a)
}

// known reports whether the page is called by that name. A foreign name that resolves to this machine is not.
func (h *handler) known(host string) bool {
	for _, own := range h.hosts {
		if strings.EqualFold(host, own) {
			return true
		}
	}
	return false
}

// sameOrigin reports whether a request comes from the page itself, or from no page.
func sameOrigin(r *http.Request) bool {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	return (origin == "" || strings.EqualFold(origin, "http://"+r.Host)) && (site == "" || site == "same-origin" || site == "none")
}

func isMedia(r *http.Request, want string) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == want
}

// asking is a question, and who answers it.
type asking struct {
	question string
	engine   Engine
	most     int           // bytes
	readTime time.Duration // in which these come
}

// refuse answers a request that is not answered otherwise.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/jsonl")
	w.WriteHeader(status)
	_, _ = w.Write(Line("error", text)) // the client may have left
}

// ask answers a question.
func (h *handler) ask(w http.ResponseWriter, r *http.Request, a asking) {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		refuse(w, http.StatusServiceUnavailable, "too many questions at a time; ask again")
		return
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(a.readTime)) // else the body has no limit, which only tests' writers lack
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(a.most)))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		what := "a question"
		if a.most == MostArchive {
			what = "cannot open this record: a record, or several together,"
		}
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("%s has at most %d MiB", what, a.most>>20))
		return
	} else if err != nil {
		refuse(w, http.StatusBadRequest, "the question ends early, or comes too slowly")
		return
	}
	if !quick[a.question] {
		select {
		case h.computed <- struct{}{}:
			defer func() { <-h.computed }()
		case <-r.Context().Done():
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), MostTime)
	defer cancel()
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Cache-Control", "no-store")
	out := &lines{w: w, connection: connection}
	answer, err := Answer(ctx, a.engine, a.question, body, func(text string) { out.put(Line("progress", text)) })
	if err != nil {
		out.put(Line("error", err.Error()))
		return
	}
	out.put([]byte(`{"answer":`), answer, []byte("}\n"))
}

// lines writes the lines of an answer. A client that does not read them is left.
type lines struct {
	mu         sync.Mutex
	w          http.ResponseWriter
	connection *http.ResponseController
}

func (l *lines) put(parts ...[]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, part := range parts {
		for len(part) > 0 {
			_ = l.connection.SetWriteDeadline(time.Now().Add(writeTime)) // of this part only
			n, err := l.w.Write(part[:min(len(part), partSize)])
			if err != nil {
				return
			}
			part = part[n:]
		}
	}
	_ = l.connection.Flush() // the next write has the same error
}
