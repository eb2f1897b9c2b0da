package examples

import (
	"bufio"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
)

// A measurement does not wait for ever for a process that has ended by itself.
func TestManyGroupsAreNotMeasuredWithoutAProcess(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	command := exec.Command(program("many"), "--groups", "2", "--idle", "1h")
	command.Stderr = &told
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "all groups agree") {
			clitest.Eventually(t, func() error { // the system may list none of a process that starts or ends threads
				all := kerneltest.Children(command.Process.Pid)
				if len(all) == 0 {
					return errors.New("it has no processes")
				}
				return syscall.Kill(all[0], syscall.SIGKILL)
			})
		}
	}
	var failed *exec.ExitError
	if err := command.Wait(); !errors.As(err, &failed) || !strings.Contains(told.String(), "has ended\n") {
		t.Errorf("%v, %s", err, told.String())
	}
}
