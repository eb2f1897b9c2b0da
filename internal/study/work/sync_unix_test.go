//go:build unix

package work

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// A pipe takes a line, and can make none durable.
func TestALineThatIsNotDurableIsNotKept(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := &File{file: w}
	defer f.Close()
	if err := f.Add(Part{Piece{0, 1}, []byte("1")}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("it is kept: %v", err)
	}
}
