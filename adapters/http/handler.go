package leaderhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader"
)

// Options are what a member does with requests that it does not serve itself. The zero value redirects.
type Options struct {
	// Forward passes requests on to the leader in place of redirects, for clients that cannot reach it or follow none.
	Forward bool

	// Transport carries forwarded requests. The default is that of net/http, but without a proxy of the environment: members reach each other. It does
	// not bound how long an answer takes: a leader that is stopped holds a request until its client gives up. A Transport with a
	// ResponseHeaderTimeout answers 502 then.
	Transport http.RoundTripper

	// RetryAfter is when a client should try again while no leader can serve it, rounded up to seconds. The default is a second.
	RetryAfter time.Duration

	// Allowed reports whether requests may be sent to a URL that the leader has published; nil allows every host. URLs of other schemes than
	// http and https, and those that are not the base of a service, are never used.
	Allowed func(*url.URL) bool

	// Logger takes why requests could not be forwarded. The default discards it.
	Logger *slog.Logger
}

const (
	// Parameter is in the query of a redirect: the term of the leader that the request is sent to. The service does not see it.
	Parameter = "ringleader-term"

	// Header is the same in a forwarded request.
	Header = "Ringleader-Term"
)

// member is what a handler asks a ringleader.Member.
type member interface {
	IsLeader() bool
	View() ringleader.View
}

// Handler serves requests with the service of this member while it leads, and sends all others to the leader.
func Handler(m *ringleader.Member, service http.Handler, o Options) http.Handler {
	return newHandler(m, service, o)
}

type handler struct {
	Options
	member  member
	service http.Handler
	proxy   *httputil.ReverseProxy
}

func newHandler(m member, service http.Handler, o Options) *handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		o.Transport = direct()
	}
	h := &handler{Options: o, member: m, service: service}
	h.proxy = &httputil.ReverseProxy{
		Rewrite:      rewrite,
		Transport:    o.Transport,
		ErrorHandler: h.failed,
		ErrorLog:     slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}
	return h
}

