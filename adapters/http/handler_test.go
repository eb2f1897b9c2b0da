package leaderhttp

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// fake implements member with a state that a test sets.
type fake struct {
	leads bool
	view  ringleader.View
}

func (f *fake) IsLeader() bool        { return f.leads }
func (f *fake) View() ringleader.View { return f.view }

// follows is a member that knows another one as leader, with a URL.
func follows(term uint64, value string) *fake {
	return &fake{view: ringleader.View{Leader: 9, Known: true, Term: term, Role: ringleader.Follower, Value: value}}
}

// echo is a service that shows what it gets.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusTeapot)
	fmt.Fprintf(w, "%s %s %s %s%s", r.Method, r.URL, r.RequestURI, body, r.Header.Get(Header)+r.Host)
})

// serve runs a member's handler on a port.
func serve(t *testing.T, m member, o Options) *httptest.Server {
	s := httptest.NewServer(newHandler(m, echo, o))
	t.Cleanup(s.Close)
	return s
}

// get asks one handler without a network.
func get(h http.Handler, method, target string) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestMembersSendRequestsToTheLeaderThatPublishesItsURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		ask := func(id uint64) (int, string) {
			r := get(Handler(c.Member(id), echo, Options{}), "GET", "/x?a=1")
			return r.StatusCode, r.Header.Get("Location") + r.Header.Get("Retry-After")
		}
		want := func(id uint64, code int, where string) {
			t.Helper()
			if got, location := ask(id); got != code || location != where {
				t.Errorf("member %d: %d %q, want %d %q", id, got, location, code, where)
			}
		}
		want(3, http.StatusTeapot, "")
		want(1, http.StatusServiceUnavailable, "1") // nothing is published
		lead, err := c.Member(3).WaitToLead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := lead.Publish("https://three.example:8443/base"); err != nil {
			t.Fatal(err)
		}
		c.Pass(time.Second)
		want(1, http.StatusTemporaryRedirect, fmt.Sprintf("https://three.example:8443/base/x?a=1&ringleader-term=%d", lead.Term()))
		c.Cut([]uint64{1, 2}, []uint64{3})
		c.Await(2)
		c.Pass(time.Second)
		want(3, http.StatusServiceUnavailable, "1")
		want(2, http.StatusTeapot, "")
	})
}

// A request arrives at the service as it was sent, whichever member takes it.
func TestARequestArrivesAsItWasSent(t *testing.T) {
	leader := serve(t, &fake{leads: true}, Options{})
	for _, o := range []Options{{}, {Forward: true}} {
		other := serve(t, follows(5, leader.URL), o)
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/", ""},
			{"POST", "/a%2Fb/%C3%A9?x=1&y=%20+&x=2", "text"},
			{"PUT", "//twice//?", strings.Repeat("large ", 100_000)},
			{"DELETE", "/a?&&ringleader-term=no&b", "text"},
			{"PATCH", "/?ringleader-term=7x&b", "text"},
			{"OPTIONS", "/x;y=1", ""},
		} {
			send := func(base string) string {
				q, err := http.NewRequestWithContext(t.Context(), c.method, base+c.path, strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				r, err := http.DefaultClient.Do(q)
				if err != nil {
					t.Fatalf("%s %s: %v", c.method, c.path, err)
				}
				return fmt.Sprint(r.StatusCode, " ", text(t, r))
			}
			got, want := send(other.URL), send(leader.URL)
			if c.path == "//twice//?" { // an empty query is the same as none
				got, want = strings.ReplaceAll(got, "?", ""), strings.ReplaceAll(want, "?", "")
			}
			if got != want || !strings.HasPrefix(want, "418 "+c.method) {
				t.Errorf("forward %t: %.300s, want %.300s", o.Forward, got, want)
			}
		}
	}
}

