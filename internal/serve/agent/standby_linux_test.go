package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/serve/rig"
)

// status asks a member.
func (g *group) status(id int) (s ringleader.Status) {
	s, _ = control.NewClient(control.Socket(g.specs[id-1].Data)).Status(context.Background()) // it may not answer yet
	return s
}

// warmth returns how warm a member says that it is.
func (g *group) warmth(id int) ringleader.Warmth {
	for _, m := range g.status(id).Members {
		if m.ID == uint64(id) {
			return m.Warmth
		}
	}
	return ""
}

// preparing returns the processes of a member's command that prepares.
func (g *group) preparing(id int) (all []int) {
	for _, p := range g.processes() {
		if !strings.HasPrefix(p.arguments(), os.Args[0]+" command ") || !strings.HasSuffix(p.arguments(), " warm ") {
			continue
		}
		for parent := p.parent; parent > 1; parent = g.parent(parent) {
			if parent == g.run[id].Process.Pid {
				all = append(all, p.pid)
				break
			}
		}
	}
	return all
}

// A command that prepares never runs beside the command, also if it ignores SIGTERM, and after a crash nothing waits for it.
func TestTheCommandThatPreparesIsDeadWhenTheCommandBegins(t *testing.T) {
	t.Parallel()
	patient := lasting(20 * lease)
	patient.Handover = 200 * time.Millisecond
	const n = 5 // two of them leave; one that started again would grant nothing for a lease
	g := newGroup(t, n, spec{
		Command: self("loop"), OnExit: agent.Resign, Warden: true, Timing: patient, Stop: limit, Warm: "exec " + strings.Join(self("deaf", "warm"), " "),
	})
	for id := 1; id <= n; id++ {
		g.start(id)
	}
	left := map[int]bool{}
	others := func(leader int) bool {
		for id := 1; id <= n; id++ {
			if id != leader && !left[id] && len(g.preparing(id)) == 0 {
				return false
			}
		}
		return true
	}
	for turn := range 2 {
		last, id, member, _ := g.working()
		if warm := g.preparing(id); len(warm) > 0 {
			t.Errorf("beside the command of member %d there are processes that prepare it: %v", id, warm)
		}
		g.await("the others prepare", func() bool { return others(id) })
		g.await("the leader is warm", func() bool { return g.warmth(id) == ringleader.Warm })
		if turn == 0 {
			send(member, syscall.SIGKILL) // the warden proves its death
			g.gone(id, member)
		} else {
			g.run[id].Process.Signal(syscall.SIGTERM) // waits for no longer than Handover
		}
		g.await("another command", func() bool { return g.works(now(), "loop").PID != last.PID })
		left[id] = true
	}
	g.judge()
}

func TestALeaderIsReadyWhenItsCommandIs(t *testing.T) {
	t.Parallel()
	for way, ready := range map[string]agent.Ready{"status": {Command: "test -e $RINGLEADER_GATE"}, "port": {Address: "port"}, "notice": {Notify: true}} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			addresses, err := rig.FreeAddresses(1)
			if err != nil {
				t.Fatal(err)
			}
			gate := filepath.Join(t.TempDir(), "gate")
			words := map[string][]string{"status": {"loop"}, "port": {"await=" + gate, "listen=" + addresses[0], "loop"}, "notice": {"await=" + gate, "notify", "loop"}}[way]
			if ready.Address != "" {
				ready.Address = addresses[0]
			}
			ready.Command = strings.ReplaceAll(ready.Command, "$RINGLEADER_GATE", gate)
			g := newGroup(t, 1, spec{Command: self(words...), OnExit: agent.Restart, Warden: true, Timing: steady(), Ready: ready})
			g.start(1)
			var led ringleader.Status
			g.await("it leads", func() bool {
				led = g.status(1)
				return led.Role == ringleader.Leader
			})
			if !led.NotReady {
				t.Error("it is ready before its command")
			}
			g.must(os.WriteFile(gate, nil, 0o600))
			isReady := func() bool { s := g.status(1); return s.Role == ringleader.Leader && !s.NotReady }
			g.await("it is ready", isReady)
			g.must(os.Remove(gate))
			last, _, _, _ := g.working()
			send(last.PID, syscall.SIGKILL)
			g.await("it is not ready while its command starts again", func() bool { s := g.status(1); return s.Role == ringleader.Leader && s.NotReady })
			g.must(os.WriteFile(gate, nil, 0o600))
			g.await("it is ready again", isReady)
		})
	}
}

// A command that prepares and runs on keeps its member warm for as long as it runs.
func TestAMemberIsWarmWhileTheCommandThatHasToldSoRuns(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	g := newGroup(t, 3, spec{
		Command: self("loop"), OnExit: agent.Resign, Warden: true, Timing: lasting(20 * lease), Warm: "exec " + strings.Join(self("await="+gate, "notify", "warm"), " "),
	})
	for id := 1; id <= 3; id++ {
		g.start(id)
	}
	_, id, _, _ := g.working()
	other := id%3 + 1
	g.await("the command that prepares runs", func() bool { return len(g.preparing(other)) == 1 })
	g.await("it is not warm before its command has told so", func() bool { return g.warmth(other) == ringleader.Warming })
	g.must(os.WriteFile(gate, nil, 0o600))
	g.await("it is warm", func() bool { return g.warmth(other) == ringleader.Warm })
	g.must(os.Remove(gate))
	send(g.preparing(other)[0], syscall.SIGKILL)
	g.await("it is not warm any more, and prepares again", func() bool { return g.warmth(other) == ringleader.Warming && len(g.preparing(other)) == 1 })
	send(g.preparing(other)[0], syscall.SIGKILL)
	g.await("the failure is told", func() bool {
		for _, m := range g.status(id).Members {
			if m.ID == uint64(other) {
				return m.Warmth == ringleader.Cold && m.WhyCold == "exit status 137" // also while it tries again
			}
		}
		return false
	})
}
