//go:build unix

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// sameStudy is long enough to be killed in the middle.
func sameStudy(out string) []string {
	return []string{"compare", "lcr", "peterson", "afek-gafni-synchronous", "--n", "4..512", "--orders", "40", "--out", out, "--csv"}
}

func TestAStudyThatIsKilledResumesToTheSameBytes(t *testing.T) {
	folder := t.TempDir()
	whole, killed := filepath.Join(folder, "whole"), filepath.Join(folder, "killed")
	want, err := exec.Command("ringleader", sameStudy(whole)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for kills := 1; kills <= 3; kills++ {
		first := exec.Command("ringleader", sameStudy(killed)...)
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- first.Wait() }()
		for over := false; !over && lines(killed) < 1+4*kills; { // the first line is of no point
			select {
			case <-ended:
				over = true // a machine so fast that there is nothing to kill
				ended <- nil
			default:
				runtime.Gosched()
			}
		}
		_ = first.Process.Signal(syscall.SIGKILL)
		<-ended
	}
	before := lines(killed)
	got, err := exec.Command("ringleader", sameStudy(killed)...).Output()
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
}
