package agent

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"ringleader.example/ringleader"
)

// Health is a check that determines whether the member may lead: a command of a shell, or a request. Both empty: there is none.
type Health struct {
	Command string // it has passed if its exit status is 0
	URL     string // GET of it, with http or https; it has passed if the answer has a status from 200 to 299
}

// ParseURL checks the URL of a health check.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is not a URL such as http://127.0.0.1:8080/health", text)
	}
	return u, nil
}

// check returns the check, or nil.
func (h Health) check(k *keepers, environment []string, timeout time.Duration) (func(context.Context) error, error) {
	switch {
	case h.Command != "":
		return func(ctx context.Context) error { return runCheck(ctx, k, h.Command, environment, timeout) }, nil
	case h.URL != "":
		u, err := ParseURL(h.URL)
		return func(ctx context.Context) error { return request(ctx, u) }, err
	}
	return nil, nil
}

// runCheck runs a command with a keeper, which kills all its processes when its time is over. It returns when none is left.
func runCheck(ctx context.Context, k *keepers, command string, environment []string, timeout time.Duration) error {
	end := now() + timeout
	run, err := k.start(shell(command), environment, order{Stop: end, Kill: end}, nil, nil)
	if err != nil {
		return err
	}
	select {
	case <-run.ended:
	case <-ctx.Done(): // also at the end of the member, before the timeout
		run.order(order{})
		<-run.ended
	}
	if run.status != 0 {
		return fmt.Errorf("exit status %d", run.status)
	}
	return nil
}

// request makes a request over a connection of its own: with the client of package http, which keeps connections, programs would be
// half a megabyte larger.
func request(ctx context.Context, u *url.URL) error {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	dial := new(net.Dialer).DialContext
	if u.Scheme == "https" {
		dial = new(tls.Dialer).DialContext
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: ringleader\r\nConnection: close\r\n\r\n", u.RequestURI(), u.Host); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return fmt.Errorf("no answer over HTTP: %w", cmp.Or(context.Cause(ctx), err))
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("HTTP status %s", response.Status)
	}
	return nil
}

// health completes the configuration of a member with its check.
func (a *Agent) health(c *ringleader.Config) (err error) {
	c.Health.Check, err = a.config.Health.check(a.keepers, a.identity(), cmp.Or(c.Health.Timeout, c.Health.Interval))
	return err
}