// direct returns the transport of net/http without a proxy. The program may have put something else into its place, such as one that traces.
func direct() *http.Transport {
	t := &http.Transport{ForceAttemptHTTP2: true, MaxIdleConns: 100, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		t = standard.Clone()
	}
	t.Proxy = nil
	t.MaxIdleConnsPerHost = 100 // all go to one leader
	return t
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, known := taken(r)
	view := h.member.View() // before the lease is looked at, so that a member that begins to lead in between serves
	if h.member.IsLeader() {
		h.service.ServeHTTP(w, r)
		return
	}
	base, err := h.leader(view, known)
	switch {
	case err != nil:
		h.unavailable(w, err)
	case !strings.HasPrefix(r.URL.EscapedPath(), "/"): // of the methods OPTIONS and CONNECT
		http.Error(w, "only the leader answers a request that has no path", http.StatusBadRequest)
	case !strings.HasPrefix(path.Clean(at(base, r.URL).Path)+"/", strings.TrimSuffix(path.Clean("/"+base.Path), "/")+"/"):
		http.Error(w, "the path leads out of the service", http.StatusBadRequest)
	case h.Forward:
		h.forward(w, r, &destination{url: at(base, r.URL), term: view.Term})
	default:
		to := at(base, r.URL)
		to.RawQuery = with(to.RawQuery, view.Term)
		w.Header().Set("Location", to.String())
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

// leader returns the URL of the leader, or why a request cannot be sent there. Known is the term that its sender knew, or 0.
func (h *handler) leader(view ringleader.View, known uint64) (*url.URL, error) {
	switch {
	case !view.Known:
		return nil, errors.New("no leader is known")
	case view.Role == ringleader.Leader:
		return nil, errors.New("the lease of this member has ended")
	case known > 0 && known >= view.Term:
		return nil, fmt.Errorf("this member was taken for the leader of term %d, and it knows no later one", known)
	case view.Value == "":
		return nil, errors.New("the leader has not published its URL")
	}
	base, err := Base(view.Value)
	if err == nil && h.Allowed != nil && !h.Allowed(base) {
		err = errors.New("the URL of the leader is not allowed here")
	}
	return base, err
}

// Base returns a published value as the URL of a service: absolute, of the scheme http or https, with a host, and without user, query and
// fragment. The host is an address or a name in ASCII, and a port is between 1 and 65535. A leader can check with it what it will publish.
func Base(value string) (*url.URL, error) {
	base, err := url.Parse(value)
	switch {
	case err != nil:
		return nil, errors.New("the leader has published what is no URL") // the error would repeat it
	case base.Scheme != "http" && base.Scheme != "https", base.User != nil, base.RawQuery != "", base.ForceQuery, base.Fragment != "",
		strings.ContainsAny(value, "\\# \t"), !reachable(base):
		return nil, errors.New("the leader has published what is not the URL of a service, such as https://host:8443")
	}
	return base, nil
}

// name is what a host in DNS may be called, an underscore included, which internal names have.
var name = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$`)

// reachable reports whether the host and the port of a URL can be those of a service.
func reachable(u *url.URL) bool {
	host := u.Hostname()
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	} else if strings.HasSuffix(u.Host, ":") {
		return false
	}
	if strings.HasPrefix(u.Host, "[") {
		address, err := netip.ParseAddr(host)
		return err == nil && address.Is6() && address.Zone() == "" // a zone has a meaning on one machine only
	}
	return len(host) <= 253 && name.MatchString(host)
}

// at returns what a request asks for, behind the URL of a service. The host is the service's, whatever the request holds. Its path may hold "..".
func at(base, asked *url.URL) *url.URL {
	to := *base
	to.Path = strings.TrimSuffix(base.Path, "/") + asked.Path
	to.RawPath = strings.TrimSuffix(base.EscapedPath(), "/") + asked.EscapedPath()
	to.RawQuery, to.ForceQuery = asked.RawQuery, asked.ForceQuery
	return &to
}

// with appends a term to a query.
func with(query string, term uint64) string {
	if query != "" {
		query += "&"
	}
	return query + Parameter + "=" + strconv.FormatUint(term, 10)
}

// taken returns a request without the terms that its senders knew, and the highest of them, or 0.
func taken(r *http.Request) (without *http.Request, term uint64) {
	term, _ = strconv.ParseUint(r.Header.Get(Header), 10, 64) // what is no term is none
	query, asked := cut(r.URL.RawQuery)
	term = max(term, asked)
	if query == r.URL.RawQuery && r.Header.Get(Header) == "" {
		return r, term
	}
	without = r.Clone(r.Context())
	without.Header.Del(Header)
	without.URL.RawQuery = query
	if strings.HasPrefix(r.RequestURI, "/") {
		without.RequestURI = without.URL.RequestURI()
	}
	return without, term
}

// cut cuts the parameters of redirects from a query, and returns the highest term in them, or 0. Clients and proxies may have added others
// behind one. What is no term is the service's.
func cut(query string) (without string, term uint64) {
	if !strings.Contains(query, Parameter+"=") {
		return query, 0
	}
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(parameter string) bool {
		value, found := strings.CutPrefix(parameter, Parameter+"=")
		asked, err := strconv.ParseUint(value, 10, 64)
		if !found || err != nil {
			return false
		}
		term = max(term, asked)
		return true
	})
	return strings.Join(kept, "&"), term
}

// destination is where a request is forwarded to.
type destination struct {
	url  *url.URL
	term uint64
	sent atomic.Bool // a connection has taken the request: the leader may have it
}

// key is that of the destination in a context.
type key struct{}

// forward passes a request on to the leader. A transport may send a request again, on another connection, if the first one has broken.
func (h *handler) forward(w http.ResponseWriter, r *http.Request, to *destination) {
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { to.sent.Store(true) }})
	h.proxy.ServeHTTP(w, r.WithContext(context.WithValue(ctx, key{}, to)))
}

// rewrite prepares a request for the leader.
func rewrite(p *httputil.ProxyRequest) {
	to := p.In.Context().Value(key{}).(*destination)
	p.Out.URL, p.Out.Host = to.url, to.url.Host
	p.Out.Header.Set(Header, strconv.FormatUint(to.term, 10))
	p.SetXForwarded()
}

// failed answers a request that could not be forwarded.
func (h *handler) failed(w http.ResponseWriter, r *http.Request, err error) {
	h.Logger.Warn("a request could not be forwarded to the leader", "method", r.Method, "error", err)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	sent := r.Context().Value(key{}).(*destination).sent.Load()
	if dial := (*net.OpError)(nil); !sent && errors.As(err, &dial) && dial.Op == "dial" {
		h.unavailable(w, errors.New("the leader cannot be reached"))
		return
	}
	h.retry(w, http.StatusBadGateway, "the leader does not answer; the request may have had its effect")
}

// unavailable answers a request that nothing has been done for.
func (h *handler) unavailable(w http.ResponseWriter, err error) {
	h.retry(w, http.StatusServiceUnavailable, err.Error())
}

func (h *handler) retry(w http.ResponseWriter, status int, text string) {
	seconds := max(1, math.Ceil(h.RetryAfter.Seconds()))
	w.Header().Set("Retry-After", strconv.FormatFloat(seconds, 'f', 0, 64))
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
}
