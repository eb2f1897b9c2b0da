package statushttp_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/statushttp"
)

// answers checks the code of an answer, and what is in it.
func answers(t *testing.T, m *ringleader.Member, path string, code int, with ...string) {
	t.Helper()
	w := httptest.NewRecorder()
	statushttp.Handler(m).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	for _, text := range with {
		if w.Code != code || !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s: %d %s; want %d %s", path, w.Code, w.Body, code, text)
		}
	}
}

func TestALeaderIsAPlaceForALoadBalancerWhenItsWorkIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{AwaitReady: true}, 1)
		defer c.Close()
		c.Start(1)
		leads := make(chan ringleader.Leadership)
		ctx, cancel := context.WithCancel(t.Context())
		var led sync.WaitGroup
		led.Go(func() {
			_ = c.Member(1).Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
				leads <- l
				<-ctx.Done()
				return nil
			})
		})
		l := <-leads
		answers(t, c.Member(1), "/leader", 503, `"not_ready":true`)
		answers(t, c.Member(1), "/readyz", 503, "it leads, and its work is not ready")
		answers(t, c.Member(1), "/healthz", 200, "")
		l.SetReady(true)
		answers(t, c.Member(1), "/leader", 200, `"role":"leader"`)
		answers(t, c.Member(1), "/readyz", 200, "")
		cancel()
		led.Wait()
	})
}

func TestAMemberIsReadyForARollingUpdateWhenItIsWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2)
		defer c.Close()
		ends := make(chan error)
		c.Configure(func(id uint64, config *ringleader.Config) {
			config.Prepare = func(ctx context.Context) error {
				if id == 2 {
					return nil
				}
				select {
				case err := <-ends:
					return err
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		})
		c.Start(1, 2)
		c.Await(2)
		answers(t, c.Member(2), "/readyz", 200, "")
		answers(t, c.Member(1), "/readyz", 503, "it is not warm yet")
		answers(t, c.Member(1), "/metrics", 200, "\nringleader_members_warm 1\n", "\nringleader_ready 0\n")
		ends <- errors.New("no source")
		c.Settle()
		answers(t, c.Member(1), "/readyz", 503, "it cannot become warm: no source")
		answers(t, c.Member(1), "/status", 200, `"warmth":"cold","why_cold":"no source"`)
		ends <- nil // a second later
		c.Settle()
		answers(t, c.Member(1), "/readyz", 200, "")
		answers(t, c.Member(2), "/metrics", 200, "\nringleader_members_warm 2\n", "\nringleader_ready 1\n")
	})
}
