//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
)

func TestRecordsAreGatheredAndExplained(t *testing.T) {
	directory := explaintest.Records(t, "")
	file, drawing := filepath.Join(directory, "incident.rec"), filepath.Join(directory, "incident.svg")
	if code, stdout, stderr := clitest.Call("record", directory, "--out", file); code != 0 || stderr != "" {
		t.Fatalf("record: %d, %q, %q", code, stdout, stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	_, fromFile, _ := clitest.Call("explain", file)
	code, stdout, stderr := clitest.Call("explain", directory, "--replay", "--check", "--draw", drawing)
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

	_, stdout, _ = clitest.Call("explain", file, "--replay", "--check", "--json")
	if err := clitest.Valid(clitest.SchemaOf(t, "../..", "explain"), stdout); err != nil {
		t.Errorf("%v\n%s", err, stdout)
	}
}

func TestASignalStopsExplain(t *testing.T) {
	directory := explaintest.Records(t, "")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, args := range [][]string{{"explain", directory, "--check"}, {"record", directory, "--out", filepath.Join(directory, "x.rec")}} {
		var stdout, stderr bytes.Buffer
		code := cli.Run(ctx, "ringleader", all.Algorithms, args, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
		if code != 3 || stdout.Len() > 0 || stderr.String() != "ringleader: stopped before all was read\n" {
			t.Errorf("%s: %d, %q\n%s", args[0], code, stderr.String(), stdout.String())
		}
	}
}

func TestTheChangesOfAYearAreToldWithoutDetails(t *testing.T) {
	file := filepath.Join(explaintest.Records(t, ""), "2", "changes.seg")
	code, stdout, stderr := clitest.Call("explain", file)
	if code != 0 || stderr != "" || strings.Contains(stdout, "1970") || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "transferred (told by member 2)") {
		t.Errorf("%d, %s\n%s", code, stderr, stdout)
	}
	_, stdout, _ = clitest.Call("explain", file, "--json")
	if err := clitest.Valid(clitest.SchemaOf(t, "../..", "explain"), stdout); err != nil || !strings.Contains(stdout, `"older"`) {
		t.Errorf("%v\n%s", err, stdout)
	}
	code, _, stderr = clitest.Call("explain", file, "--draw", filepath.Join(t.TempDir(), "x.svg"))
	if code == 0 || !strings.Contains(stderr, "with details") || strings.Count(stderr, "\n") > 3 {
		t.Errorf("--draw: %d, %s", code, stderr)
	}
}

// A full disk, or no such folder, takes nothing from what was found.
func TestAnExplanationIsPrintedAlsoIfAFileCannotBeWritten(t *testing.T) {
	directory := explaintest.Records(t, "")
	_, want, _ := clitest.Call("explain", directory)
	code, stdout, stderr := clitest.Call("explain", directory, "--export", filepath.Join(directory, "no", "run.json"), "--draw", filepath.Join(directory, "no", "x.svg"))
	if code != 1 || stdout != want || strings.Count(stderr, "cannot write ") != 2 || !strings.HasSuffix(stderr, ": no such file or directory\n") {
		t.Errorf("%d, %s\n%s", code, stderr, stdout)
	}
}

func TestARecordIsARunThatIsReplayedAndFollowedByOthers(t *testing.T) {
	directory := explaintest.Records(t, "")
	run, found, page := filepath.Join(directory, "run.json"), filepath.Join(directory, "found.json"), filepath.Join(directory, "run.html")
	code, _, stderr := clitest.Call("explain", directory, "--export", run)
	if code == 64 || !strings.Contains(stderr, "each with the state that is recorded") {
		t.Fatalf("explain --export: %d, %s", code, stderr)
	}
	code, stdout, stderr := clitest.Call("replay", run, "--story", "--draw", page)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "crashes") || !strings.Contains(stdout, "LEADER in term 3") {
		t.Errorf("replay: %d, %s\n%s", code, stderr, stdout)
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("quorum-bully")) {
		t.Errorf("the page: %v", err)
	}

	const few = "terms=3,renewals=1,asking=no,answer-timeout=1,deferral=1,claim-timeout=1"
	code, stdout, stderr = clitest.Call("verify", "--from", run, "--at", "40", "--param", few)
	if code != 0 || !strings.Contains(stdout, "holds:") || !strings.Contains(stdout, "after step 40") {
		t.Errorf("verify --from: %d, %s\n%s", code, stderr, stdout)
	}
	// The leases of the group bear clocks that are wrong by a twentieth, and not by a half.
	code, stdout, stderr = clitest.Call("verify", "--from", run, "--at", "24", "--param", few, "--clock-error", "1/2", "--save", found)
	if code != 1 || !strings.Contains(stdout, "two running leases") {
		t.Errorf("with wrong clocks: %d, %s\n%s", code, stderr, stdout)
	}
	if code, stdout, stderr := clitest.Call("replay", found); code != 1 || !strings.Contains(stdout, "while the lease of process") {
		t.Errorf("replay of what was found: %d, %s\n%s", code, stderr, stdout)
	}
}

func TestAWrongCallOfARecordedRunIsOneClearLine(t *testing.T) {
	directory := explaintest.Records(t, "")
	run, other := filepath.Join(directory, "run.json"), filepath.Join(directory, "run.txt")
	clitest.Call("explain", directory, "--export", run)
	if err := os.WriteFile(other, []byte("no run"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"verify", "--from", run, "--at", "4000"}, "there is no step 4000"},
		{[]string{"verify", "lcr", "--from", run}, "leave out \"lcr\""},
		{[]string{"verify", "--from", run, "--n", "4"}, "leave out --n"},
		{[]string{"verify", "--from", run, "--at", "3", "--param", "terms"}, "it is name=value"},
		{[]string{"verify", "--from", filepath.Join(directory, "none.json")}, "none.json"},
		{[]string{"verify", "--from", other}, "is not a saved run"},
		{[]string{"verify", "lcr", "--n", "3", "--at", "3"}, "--at is for --from"},
		{[]string{"run", "quorum-bully", "--ids", "1,2,3", "--lazy", "--step", "--begins", "eJz"}, "--begins is no moment"},
		{[]string{"run", "quorum-bully", "--ids", "1,2,3", "--begins", "eJz"}, "are for --step"},
	} {
		if code, stdout, stderr := clitest.Call(c.args...); code == 0 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") > 3 {
			t.Errorf("%q: %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
}

func TestWhatCannotBeExportedIsOneClearLine(t *testing.T) {
	directory := explaintest.Records(t, "")
	all, err := filepath.Glob(filepath.Join(directory, "*"))
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	code, _, stderr := clitest.Call("explain", all[0], all[1], "--export", filepath.Join(t.TempDir(), "run.json"))
	if code == 0 || !strings.Contains(stderr, "the record of member") || !strings.Contains(stderr, "is missing") || strings.Count(stderr, "\n") > 2 {
		t.Errorf("%d, %s", code, stderr)
	}
}

func TestWrongRecordsAreOneClearLine(t *testing.T) {
	directory := t.TempDir()
	foreign := filepath.Join(directory, "foreign.rec")
	if err := os.WriteFile(foreign, []byte("this is no record of a member\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(directory, "pipe") // whoever opens it waits for a writer
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"explain", pipe}, "pipe is neither a regular file nor a directory"},
		{[]string{"explain", "/dev/zero"}, "/dev/zero is neither a regular file nor a directory"},
		{[]string{"record", pipe, "--out", filepath.Join(directory, "x")}, "pipe is neither"},
		{[]string{"explain", foreign}, "foreign.rec: it is no record"},
		{[]string{"explain", filepath.Join(directory, "none")}, "ringleader: cannot read " + filepath.Join(directory, "none") + ": no such file or directory\n"},
		{[]string{"explain", ""}, "the name of a directory, a file or a socket is empty"},
		{[]string{"explain", "http://127.0.0.1:1"}, "no member answers at http://127.0.0.1:1"},
		{[]string{"explain", foreign, "--export", "-"}, "--export writes a file, and not -"},
		{[]string{"explain", t.TempDir()}, "there is no record in"},
		{[]string{"record", foreign, "--out", filepath.Join(directory, "x")}, "it is no record"},
	} {
		code, stdout, stderr := clitest.Call(c.args...)
		if code == 0 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
}