// Two members that take each other for the leader answer after two steps; a chain of rising terms is followed to its end.
func TestMembersThatTakeEachOtherForTheLeaderMakeNoLoop(t *testing.T) {
	for _, o := range []Options{{}, {Forward: true}} {
		one, two, three := follows(5, ""), follows(5, ""), follows(6, "")
		leader := serve(t, &fake{leads: true}, o)
		first, second, third := serve(t, one, o), serve(t, two, o), serve(t, three, o)
		one.view.Value, two.view.Value, three.view.Value = second.URL, first.URL, leader.URL
		ask := func(url string) (int, string, string) {
			r, err := http.Get(url + "/x?a=1")
			if err != nil {
				t.Fatal(err)
			}
			return r.StatusCode, r.Header.Get("Retry-After"), text(t, r)
		}
		code, retry, body := ask(first.URL)
		if code != http.StatusServiceUnavailable || retry != "1" || body != "this member was taken for the leader of term 5, and it knows no later one\n" {
			t.Errorf("forward %t: %d %q %q", o.Forward, code, retry, body)
		}
		one.view.Value = first.URL // its own
		if code, _, body := ask(first.URL); code != http.StatusServiceUnavailable {
			t.Errorf("forward %t, to itself: %d %q", o.Forward, code, body)
		}
		one.view.Value = third.URL
		if code, _, body := ask(first.URL); code != http.StatusTeapot || body != "GET /x?a=1 /x?a=1 "+strings.TrimPrefix(leader.URL, "http://") {
			t.Errorf("forward %t, rising terms: %d %q", o.Forward, code, body)
		}
	}
}

func TestOnlyTheURLOfAServiceIsUsed(t *testing.T) {
	for _, value := range []string{
		"javascript:alert(1)", "//evil.example", "/path", "name:8443", "10.0.0.3:8443", "ftp://h/", "file:///etc/passwd", "https:h", "https:///x", "https://:8443",
		"https://user@h", "https://user:secret@h", "https://h?x=1", "https://h?", "https://h#x", "https://h#", "https://h\\@evil.example", "https://h\r\nX: y",
		"https://h\t", " https://h", "https://h /", "https://[::1", "https://h:port", "data:text/html,x", "HTTPS//h", "%68ttp://h",
		"https://h:0", "https://h:65536", "https://h:99999", "https://h:", "https://h:+1", "https://a,b", "https://a;b", "https://a b", "https://a%2fb", "https://a..b",
		"https://-a", "https://a-", "https://.", "https://h\u00e9", "https://[10.0.0.1]", "https://[fe80::1%25eth0]", "https://" + strings.Repeat("a.", 127),
	} {
		for _, o := range []Options{{}, {Forward: true, Transport: refuse{t}}} {
			r := get(newHandler(follows(1, value), echo, o), "GET", "/x")
			if body := text(t, r); r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Location") != "" || r.Header.Get("Retry-After") != "1" || strings.Contains(body, value) {
				t.Errorf("%q: %d %v %q", value, r.StatusCode, r.Header, body)
			}
		}
		if _, err := Base(value); err == nil {
			t.Errorf("%q passes for a URL", value)
		}
	}
	for value, location := range map[string]string{
		"http://10.0.0.1:65535":   "http://10.0.0.1:65535//evil.example/..?ringleader-term=1",
		"http://my_pod-0.svc.":    "http://my_pod-0.svc.//evil.example/..?ringleader-term=1",
		"http://h":                "http://h//evil.example/..?ringleader-term=1",
		"HTTPS://[fe80::1]:8443/": "https://[fe80::1]:8443//evil.example/..?ringleader-term=1",
		"https://h/a%2Fb/":        "https://h/a%2Fb//evil.example/..?ringleader-term=1",
	} {
		if got := get(newHandler(follows(1, value), echo, Options{}), "GET", "http://asked.example//evil.example/..").Header.Get("Location"); got != location {
			t.Errorf("%q: %q, want %q", value, got, location)
		}
	}
	only := func(u *url.URL) bool { return u.Hostname() == "good.example" }
	for value, code := range map[string]int{"https://good.example:1": http.StatusTemporaryRedirect, "https://evil.example": http.StatusServiceUnavailable} {
		if r := get(newHandler(follows(1, value), echo, Options{Allowed: only}), "GET", "/"); r.StatusCode != code {
			t.Errorf("%s: %d", value, r.StatusCode)
		}
	}
}

