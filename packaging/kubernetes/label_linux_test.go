package kubernetes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/needs"
)

// cluster is what label.sh knows of Kubernetes, with three pods, and their members.
type cluster struct {
	*testing.T
	mu     sync.Mutex
	labels map[string]string // by pod
	leader atomic.Int32
}

// ServeHTTP is the API server.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pod, found := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/here/pods/")
	var patch struct {
		Metadata struct{ Labels map[string]string }
	}
	err := json.NewDecoder(r.Body).Decode(&patch)
	if errors.Is(err, io.ErrUnexpectedEOF) { // curl has given up, on a machine that stalls
		return
	}
	if !found || err != nil || r.Method != http.MethodPatch || r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Content-Type") != "application/merge-patch+json" {
		c.Errorf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.labels[pod] = patch.Metadata.Labels["ringleader.example/role"]
}

// await waits until the pods have labels.
func (c *cluster) await(want map[string]string) {
	c.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	overdue := time.After(time.Minute)
	for {
		c.mu.Lock()
		got := maps.Clone(c.labels)
		c.mu.Unlock()
		if maps.Equal(got, want) {
			return
		}
		select {
		case <-overdue:
			c.Fatalf("the labels are %v, want %v", got, want)
		case <-ticker.C:
		}
	}
}

func TestTheLabelFollowsTheLeader(t *testing.T) {
	needs.Program(t, "curl", "curl")
	c := &cluster{T: t, labels: map[string]string{}}
	api := httptest.NewServer(c)
	defer api.Close()
	account := t.TempDir()
	for name, text := range map[string]string{"token": "secret", "ca.crt": ""} {
		if err := os.WriteFile(filepath.Join(account, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.leader.Store(2)
	var scripts []*exec.Cmd
	for id := range int32(3) {
		member := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/leader" || c.leader.Load() != id+1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		t.Cleanup(member.Close)
		s := exec.Command("sh", "label.sh")
		s.Env = append(os.Environ(), "API="+api.URL, "ACCOUNT="+account, "MEMBER="+member.URL, "NAMESPACE=here", "HOME="+account, // without a .curlrc
			fmt.Sprintf("POD=ringleader-%d", id+1), "PODS=ringleader-1 ringleader-2 ringleader-3")
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			s.Process.Kill()
			s.Wait()
		})
		scripts = append(scripts, s)
	}
	c.await(map[string]string{"ringleader-1": "follower", "ringleader-2": "leader", "ringleader-3": "follower"})
	c.leader.Store(1)
	c.await(map[string]string{"ringleader-1": "leader", "ringleader-2": "follower", "ringleader-3": "follower"})
	scripts[0].Process.Kill() // as if its machine was cut off
	scripts[0].Wait()
	c.leader.Store(3)
	c.await(map[string]string{"ringleader-1": "follower", "ringleader-2": "follower", "ringleader-3": "leader"})
	c.mu.Lock()
	c.labels["ringleader-3"] = "follower" // a leader before it has taken the label late, or one that led for less than a second
	c.mu.Unlock()
	c.await(map[string]string{"ringleader-1": "follower", "ringleader-2": "follower", "ringleader-3": "leader"})
}
