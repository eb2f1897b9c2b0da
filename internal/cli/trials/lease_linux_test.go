package trials

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/leasefile"
)

func TestLeaseTellsWhetherTheMemberLeads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lease")
	w, err := leasefile.Create(file, "jobs", 3)
	if err != nil {
		t.Fatal(err)
	}
	is := func(wantCode int, want string) {
		t.Helper()
		code, stdout, stderr := clitest.Call("lease", "--file", file)
		if code != wantCode || !strings.HasPrefix(stdout, "member 3 of group \"jobs\" "+want) || stderr != "" {
			t.Errorf("%d: %s%s", code, stdout, stderr)
		}
		_, line, _ := clitest.CallWith(map[string]string{"RINGLEADER_LEASE": file}, "lease", "--json")
		if err := clitest.Valid(clitest.SchemaOf(t, "../../..", "lease"), line); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	check := func(wantCode int, want string) {
		t.Helper()
		if code, stdout, stderr := clitest.Call("lease", "--file", file, "--check"); code != wantCode || stdout != want || stderr != "" {
			t.Errorf("--check: %d: %s%s", code, stdout, stderr)
		}
	}
	is(1, "does not lead\n")
	check(1, "")
	w.Show(true, 7, func() time.Duration { return time.Hour }, "")
	is(0, "leads in term 7 for 3")
	check(0, "7\n")
	if code, _, _ := clitest.Call("lease", "--file", file, "--wait"); code != 0 {
		t.Errorf("--wait: %d", code)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	is(1, "has ended\n")
}

func TestLeaseRefusesWhatIsNoLeaseFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lease")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"lease", "--file", file}, {"lease", "--file", file + "x"}} {
		if code, stdout, stderr := clitest.Call(args...); code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %d, %s%s", args, code, stdout, stderr)
		}
	}
	for _, flags := range [][]string{{"--check", "--json"}, {"--check", "--watch"}, {"--wait", "--watch"}} {
		if code, _, stderr := clitest.Call(append([]string{"lease", "--file", file}, flags...)...); code != 64 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %d, %s", flags, code, stderr)
		}
	}
	if code, _, stderr := clitest.Call("lease"); code != 64 || !strings.Contains(stderr, "RINGLEADER_LEASE") || !strings.Contains(stderr, "; try ringleader lease --help") {
		t.Errorf("without a file: %d, %s", code, stderr)
	}
}

// lease starts the client of a file, which is killed after limit. The scanners have the lines that it prints.
func lease(t *testing.T, file, flag string) (command *exec.Cmd, stdout, stderr *bufio.Scanner) {
	t.Helper()
	command = exec.Command("ringleader", "lease", "--file", file, flag)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(clitest.Limit, func() { command.Process.Kill() })
	t.Cleanup(func() { late.Stop() })
	return command, bufio.NewScanner(out), bufio.NewScanner(said)
}

// A supervisor starts the client and the member at once.
func TestLeaseWaitsForAFileThatNoMemberHasMadeYet(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{"--wait": "leads in term 7", "--watch": "does not lead"} {
		file := filepath.Join(t.TempDir(), "later", "lease")
		command, lines, said := lease(t, file, flag)
		if said.Scan(); !strings.Contains(said.Text(), file+": no such file or directory; waiting for it") {
			t.Errorf("%s: %q", flag, said.Text())
		}
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		w, err := leasefile.Create(file, "jobs", 3)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if flag == "--wait" {
			w.Show(true, 7, func() time.Duration { return time.Hour }, "")
		}
		if lines.Scan(); !strings.Contains(lines.Text(), want) {
			t.Errorf("%s: %q", flag, lines.Text())
		}
		if flag == "--watch" {
			command.Process.Signal(os.Interrupt)
		}
		if said.Scan() {
			t.Errorf("%s: %q, too", flag, said.Text())
		}
		if err := command.Wait(); err != nil {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// Ctrl-C ends the wait for a file: it cannot be read, and --watch was ended.
func TestTheWaitForALeaseFileIsEnded(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]int{"--wait": 2, "--watch": 0} {
		command, _, said := lease(t, filepath.Join(t.TempDir(), "lease"), flag)
		if !said.Scan() {
			t.Errorf("%s says nothing", flag)
		}
		command.Process.Signal(os.Interrupt)
		command.Wait()
		if code := command.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: exit status %d", flag, code)
		}
	}
}

func TestLeaseWatchesEachChange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lease")
	w, err := leasefile.Create(file, "jobs", 3)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	command, lines, _ := lease(t, file, "--watch")
	next := func(want string) {
		t.Helper()
		if lines.Scan(); !strings.HasPrefix(lines.Text(), "member 3 of group \"jobs\" "+want) {
			t.Errorf("%q, and not %s", lines.Text(), want)
		}
	}
	hour := func() time.Duration { return time.Hour }
	next("does not lead")
	w.Show(true, 7, hour, "")
	next("leads in term 7")
	w.Show(true, 7, hour, "") // renewed
	w.Show(true, 8, hour, "")
	next("leads in term 8")
	w.Show(false, 8, hour, "")
	next("does not lead")
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("%q at the end", lines.Text())
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

// The lines of the page write while the member leads, unless a later leader has written.
func TestTheLinesOfThePageOfLanguagesAreFenced(t *testing.T) {
	t.Parallel()
	needs.Program(t, "sqlite3", "sqlite3")
	_, text, _ := strings.Cut(string(clitest.Contents(t, "../../../docs/languages.md")), "## In a shell")
	block := shellBlock.FindStringSubmatch(text)
	if block == nil {
		t.Fatal("the page has no lines for a shell")
	}
	directory := t.TempDir()
	file := filepath.Join(directory, "lease")
	w, err := leasefile.Create(file, "jobs", 3)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	run := func(script string) string {
		t.Helper()
		command := exec.Command("sh", "-ec", script)
		command.Dir = directory
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	pays := func(want string) {
		t.Helper()
		run(strings.ReplaceAll(block[1], "/run/jobs.lease", file))
		if got := run(`sqlite3 jobs.db "SELECT paid, term FROM account"`); got != want+"\n" {
			t.Errorf("the database has %s, and not %s", got, want)
		}
	}
	run(`sqlite3 jobs.db "CREATE TABLE account (paid INTEGER, term INTEGER); INSERT INTO account VALUES (0, 0)"`)
	hour := func() time.Duration { return time.Hour }
	pays("0|0")
	w.Show(true, 7, hour, "")
	pays("1|7")
	w.Show(false, 7, hour, "")
	pays("1|7")
	run(`sqlite3 jobs.db "UPDATE account SET term = 9"`)
	w.Show(true, 8, hour, "")
	pays("1|9")
}