// refuse is a transport that no request may reach.
type refuse struct{ t *testing.T }

func (r refuse) RoundTrip(q *http.Request) (*http.Response, error) {
	r.t.Errorf("a request goes to %s", q.URL)
	return nil, errors.New("refused")
}

func TestWhatNoLeaderCanServeIsToBeTriedAgain(t *testing.T) {
	// Nothing listens at port 1. A port that was left may be taken again.
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer silent.Close()
	for _, c := range []struct {
		member *fake
		o      Options
		method string
		target string
		code   int
		retry  string
	}{
		{&fake{}, Options{}, "GET", "/", 503, "1"},
		{&fake{}, Options{RetryAfter: 2100 * time.Millisecond, Forward: true}, "POST", "/", 503, "3"},
		{&fake{view: ringleader.View{Leader: 1, Known: true, Term: 3, Role: ringleader.Leader, Value: "http://h"}}, Options{}, "GET", "/", 503, "1"},
		{follows(3, ""), Options{}, "GET", "/", 503, "1"},
		{&fake{}, Options{RetryAfter: math.MaxInt64}, "GET", "/", 503, "9223372037"},
		{&fake{}, Options{RetryAfter: math.MinInt64}, "GET", "/", 503, "1"},
		{follows(3, "http://127.0.0.1:1"), Options{Forward: true}, "GET", "/", 503, "1"},
		{follows(3, silent.URL), Options{Forward: true}, "GET", "/", 502, "1"},
		{follows(3, "http://h"), Options{}, "OPTIONS", "*", 400, ""},
		{follows(3, "http://h"), Options{Forward: true}, "CONNECT", "evil.example:80", 400, ""},
		{follows(3, "http://127.0.0.1:1/jobs/"), Options{Forward: true}, "GET", "/../admin", 400, ""}, // the rest of that host is no service of the leader
		{follows(3, "http://127.0.0.1:1/jobs"), Options{Forward: true}, "GET", "/a/%2e%2E/../jobsx", 400, ""},
		{follows(3, "http://127.0.0.1:1/jobs"), Options{Forward: true}, "GET", "/a/..", 503, "1"},
		{follows(3, "http://127.0.0.1:1"), Options{Forward: true}, "GET", "/../a", 503, "1"},
		{follows(3, "http://h"), Options{}, "GET", "/?ringleader-term=3", 503, "1"},
		{follows(3, "http://h"), Options{}, "GET", "/?a=1&ringleader-term=3&added=by+a+proxy", 503, "1"},
		{follows(3, "http://h"), Options{}, "GET", "/?ringleader-term=3&ringleader-term=1", 503, "1"},
		{follows(3, "http://h"), Options{}, "GET", "/?ringleader-term=99999999999999999999", 307, ""},
	} {
		r := get(newHandler(c.member, echo, c.o), c.method, c.target)
		if r.StatusCode != c.code || r.Header.Get("Retry-After") != c.retry {
			t.Errorf("%s %s with %+v: %d, try again after %q", c.method, c.target, c.o, r.StatusCode, r.Header.Get("Retry-After"))
		}
	}
}

// A leader of Bully has no term and publishes nothing.
func TestALeaderWithoutATermWasNotTakenForAnother(t *testing.T) {
	if body := text(t, get(newHandler(follows(0, ""), echo, Options{}), "GET", "/")); body != "the leader has not published its URL\n" {
		t.Errorf("%q", body)
	}
}

