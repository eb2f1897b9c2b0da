//go:build unix

package trials

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
)

// Work of every kind is killed at random moments. The moment is a number of lines of its file, which does not depend on the speed
// of the machine.
func TestWorkThatIsKilledResumesToTheSameBytes(t *testing.T) {
	clitest.OnlyComputes(t)
	t.Parallel()
	for _, line := range []string{
		"compare lcr peterson afek-gafni-synchronous --n 4..512 --orders 40 --csv",
		"verify lcr --n 7 --json " + narrow,
		"worst stop-and-go-p2 --n 16 --tries 2000 --json",
		"worst franklin --n 8 --tries 50000 --of election --json",
		"reproduce S4:assumption S4:bandwidth --json",
	} {
		t.Run(line, func(t *testing.T) {
			killed := filepath.Join(t.TempDir(), "killed")
			command := func() *exec.Cmd {
				return exec.Command("ringleader", append(strings.Fields(line), keeping(line), killed)...)
			}
			want, whole := kept(t, line)
			random := rand.New(rand.NewPCG(1, 1))
			for range 2 {
				killedAfter(t, command(), killed, clitest.Lines(killed)+random.IntN(6))
			}
			before := clitest.Lines(killed)
			got, err := command().Output()
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want.stdout {
				t.Errorf("killed with %d lines and resumed, it prints\n%s\nwant\n%s", before, got, want.stdout)
			}
			if file := clitest.Contents(t, killed); !bytes.Equal(file, whole) {
				t.Errorf("killed with %d lines and resumed, it keeps\n%s\nwant\n%s", before, file, whole)
			}
		})
	}
}

// killedAfter starts a command and kills it when a file has more than so many lines, if it is not over before.
func killedAfter(t *testing.T, command *exec.Cmd, file string, more int) {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	looks := time.NewTicker(time.Millisecond)
	defer looks.Stop()
	for clitest.Lines(file) <= more {
		select {
		case <-ended:
			return // a machine so fast that there is nothing to kill
		case <-looks.C:
		}
	}
	_ = command.Process.Signal(syscall.SIGKILL)
	<-ended
}
