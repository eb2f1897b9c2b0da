// Package statushttp serves a member's state over HTTP: to people, load balancers and supervisors.
//
// It is a package of its own because net/http is large. A program that elects without serving does not link it.
package statushttp

import (
	"encoding/json"
	"net/http"

	"ringleader.example/ringleader"
)

// Handler returns a handler that serves the member's state as JSON:
//
//	GET /status   ringleader.Status
//	GET /leader   ringleader.Status; 200 on the leader and 503 elsewhere, for load balancers
//	GET /healthz  {"healthy":true}; 503 with the reason when the member has stopped or stalled
func Handler(m *ringleader.Member) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, m.Status())
	})
	mux.HandleFunc("GET /leader", func(w http.ResponseWriter, _ *http.Request) {
		status, code := m.Status(), http.StatusServiceUnavailable
		if status.Role == ringleader.Leader {
			code = http.StatusOK
		}
		write(w, code, status)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		type health struct {
			Healthy bool   `json:"healthy"`
			Reason  string `json:"reason,omitempty"`
		}
		if err := m.Health(); err != nil {
			write(w, http.StatusServiceUnavailable, health{Reason: err.Error()})
			return
		}
		write(w, http.StatusOK, health{Healthy: true})
	})
	return mux
}

func write(w http.ResponseWriter, code int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // of our own plain types
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(append(body, '\n')) // if the client is gone, the error has no receiver
}