// A body that is too long for the leader's member is no failure of the leader.
func TestTheLimitOfABodyIsToldWhenItIsForwarded(t *testing.T) {
	leader := serve(t, &fake{leads: true}, Options{})
	h := newHandler(follows(1, leader.URL), echo, Options{Forward: true})
	limited := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 10)
		h.ServeHTTP(w, r)
	}))
	defer limited.Close()
	r, err := http.Post(limited.URL, "text/plain", strings.NewReader(strings.Repeat("x", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	if text(t, r); r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", r.StatusCode)
	}
}

// promoted is a member that begins to lead between two questions.
type promoted struct{ asked bool }

func (p *promoted) IsLeader() bool { return p.asked }

func (p *promoted) View() ringleader.View {
	p.asked = true
	return ringleader.View{Leader: 1, Known: true, Term: 3, Role: ringleader.Follower, Value: "http://before"}
}

func TestAMemberThatBeginsToLeadServes(t *testing.T) {
	if r := get(newHandler(&promoted{}, echo, Options{}), "GET", "/"); r.StatusCode != http.StatusTeapot {
		t.Errorf("%d", r.StatusCode)
	}
}

// A service sees its own parameters only.
func TestTheTermOfARedirectIsNotTheServices(t *testing.T) {
	for query, want := range map[string]string{
		"ringleader-term=1": "", "a=1&ringleader-term=1": "a=1", "ringleader-term=1&a=1": "a=1", "a&ringleader-term=2&ringleader-term=1&b": "a&b",
		"ringleader-term": "ringleader-term", "xringleader-term=1": "xringleader-term=1", "a=ringleader-term=1": "a=ringleader-term=1",
	} {
		if got, _ := cut(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// Requests to other members go past the proxy that the environment names for the Internet, and keep their connections.
func TestForwardedRequestsUseNoProxyOfTheEnvironment(t *testing.T) {
	if http.DefaultTransport.(*http.Transport).Proxy == nil {
		t.Fatal("net/http has no proxy")
	}
	h := newHandler(follows(1, "http://h"), echo, Options{})
	standard := http.DefaultTransport
	defer func() { http.DefaultTransport = standard }()
	http.DefaultTransport = refuse{t} // what a program may set
	for _, h := range []*handler{h, newHandler(follows(1, "http://h"), echo, Options{})} {
		if transport := h.Transport.(*http.Transport); transport.Proxy != nil || transport.MaxIdleConnsPerHost < 100 || transport.IdleConnTimeout == 0 {
			t.Errorf("the transport is %+v", transport)
		}
	}
	if standard.(*http.Transport).Proxy == nil {
		t.Error("net/http's own transport was changed")
	}
}

// A transport sends a request again if its connection breaks. If there is nothing to connect to then, the leader may have had the first one.
func TestARequestThatHasReachedTheLeaderHasNotFailedWithoutEffect(t *testing.T) {
	var requests atomic.Int64
	leader := httptest.NewUnstartedServer(nil)
	leader.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) == 2 {
			leader.Listener.Close()
			panic(http.ErrAbortHandler)
		}
	})
	leader.Start()
	defer leader.Close()
	h := newHandler(follows(1, leader.URL), echo, Options{Forward: true})
	for request, want := range []int{http.StatusOK, http.StatusBadGateway, http.StatusServiceUnavailable} {
		asked := httptest.NewRequest("POST", "/", nil)
		asked.Header.Set("Idempotency-Key", "a") // else a POST is not sent again
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, asked); w.Code != want {
			t.Errorf("request %d: %d %q, want %d", request, w.Code, w.Body, want)
		}
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("the leader got %d requests", n)
	}
}

// A leader that is stopped holds a request, unless the transport bounds that.
func TestALeaderThatDoesNotAnswerInTime(t *testing.T) {
	stopped := make(chan struct{})
	leader := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stopped }))
	defer leader.Close()
	defer close(stopped)
	h := newHandler(follows(1, leader.URL), echo, Options{Forward: true, Transport: &http.Transport{ResponseHeaderTimeout: time.Millisecond}})
	if r := get(h, "GET", "/"); r.StatusCode != http.StatusBadGateway {
		t.Errorf("%d %s", r.StatusCode, text(t, r))
	}
}
