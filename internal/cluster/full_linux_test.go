package cluster

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestADiskThatIsFullLosesNothing(t *testing.T) {
	t.Parallel()
	disk := mount(t)
	s := settings(t)
	s.Store = filepath.Join(disk, "store")
	e := serve(t, s)
	s.Listen = e.nats.Addr().String()
	spec := steady(t)
	j, task := jobOf(t, "coarse", spec)
	var lines notices
	w, _ := hire(t, connect(t, Access{URL: e.URL()}, lines.add), &Worker{patience: 10 * time.Second})
	ended := start(t.Context(), t, begin(t, connect(t, Access{URL: e.URL()}, lines.add), j, task, nil), j, task)
	until(t, "begun", func() bool { return len(logged(t, spec.Log)) > 20 })
	filler := fill(t, disk)
	fails(t, e)
	until(t, "a notice there", func() bool { return len(lines.with("trying again")) > 0 })
	if len(lines.lines) > 4 { // of the worker and of the commander
		t.Errorf("notices: %q", lines.lines)
	}
	stored := w.Measured().Pieces
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	e.Close()
	serve(t, s)
	o := <-ended
	same(t, "coarse", spec, o.result, o.err)
	if again := twice(t, spec.Log); len(again) > 2*ahead {
		t.Errorf("computed twice, of %d that were stored: %v", stored, again)
	}
}

// A server may have nothing to write when its disk is full: it refuses what comes then.
func TestAnIdleServerReportsAFullDisk(t *testing.T) {
	t.Parallel()
	disk := mount(t)
	s := settings(t)
	s.Store = filepath.Join(disk, "store")
	e := serve(t, s)
	fill(t, disk)
	fails(t, e)
}

// mount returns a small file system.
func mount(t *testing.T) (disk string) {
	t.Helper()
	disk = t.TempDir()
	if err := syscall.Mount("store", disk, "tmpfs", 0, "size=8m"); err != nil {
		if os.Getenv("CI") == "true" && os.Getuid() == 0 {
			t.Fatalf("CI must run this test: %v", err)
		}
		t.Skipf("only root can mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// fill leaves no room on a disk, and returns the file that takes it.
func fill(t *testing.T, disk string) (filler string) {
	t.Helper()
	filler = filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, bytes.Repeat([]byte("x"), 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return filler
}

// fails waits for the error of a server whose disk is full.
func fails(t *testing.T, e *Server) {
	t.Helper()
	select {
	case err := <-e.Failed():
		if want := "its store " + e.settings.Store + ": no space left on device"; !strings.HasSuffix(err.Error(), want) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the server does not fail")
	}
}
