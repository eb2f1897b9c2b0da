package trials

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
	"ringleader.example/ringleader/internal/show/report"
)

// processors returns the processes of a run over processes. A child that is not yet the program must not be stopped: its parent waits for it
// without end.
func processors(run int) []int {
	return slices.DeleteFunc(kerneltest.Children(run), func(child int) bool {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)) // it may have ended
		return !bytes.Contains(line, []byte("processor"))
	})
}

func TestARunOverProcessesEndsCleanlyWhateverIsKilled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		kill   func(parent *os.Process, children []int)
		status int // -1: by a signal
		says   string
	}{
		{
			"a processor is killed",
			func(_ *os.Process, children []int) { syscall.Kill(children[1], syscall.SIGKILL) },
			report.ExitNo, "its process ended: signal: killed\n",
		},
		{"the run is interrupted", func(p *os.Process, _ []int) { p.Signal(os.Interrupt) }, report.ExitIncomplete, "\n"},
		{
			"the run is interrupted while a processor is stopped",
			func(p *os.Process, children []int) {
				syscall.Kill(children[0], syscall.SIGSTOP)
				p.Signal(os.Interrupt)
			},
			report.ExitIncomplete, "",
		},
		{"the run is killed", func(p *os.Process, _ []int) { p.Kill() }, -1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// Process 1 waits for hours for an answer of 3, which is dead.
			run := exec.Command("ringleader", "run", "bully", "--n", "3", "--dead", "3", "--start", "1", "--over", "processes", "--unit", "1h")
			var said bytes.Buffer
			run.Stderr = &said
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			defer run.Process.Kill()
			var children []int
			clitest.Eventually(t, func() error {
				children = processors(run.Process.Pid)
				if len(children) < 2 {
					return fmt.Errorf("it has started %v", children)
				}
				return nil
			})
			test.kill(run.Process, children)
			err := run.Wait()
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if status := run.ProcessState.ExitCode(); status != test.status {
				t.Errorf("exit status %d, want %d", status, test.status)
			}
			if text := said.String(); !strings.HasSuffix(text, test.says) || strings.Count(text, "\n") > 1 {
				t.Errorf("it says %q", text)
			}
			clitest.Eventually(t, func() error {
				for _, child := range children {
					if alive(child) {
						return fmt.Errorf("process %d is alive", child)
					}
				}
				return nil
			})
		})
	}
}
