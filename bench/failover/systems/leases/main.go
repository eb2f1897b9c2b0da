//go:build linux

// Leases is as much of a Kubernetes API server as client-go's leader election uses: Lease objects, in memory, which are
// replaced only by a writer that has seen their last version. It answers at once, and no fault happens to it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strconv"
	"sync"

	"ringleader.example/ringleader/bench/failover/node"
)

func main() { node.Main(run) }

func run(ctx context.Context, c *node.Config, _ *node.Report) error {
	s := &http.Server{Addr: c.Server.Address(), Handler: &store{leases: map[string]lease{}}}
	context.AfterFunc(ctx, func() { s.Close() })
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// lease is a Lease, of which the server reads only the metadata.
type lease struct {
	Kind     string          `json:"kind"`
	Version  string          `json:"apiVersion"`
	Metadata map[string]any  `json:"metadata"`
	Spec     json.RawMessage `json:"spec"`
}

type store struct {
	mu      sync.Mutex
	leases  map[string]lease // by path
	version int
}

// ServeHTTP serves GET, POST (create) and PUT (replace).
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var given lease
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&given); err != nil {
			answer(w, http.StatusBadRequest, failure(http.StatusBadRequest, "BadRequest"))
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.URL.Path
	if r.Method == http.MethodPost {
		text, _ := given.Metadata["name"].(string)
		name = path.Join(name, text)
	}
	stored, exists := s.leases[name]
	switch {
	case r.Method == http.MethodPost && exists:
		answer(w, http.StatusConflict, failure(http.StatusConflict, "AlreadyExists"))
	case r.Method != http.MethodPost && !exists:
		answer(w, http.StatusNotFound, failure(http.StatusNotFound, "NotFound"))
	case r.Method == http.MethodGet:
		answer(w, http.StatusOK, stored)
	case r.Method == http.MethodPut && given.Metadata["resourceVersion"] != stored.Metadata["resourceVersion"]:
		answer(w, http.StatusConflict, failure(http.StatusConflict, "Conflict"))
	default:
		s.version++
		given.Kind, given.Version = "Lease", "coordination.k8s.io/v1"
		given.Metadata["resourceVersion"] = strconv.Itoa(s.version)
		s.leases[name] = given
		answer(w, http.StatusOK, given)
	}
}

// failure returns a Status, by which client-go knows what has failed.
func failure(code int, reason string) map[string]any {
	return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
