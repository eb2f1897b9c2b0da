package agent

import (
	"bufio"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/serve/warden"
)

// lines are the texts of a log, as they come.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// next returns the next line of a log.
func (l lines) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-l:
		return line
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing is logged")
		return ""
	}
}

// told returns keepers, and what they log.
func told() (*keepers, lines) {
	log := make(lines, 10)
	return &keepers{program: os.Args[0], log: slog.New(slog.NewTextHandler(log, nil)), pids: map[int]bool{}}, log
}

// lasting starts a process that counts as a keeper, and another one, which this test adopts and which does not end although it is killed, until end is
// called. A tracer that does not look stands for a disk that does not answer.
func lasting(t *testing.T, k *keepers) (pid int, end func()) {
	t.Helper()
	if err := warden.Adopt(); err != nil {
		t.Fatal(err)
	}
	tracer := exec.Command(os.Args[0], "trace")
	in, err := tracer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := tracer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tracer.Start(); err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	k.pids[tracer.Process.Pid] = true
	k.mu.Unlock()
	end = func() {
		in.Close()
		tracer.Wait() // with the status of a process whose input ends
	}
	t.Cleanup(end)
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatal("the tracer has ended")
	}
	if _, err := fmt.Sscanf(line.Text(), "traces %d", &pid); err != nil {
		t.Skip("this machine lets no process be traced: ", line.Text())
	}
	return pid, end
}

// What waits is told, and holds up no keeper.
func TestProcessesThatDoNotEndAreTold(t *testing.T) {
	k, log := told()
	pid, end := lasting(t, k)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.finish("", nil)
	}()
	if line := log.next(t); !strings.Contains(line, fmt.Sprint(pid)) || !strings.Contains(line, "do not end") {
		t.Errorf("process %d does not end, and what is logged is %q", pid, line)
	}
	select {
	case <-ended:
		t.Error("it has not waited for it")
	default:
	}
	k.mu.Lock() // so a keeper can start
	older := maps.Clone(k.left)
	k.mu.Unlock()
	k.finish("", older) // of a keeper that has started later
	end()
	<-ended
}

// A control group that cannot be killed holds a command up: with its end the lead is released.
func TestACommandHasNotEndedWhileItsControlGroupHasProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, log := told()
		group := t.TempDir()
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(os.Mkdir(filepath.Join(group, "cgroup.kill"), 0o700)) // which cannot be written
		populated := func(is int) {
			file := filepath.Join(group, "cgroup.events")
			must(os.WriteFile(file+".new", fmt.Appendf(nil, "populated %d\nfrozen 0\n", is), 0o600))
			must(os.Rename(file+".new", file))
		}
		populated(1)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			k.finish(group, nil)
		}()
		if line := log.next(t); !strings.Contains(line, "may be left") || !strings.Contains(line, syscall.EISDIR.Error()) {
			t.Errorf("%q is logged", line)
		}
		synctest.Wait() // until it has ended, or waits
		select {
		case <-ended:
			t.Error("it has not waited until the group was empty")
		default:
		}
		populated(0)
		<-ended
	})
}
