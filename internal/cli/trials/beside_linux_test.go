package trials

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/disktest"
	"ringleader.example/ringleader/internal/show/report"
)

// initialised returns flags of a member of its own with a store.
func initialised(t *testing.T) []string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	if code, _, stderr := clitest.Call("init", "--group", "jobs", "--id", "1", "--data", data); code != report.ExitFine {
		t.Fatal(stderr)
	}
	return []string{"--group", "jobs", "--id", "1", "--member", "1=" + freeAddress(t), "--data", data}
}

// What a member needs besides its store is examined before its start.
func TestChecksTellWhatAMemberCouldNotUse(t *testing.T) {
	t.Parallel()
	flags, folder := initialised(t), t.TempDir()
	foreign := filepath.Join(folder, "foreign")
	if err := os.WriteFile(foreign, []byte("root:x:0:0"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(folder, "missing")
	// A disk that gives no answer for --stall is one more fault, and this one may be busy.
	flags = append(flags, "--stall", "1m", "--lease", "1m", "--hang", "0")
	checks := func(code int, want string, more ...string) {
		t.Helper()
		got, stdout, stderr := clitest.Call(slices.Concat([]string{"join", "--check"}, flags, more)...)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("join --check %q: exit status %d, want %q in\n%s%s", more, got, want, stdout, stderr)
		}
	}
	checks(report.ExitFine, "", "--lease-file", filepath.Join(folder, "lease"), "--progress-path", folder)
	for path, want := range map[string]string{
		filepath.Join(missing, "lease"): "--lease-file: the folder " + missing + ": no such file or directory",
		filepath.Join(foreign, "lease"): "--lease-file: the folder " + foreign + ": not a directory",
		foreign:                         "--lease-file: a lease file takes the place of",
	} {
		checks(report.ExitUsage, want, "--lease-file", path)
	}
	// A unit of systemd makes such a folder, so that is only noted.
	const run, note = "/run/ringleader-of-no-unit/lease", "--lease-file: there is no folder /run/ringleader-of-no-unit; RuntimeDirectory"
	checks(report.ExitFine, "# "+note, "--lease-file", run)
	// Doctor takes seconds to measure the death of a command, so it tells of all at once.
	seed := strings.Replace(freeAddress(t), "127.0.0.1", "0.0.0.0", 1)
	code, stdout, stderr := clitest.Call(slices.Concat([]string{"doctor"}, flags, []string{"--lease-file", run, "--progress-path", folder, "--progress-path", missing, "--progress-path", foreign, "--join", seed})...)
	for _, want := range []string{
		"note: " + note,
		"WRONG: --progress-path: " + missing + ": stat " + missing + ": no such file or directory",
		"WRONG: --progress-path: " + foreign + ": it is no directory",
		"WRONG: " + seed + " of --join cannot be reached: ",
		"WRONG: the address " + seed + " of --join is not loopback",
	} {
		if code != report.ExitNo || !strings.Contains(unwrapped(stdout), want) {
			t.Errorf("doctor: exit status %d, and no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
	clitest.Await(t, "a check leaves files", func() bool {
		left, err := os.ReadDir(folder)
		return err == nil && len(left) == 1
	})
}

// A command of another user gets the name of the lease file. If it cannot open the file, the member runs all the same, since the file may be for others.
func TestALeaseFileThatTheUserOfTheCommandCannotOpenIsTold(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		needs.Missing(t, "only root can run a command as another user")
	}
	flags, shut := initialised(t), t.TempDir() // below a folder of its own user
	open, err := os.MkdirTemp("", "open")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(open) })
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	tells := func(folder string, more ...string) string {
		t.Helper()
		arguments := []string{"--user", "nobody", "--on-exit", "exit", "--lease-file", filepath.Join(folder, "lease")}
		command := exec.Command("ringleader", slices.Concat([]string{"exec"}, flags, arguments, more)...)
		overdue := time.AfterFunc(clitest.Limit, func() { command.Process.Kill() })
		defer overdue.Stop()
		out, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v, %s", command.Args, err, out)
		}
		return string(out)
	}
	want := "--lease-file: the command runs as user nobody, who cannot open " + filepath.Join(shut, "lease")
	for _, more := range [][]string{{"--check"}, {"--", "true"}} {
		if out := tells(shut, more...); !strings.Contains(out, want) {
			t.Errorf("%q: no %q in\n%s", more, want, out)
		}
		if out := tells(open, more...); strings.Contains(out, "cannot open") {
			t.Errorf("%q: %s", more, out)
		}
	}
}

// Room may come by itself, so that a service manager is to try again.
func TestALeaseFileWithoutRoomIsNoWrongCall(t *testing.T) {
	t.Parallel()
	disk := disktest.Mount(t, "size=64k")
	disk.Fill(t)
	flags := append(initialised(t), "--lease-file", disk.Join("lease"))
	if says := endedJoin(t, report.ExitNo, flags...); !strings.Contains(says, "LeaseFile cannot be written") || !strings.Contains(says, "no space left") {
		t.Errorf("it says %q", says)
	}
}

// Readers that have the file go on, so nothing else shows that it was removed.
func TestDoctorTellsOfALeaseFileThatWasRemoved(t *testing.T) {
	t.Parallel()
	g, file := newTrio(t), filepath.Join(t.TempDir(), "lease")
	g.join(1, "--lease-file", file)
	g.until(1, "electing", "status", "--data", g.data[0])
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, stdout, stderr := clitest.Call(append([]string{"doctor", "--lease-file", file}, g.flags(1)...)...)
	if want := "WRONG: the running member 1 keeps no lease file " + file; !strings.Contains(unwrapped(stdout), want) {
		t.Errorf("no %q in\n%s%s", want, stdout, stderr)
	}
}
