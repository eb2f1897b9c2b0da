package agent

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/warden"
)

// A member hands over when its command has stopped. Starting the keeper of the next one takes tens of milliseconds.
func TestNothingWaitsForTheKeeperOfTheNextCommand(t *testing.T) {
	k := &keepers{program: filepath.Join(t.TempDir(), "none"), means: least, pids: map[int]bool{}}
	block := make(chan struct{})
	calm() <- func() { <-block }
	overdue := time.AfterFunc(time.Minute, func() { close(block) })
	k.prepare([]string{"true"})
	if !overdue.Stop() {
		t.Fatal("it has waited until the keeper started")
	}
	close(block)
	if spare := k.take(); spare != nil {
		t.Errorf("a program that does not exist has started: %+v", spare)
	}
	if spare := k.take(); spare != nil {
		t.Errorf("no keeper was to start, and there is %+v", spare)
	}
}

func TestAKeeperThatCannotStartLeavesNoControlGroup(t *testing.T) {
	probe, err := warden.NewGroup(fmt.Sprintf("ringleader-probe-%d", os.Getpid()))
	if err != nil {
		t.Skip(err)
	}
	if err := warden.KillGroup(probe); err != nil {
		t.Fatal(err)
	}
	k := &keepers{program: filepath.Join(t.TempDir(), "none"), means: ControlGroup, log: slog.New(slog.DiscardHandler), pids: map[int]bool{}}
	if _, err := k.lease([]string{"true"}, nil, order{}); !os.IsNotExist(err) {
		t.Errorf("a keeper without a program: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(probe), fmt.Sprintf("ringleader-%d-*", os.Getpid()))); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
