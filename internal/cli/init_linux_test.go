package cli_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/show/report"
)

func TestInitOnAFullDiskIsNotAWrongCall(t *testing.T) {
	directory := t.TempDir()
	if err := syscall.Mount("init", directory, "tmpfs", 0, "size=16k"); err != nil {
		needs.Missing(t, "only root can mount a small file system: %v", err)
	}
	defer syscall.Unmount(directory, 0)
	code, stdout, stderr := clitest.Call("init", "--data", filepath.Join(directory, "data"), "--group", "payments", "--id", "3")
	if code != report.ExitNo || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "no space left on device") {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
