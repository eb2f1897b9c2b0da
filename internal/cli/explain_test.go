//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ringleader.example/ringleader/internal/show/incident/incidenttest"
)

func TestRecordsAreGatheredAndExplained(t *testing.T) {
	directory := incidenttest.Records(t, "")
	file, drawing := filepath.Join(directory, "incident.rec"), filepath.Join(directory, "incident.svg")
	if code, stdout, stderr := call("record", directory, "--out", file); code != 0 || stderr != "" {
		t.Fatalf("record: %d, %q, %q", code, stdout, stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	_, fromFile, _ := call("explain", file)
	code, stdout, stderr := call("explain", directory, "--replay", "--check", "--draw", drawing)
	if stderr != "" || code == 64 {
		t.Errorf("explain: %d, %q", code, stderr)
	}
	for _, want := range []string{"transferred (certain)", "killed (", "bit by bit", "actions of the proved model"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("explain does not print %q:\n%s", want, stdout)
		}
	}
	if _, told, _ := strings.Cut(fromFile, "\n"); !strings.Contains(stdout, told) {
		t.Errorf("from the file it prints\n%s\nand from the directory\n%s", fromFile, stdout)
	}
	for line := range strings.SplitSeq(stdout, "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("a line is longer than a terminal: %s", line)
		}
	}
	if picture, err := os.ReadFile(drawing); err != nil || !bytes.HasPrefix(picture, []byte("<svg")) || !bytes.Contains(picture, []byte("</svg>")) {
		t.Errorf("the drawing: %.80s, %v", picture, err)
	}

	_, stdout, _ = call("explain", file, "--replay", "--check", "--json")
	if err := valid(schemaOf(t, "explain"), stdout); err != nil {
		t.Errorf("%v\n%s", err, stdout)
	}
}

func TestWrongRecordsAreOneClearLine(t *testing.T) {
	directory := t.TempDir()
	foreign := filepath.Join(directory, "foreign.rec")
	if err := os.WriteFile(foreign, []byte("this is no record of a member\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"explain", foreign}, "there is no record in"},
		{[]string{"explain", filepath.Join(directory, "none")}, "none"},
		{[]string{"explain", t.TempDir()}, "there is no record in"},
		{[]string{"record", foreign, "--out", filepath.Join(directory, "x")}, "there is no record"},
	} {
		code, stdout, stderr := call(c.args...)
		if code == 0 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") > 2 {
			t.Errorf("%q: %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
}
