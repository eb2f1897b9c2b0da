// Package statushttp serves a member's state over HTTP: to people, load balancers and supervisors, and to programs that follow which
// member leads and are no members, with [Observe].
//
// It is a package of its own because net/http is large. A program that elects without serving does not link it.
//
// The API of this package is v1: what it exports stays, and keeps its meaning.
package statushttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"ringleader.example/ringleader"
)

// Handler returns a handler that serves the member's state:
//
//	GET /status   ringleader.Status, as JSON
//	GET /leader   likewise; 200 on the leader when its work is ready, and 503 elsewhere, for load balancers
//	GET /healthz  {"healthy":true}; 503 with the reason when the member has stopped or stalled, or its storage fails
//	GET /readyz   likewise; 503 also while the member knows no leader, is not warm, or leads and its work is not ready
//	GET /watch    a stream of server-sent events: ringleader.Status now and after each change of the leader
//	GET /metrics  the state and the counters, in the text format of Prometheus
func Handler(m *ringleader.Member) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		Reply(w, http.StatusOK, m.Status())
	})
	mux.HandleFunc("GET /leader", func(w http.ResponseWriter, _ *http.Request) {
		status := m.Status()
		Reply(w, codeOf(status.Role == ringleader.Leader && !status.NotReady), status)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, m.Health()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, ready(m)) })
	mux.Handle("GET /watch", &watch{member: m, places: make(chan struct{}, MostWatches)})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { serve(w, m) })
	return mux
}

// ready returns why a member takes no part in a group with a leader, or could not take over the lead as well as others, or nil.
func ready(m *ringleader.Member) error {
	if err := m.Health(); err != nil {
		return err
	}
	status := m.Status()
	switch {
	case status.Leader == nil:
		return errors.New(strings.Join(status.Why, "; "))
	case status.NotReady:
		return errors.New("it leads, and its work is not ready")
	}
	for i := range status.Members {
		switch own := &status.Members[i]; {
		case own.ID != status.ID || own.Warmth == "" || own.Warmth == ringleader.Warm:
		case own.WhyCold != "":
			return fmt.Errorf("it cannot become warm: %s", own.WhyCold)
		default:
			return errors.New("it is not warm yet")
		}
	}
	return nil
}

func codeOf(ok bool) int {
	if ok {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// answer answers a question about health.
func answer(w http.ResponseWriter, err error) {
	type health struct {
		Healthy bool   `json:"healthy"`
		Reason  string `json:"reason,omitempty"`
	}
	body := health{Healthy: err == nil}
	if err != nil {
		body.Reason = err.Error()
	}
	Reply(w, codeOf(err == nil), body)
}

// Reply answers with a value as JSON, which no cache keeps. It panics if the value has no JSON.
func Reply(w http.ResponseWriter, code int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(append(body, '\n')) // if the client is gone, the error has no receiver
}
