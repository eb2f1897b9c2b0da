//go:build unix

package rig_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/serve/rig"
)

func TestAFullPipeTakesNothingUntilItIsRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	descriptor := int(w.Fd()) // as of a pipe that was given to a process, which waits when it writes to it
	if err := rig.Fill(w); err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(descriptor, true); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Write(descriptor, []byte{1}); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a full pipe takes a byte: %v", err)
	}
	if _, err := r.Read(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Write(descriptor, []byte{1}); err != nil {
		t.Error("a pipe that was read takes none: ", err)
	}
}
