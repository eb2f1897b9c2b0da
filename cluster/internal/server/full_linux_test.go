package server

import (
	"errors"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/serve/disktest"
	"ringleader.example/ringleader/internal/study/broker"
)

// A disk that fills while a server is idle: the probe finds no room that an earlier one has left.
func TestAProbeFindsADiskThatHasBecomeFull(t *testing.T) {
	disk := disktest.Mount(t, "size=1m")
	e := &Server{settings: broker.Settings{Store: string(disk)}}
	if err := e.probe(); err != nil {
		t.Fatal(err)
	}
	disk.Fill(t)
	if err := e.probe(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the probe of a full disk gives %v", err)
	}
	disk.Free(t)
	if err := e.probe(); err != nil {
		t.Error(err)
	}
}
