//go:build unix

package cli

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Work of every kind is killed at random moments. The moment is a number of lines of its file, which does not depend on the speed
// of the machine.
func TestWorkThatIsKilledResumesToTheSameBytes(t *testing.T) {
	onlyComputes(t)
	t.Parallel()
	for _, c := range []struct{ call, out string }{
		{"compare lcr peterson afek-gafni-synchronous --n 4..512 --orders 40 --csv", "--out"},
		{"verify lcr --n 7 --json " + narrow, "--out"},
		{"worst stop-and-go-p2 --n 16 --tries 2000 --json", "--out"},
		{"worst franklin --n 8 --tries 50000 --of election --json", "--out"},
		{"reproduce S4:assumption S4:liveness --json", "--keep"},
	} {
		t.Run(c.call, func(t *testing.T) {
			folder := t.TempDir()
			whole, killed := filepath.Join(folder, "whole"), filepath.Join(folder, "killed")
			command := func(file string) *exec.Cmd {
				return exec.Command("ringleader", append(strings.Fields(c.call), c.out, file)...)
			}
			want, err := command(whole).Output()
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 1))
			for range 4 {
				killedAfter(t, command(killed), killed, lines(killed)+random.IntN(6))
			}
			before := lines(killed)
			got, err := command(killed).Output()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("killed with %d lines and resumed, it prints\n%s\nwant\n%s", before, got, want)
			}
			a, errA := os.ReadFile(whole)
			b, errB := os.ReadFile(killed)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("killed with %d lines and resumed, it keeps (%v)\n%s\nwant (%v)\n%s", before, errB, b, errA, a)
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
	for lines(file) <= more {
		select {
		case <-ended:
			return // a machine so fast that there is nothing to kill
		case <-looks.C:
		}
	}
	_ = command.Process.Signal(syscall.SIGKILL)
	<-ended
}
