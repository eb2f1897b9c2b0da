package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/disktest"
)

func TestADiskThatIsFullLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	t.Parallel()
	disk := disktest.Mount(t, "size=8m")
	s := lasting(t)
	s.Store = disk.Join("store")
	e := serve(t, s)
	spec := steady(t)
	j, task := jobOf(t, "coarse", spec)
	var lines notices
	w, _ := hire(t, connect(t, overNetwork(e), lines.add), &Worker{Patience: time.Hour})
	ended := start(t.Context(), t, begin(t, connect(t, overNetwork(e), lines.add), j, task, nil), j, task)
	until(t, "begun", func() bool { return len(logged(t, spec.Log)) > 20 })
	disk.Fill(t)
	spec.open(t)
	fails(t, e)
	until(t, "a notice there", func() bool { return len(lines.with("trying again")) > 0 })
	all := slices.DeleteFunc(lines.with("trying again"), func(line string) bool { return strings.Contains(line, "is lost") }) // on a slow machine
	if len(all) > 4 {                                                                                                         // of the worker and of the commander
		t.Errorf("notices: %q", all)
	}
	stored := w.Measured().Pieces
	disk.Free(t)
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
	disk := disktest.Mount(t, "size=8m")
	s := settings(t)
	s.Store = disk.Join("store")
	e := serve(t, s)
	disk.Fill(t)
	fails(t, e)
}

// fails waits for the error of a server whose disk is full.
func fails(t *testing.T, e *served) {
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
