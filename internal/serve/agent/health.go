package agent

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/control"
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
		return func(ctx context.Context) error { return control.Get(ctx, u) }, err
	}
	return nil, nil
}

// runCheck runs a command with a keeper, which kills all its processes when its time is over. It returns when none is left.
func runCheck(ctx context.Context, k *keepers, command string, environment []string, timeout time.Duration) error {
	run, err := k.hook(calm, shell(command), environment, order{Limit: timeout}, nil)
	if err != nil {
		return err
	}
	select {
	case <-run.ended:
	case <-ctx.Done(): // also at the end of the member, before the timeout
		run.end()
	}
	if run.status != 0 {
		return fmt.Errorf("exit status %d", run.status)
	}
	return nil
}

// health completes the configuration of a member with its check.
func (a *Agent) health(c *ringleader.Config) (err error) {
	c.Health.Check, err = a.config.Health.check(a.keepers, a.identity(), cmp.Or(c.Health.Timeout, c.Health.Interval))
	return err
}
