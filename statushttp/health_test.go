package statushttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/statushttp"
)

func TestMetricsAndTheStatusHaveHealthAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sick := errors.New("sick")
		var now error
		c := ringleadertest.New(t, ringleader.Config{Preempt: true, Health: ringleader.HealthCheck{Rise: 1, Fall: 1, Check: func(context.Context) error { return now }}}, 1)
		defer c.Close()
		c.Start(1)
		c.Await(1)
		has := func(path string, wants ...string) {
			t.Helper()
			w := httptest.NewRecorder()
			statushttp.Handler(c.Member(1)).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			for _, want := range wants {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("no %q in\n%s", want, w.Body)
				}
			}
		}
		has("/metrics", "\nringleader_able 1\n", "\nringleader_health_checks_failed_total 0\n", "\nringleader_preemption_paused 0\n")
		has("/status", `"weight":1`, `"health":{"able":true,"row":`, `"preemption":{"paused":false,"left":null}`)
		now = sick
		if err := c.Member(1).PausePreemption(0); err != nil {
			t.Fatal(err)
		}
		c.Until("two checks have failed", func() bool { return c.Member(1).Status().Health.Failed == 2 })
		has("/metrics", "\nringleader_able 0\n", "\nringleader_health_checks_failed_total 2\n", "\nringleader_preemption_paused 1\n", "\nringleader_is_leader 0\n")
		has("/status", `"unable":"the health check fails: sick"`, `"health":{"able":false,"reason":"sick","row":2`, `"preemption":{"paused":true,"left":null}`)
	})
}

func TestAFollowerIsNoPlaceForALoadBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2)
		defer c.Close()
		c.Start(1, 2)
		c.Await(2)
		for id, want := range map[uint64]int{1: http.StatusServiceUnavailable, 2: http.StatusOK} {
			w := httptest.NewRecorder()
			statushttp.Handler(c.Member(id)).ServeHTTP(w, httptest.NewRequest("GET", "/leader", nil))
			if w.Code != want || !strings.Contains(w.Body.String(), `"leader":2`) {
				t.Errorf("member %d answers %d %s", id, w.Code, w.Body)
			}
		}
	})
}

func TestMetricsTellVotersFromMembersAndLateRenewalsFromAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		if err := c.Member(3).RemoveMember(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		c.Pass(ringleader.Test().Lease)
		counted := c.Member(3).Counters()
		if counted.Renewals == 0 || counted.LateRenewals > 0 {
			t.Fatalf("%+v", counted)
		}
		w := httptest.NewRecorder()
		statushttp.Handler(c.Member(3)).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		for _, want := range []string{
			"members 3", "members_reachable 3", "voters 2", "voters_reachable 2",
			fmt.Sprintf("lease_renewals_total %d", counted.Renewals), "lease_renewals_late_total 0", "lease_lapses_total 0", "tenures_total 1",
		} {
			if !strings.Contains(w.Body.String(), "\nringleader_"+want+"\n") {
				t.Errorf("no %q in\n%s", want, w.Body)
			}
		}
	})
}
