package agent

import (
	"path/filepath"
	"testing"
	"time"
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
