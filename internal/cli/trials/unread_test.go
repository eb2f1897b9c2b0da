//go:build unix

package trials

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/rig"
)

// A pager that stands still, a terminal after Ctrl-S, or a collector of logs that hangs takes nothing, and one that has ended ends what writes to it. The loop of
// the leader has a line for the log when it misses a member, and goes on; and the leader ends when it is told to.
func TestALeaderWhoseOutputNothingReadsLeadsOn(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, r, w *os.File){
		"the reader stands still": func(t *testing.T, _, w *os.File) {
			if err := rig.Fill(w); err != nil {
				t.Fatal(err)
			}
		},
		"the reader has ended": func(_ *testing.T, r, _ *os.File) { r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leadsOn(t, spoil)
		})
	}
}

func leadsOn(t *testing.T, spoil func(t *testing.T, r, w *os.File)) {
	g := newFiled(t, 3, false)
	g.running[3].Process.Signal(syscall.SIGTERM)
	g.running[3].Wait()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { errors.Join(r.Close(), w.Close()) }()
	command := exec.Command("ringleader", "join", "--config", g.file(3), "--verbose")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Stdout, command.Stderr = w, w
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		command.Process.Kill()
		command.Wait()
	}()
	g.until(3, "the leader of all", func(s ringleader.Status) bool {
		for id := range 2 {
			clitest.Call("transfer", "3", "--data", g.data(id+1))
		}
		return s.Role == ringleader.Leader && s.Members[0].Reachable && s.Members[1].Reachable
	})

	spoil(t, r, w)
	g.running[1].Process.Signal(syscall.SIGKILL)
	g.running[1].Wait()
	g.until(3, "without member 1", func(s ringleader.Status) bool {
		return s.Role == ringleader.Leader && !s.Members[0].Reachable && strings.Contains(s.Members[0].Problem, "refused")
	})
	command.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	clitest.Await(t, "the end of the leader", func() bool { return len(ended) == 1 })
	if err := <-ended; !command.ProcessState.Exited() { // with 1 if what it has printed is lost
		t.Error(err)
	}
}
