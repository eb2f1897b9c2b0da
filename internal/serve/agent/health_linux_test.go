package agent_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/control"
)

// idle reports whether no command runs. Its keeper may wait for the next time, and has the command among its arguments.
func (g *group) idle() bool {
	return !slices.ContainsFunc(g.processes(), func(p process) bool {
		return strings.HasSuffix(p.arguments(), " command loop ") && !strings.Contains(p.arguments(), " -- ")
	})
}

// A file for each member is its health.
func TestACommandRunsOnAHealthyMemberOnly(t *testing.T) {
	t.Parallel()
	well := filepath.Join(t.TempDir(), "well")
	// Only the checks change the leader: the lease is longer than any delay of a slow machine.
	times := steady()
	times.Suspicion = 10 * lease
	g := newGroup(t, 3, spec{
		Command: self("loop"), OnExit: agent.Resign, Warden: true, Timing: times, Patience: limit,
		Health: agent.Health{Command: "test -e " + well + "$RINGLEADER_MEMBER"}, Interval: 3 * lease / 10, // each check of each member is three processes
	})
	heal := func(id int) {
		t.Helper()
		g.must(os.WriteFile(well+strconv.Itoa(id), nil, 0o600))
	}
	harm := func(id int) {
		t.Helper()
		g.must(os.Remove(well + strconv.Itoa(id)))
	}
	runs := func(id int) bool {
		on, _, _ := g.leader(g.works(now(), "loop").PID)
		return on == id
	}
	heal(2)
	for id := 1; id <= 3; id++ {
		g.start(id)
	}
	g.await("the command runs on 2", func() bool { return runs(2) })
	heal(1)
	heal(3)
	for range 5 {
		if !runs(2) {
			t.Error("a member that is able again takes over")
		}
	}
	harm(2)
	g.await("the command runs on another one", func() bool { return !runs(2) })
	harm(1)
	harm(3)
	g.await("no command runs", g.idle)
	heal(1)
	g.await("the command runs on 1", func() bool { return runs(1) })
	g.judge()
}

// The check has a process that ignores SIGTERM and leaves its session. It hangs once it may.
func TestACheckThatHangsIsKilledWithAllItsProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hang, pids := filepath.Join(dir, "hang"), filepath.Join(dir, "pids")
	check := fmt.Sprintf(`test -e %[1]s || exit 0; trap '' TERM; setsid sh -c 'trap "" TERM; echo $$ >> %[2]s; while :; do sleep 1000; done' & while :; do sleep 1000; done`, hang, pids)
	g := newGroup(t, 1, spec{Command: self("loop"), OnExit: agent.Resign, Warden: true, Timing: steady(), Health: agent.Health{Command: check}})
	g.start(1)
	g.works(0, "loop")
	g.must(os.WriteFile(hang, nil, 0o600))
	hung := func() (all []int) {
		text, _ := os.ReadFile(pids)
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			g.must(err)
			all = append(all, pid)
		}
		return all
	}
	g.await("two checks have hung, one after the other", func() bool {
		all := hung()
		return len(all) > 1 && syscall.Kill(all[0], 0) == syscall.ESRCH
	})
	g.await("the command has stopped", g.idle)
	g.must(os.Remove(hang))
	since := now()
	g.works(since, "loop")
	g.run[1].Process.Signal(syscall.SIGTERM)
	<-g.ends[1]
	g.alone()
}

func TestARequestIsACheck(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	status.Store(http.StatusServiceUnavailable)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != "/health?deep=1" || r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	g := newGroup(t, 1, spec{Command: self("loop"), OnExit: agent.Resign, Warden: true, Health: agent.Health{URL: server.URL + "/health?deep=1"}})
	g.start(1)
	for _, healthy := range []int{http.StatusOK, http.StatusNoContent} {
		status.Store(int64(healthy))
		since := now()
		g.works(since, "loop")
		status.Store(http.StatusFound)
		g.await("the command has stopped", g.idle)
	}
}

func TestARequestOverTLSNeedsATrustedCertificate(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	g := newGroup(t, 1, spec{Command: self("loop"), OnExit: agent.Resign, Warden: true, Health: agent.Health{URL: server.URL}})
	g.start(1)
	client := control.NewClient(control.Socket(g.specs[0].Data))
	g.await("the check has failed", func() bool {
		s, err := client.Status(t.Context())
		return err == nil && strings.Contains(s.Health.Reason, "certificate") && s.Role != ringleader.Leader
	})
	g.run[1].Process.Signal(syscall.SIGTERM)
	<-g.ends[1]
	authority := filepath.Join(t.TempDir(), "ca.pem")
	g.must(os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	t.Setenv("SSL_CERT_FILE", authority)
	g.start(1)
	g.works(0, "loop")
}
