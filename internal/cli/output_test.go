package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// runInto runs a command line whose results go to stdout, and returns its exit status and errors.
func runInto(t *testing.T, stdout io.Writer, args ...string) (code int, stderr string) {
	t.Helper()
	var errs bytes.Buffer
	code = cli.Run(t.Context(), "ringleader", all.Algorithms, args, strings.NewReader(""), stdout, &errs, func(string) string { return "" })
	return code, errs.String()
}

func TestAResultThatCannotBeWrittenIsNotFine(t *testing.T) {
	for _, line := range []string{
		"run lcr --n 3", "run lcr --n 3 --json", "run lcr --n 3 --draw -", "run lcr --n 3 --trace -", "count lcr --n 3",
		"verify lcr --n 2", "algorithms", "algorithms lcr", "algorithms --json", "version", "run --help",
	} {
		code, stderr := runInto(t, clitest.Full{}, strings.Fields(line)...)
		if want := "ringleader: cannot write to stdout: no space left on device\n"; code != report.ExitNo || stderr != want {
			t.Errorf("%s: exit status %d and %q, want %d and %q", line, code, stderr, report.ExitNo, want)
		}
	}
}

func TestAFileIsWrittenWhereALinkLeads(t *testing.T) {
	folder := t.TempDir()
	link, target := filepath.Join(folder, "link.jsonl"), filepath.Join(folder, "target.jsonl")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no links here:", err)
	}
	if code, stderr := runInto(t, io.Discard, "run", "lcr", "--n", "3", "--trace", link); code != report.ExitFine {
		t.Fatal(stderr)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is a link no more: %v, %v", info, err)
	}
	if text, err := os.ReadFile(target); err != nil || !bytes.HasPrefix(text, []byte(`{"format":`)) {
		t.Errorf("the target holds %.40q, %v", text, err)
	}
}

func TestAFolderIsNoPlaceForADrawing(t *testing.T) {
	folder := t.TempDir()
	code, stderr := runInto(t, io.Discard, "run", "lcr", "--n", "3", "--draw", folder)
	if code != report.ExitNo || !strings.HasPrefix(stderr, "ringleader: cannot write "+folder+": ") {
		t.Errorf("exit status %d and %q", code, stderr)
	}
}
