package statushttp_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/statushttp"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport/transporttest"
)

// deaf is a store whose probes give no answer.
type deaf struct {
	storage.Storage
	free chan struct{}
}

func (d deaf) Probe() error { <-d.free; return nil }

func TestADiskThatGivesNoAnswerShowsWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		store, err := storage.Memory().Open()
		if err != nil {
			t.Fatal(err)
		}
		m, err := ringleader.Join(t.Context(), ringleader.Config{
			ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: "member1:1"}}, Storage: deaf{store, free},
			Transport: transporttest.NewExchange().Open, Clock: clocktest.New(),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		has := func(path string, code int, wants ...string) {
			t.Helper()
			w := httptest.NewRecorder()
			statushttp.Handler(m).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if w.Code != code {
				t.Errorf("%s answers %d, not %d", path, w.Code, code)
			}
			for _, want := range wants {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("no %q in\n%s", want, w.Body)
				}
			}
		}
		has("/healthz", 200)
		<-time.After(2 * time.Second)
		has("/healthz", 503, `"reason":"the storage fails: the disk has not answered for 1.`)
		has("/readyz", 503, `the storage fails`)
		has("/metrics", 200, "\nringleader_healthy 0\n", "\nringleader_storage_failing 1\n", "\nringleader_storage_failing_seconds 1.")
		has("/status", 200, `"last_change":{"cause":"disk","detail":"the storage fails: the disk has not answered for 1.`, `"storage_problem":"the disk has not answered for 1.`, `"storage_failing":1.`)
		if err := m.Health(); !errors.Is(err, ringleader.ErrStorage) {
			t.Errorf("the member is healthy: %v", err)
		}
		close(free)
		synctest.Wait()
		has("/healthz", 200)
		has("/metrics", 200, "\nringleader_storage_failing 0\n", "\nringleader_storage_failing_seconds 0\n")
	})
}
