//go:build unix

package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/show/report"
)

// So is /dev/null, which root must not lose.
func TestAPipeIsWrittenToAndNotReplaced(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	file, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that neither end waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if code, stderr := runInto(t, io.Discard, "run", "lcr", "--n", "2", "--trace", pipe); code != report.ExitFine {
		t.Fatal(stderr)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe is a pipe no more: %v, %v", info, err)
	}
	head := make([]byte, 10)
	if _, err := io.ReadFull(file, head); err != nil || !bytes.HasPrefix(head, []byte(`{"format":`)) {
		t.Errorf("it carries %q, %v", head, err)
	}
}
