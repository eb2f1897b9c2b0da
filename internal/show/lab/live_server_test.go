package lab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/serve/observe"
	"ringleader.example/ringleader/internal/show/lab"
)

func TestAGroupIsForThePageOnly(t *testing.T) {
	var given []string
	live := &lab.Live{Board: observe.NewBoard("a group"), Act: func(_ context.Context, line string) error {
		given = append(given, line)
		return nil
	}}
	var catalogue engineFunc = func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
		return json.RawMessage(`{"version":"1","live":false}`), nil
	}
	address := serve(t, live.With(catalogue))
	_, port, _ := net.SplitHostPort(address)
	for _, c := range []struct {
		method, path string
		change       func(*http.Request)
		want         int
	}{
		{http.MethodGet, "/api/live", func(r *http.Request) { r.Host = "evil.example:" + port }, http.StatusMisdirectedRequest},
		{http.MethodGet, "/api/live", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden},
		{http.MethodGet, "/api/live", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		{http.MethodPost, "/api/act", func(r *http.Request) { r.Host = "evil.example:" + port }, http.StatusMisdirectedRequest},
		{http.MethodPost, "/api/act", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden},
		{http.MethodPost, "/api/act", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType},
		{http.MethodGet, "/api/act", nil, http.StatusMethodNotAllowed},
	} {
		reply := request(t, address, c.method, c.path, `{"command":"kill 3"}`, c.change)
		if got := text(t, reply); reply.StatusCode != c.want || !strings.HasPrefix(got, `{"error":`) {
			t.Errorf("%s %s: status %d, and not %d: %s", c.method, c.path, reply.StatusCode, c.want, got)
		}
	}
	if len(given) > 0 {
		t.Errorf("commands from elsewhere: %q", given)
	}
	if got := text(t, request(t, address, http.MethodPost, "/api/act", `{"command":"kill 3"}`, nil)); got != "{\"answer\":null}\n" || len(given) != 1 {
		t.Errorf("a command of the page is answered %s, and given are %q", got, given)
	}
	if got := text(t, request(t, address, http.MethodPost, "/api/catalogue", `{}`, nil)); !strings.Contains(got, `"live":true`) || !strings.Contains(got, `"version":"1"`) {
		t.Errorf("the catalogue is %s", got)
	}
	lines := bufio.NewScanner(request(t, address, http.MethodGet, "/api/live", "", nil).Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), `data: {"now":`) {
		t.Errorf("the stream begins with %s", lines.Text())
	}
	if reply := request(t, serve(t, catalogue), http.MethodGet, "/api/live", "", nil); reply.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a stream without a group has status %d", reply.StatusCode)
	}
}
