//go:build unix

package trials

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// It runs beside no other test: a process that another one starts has the locks of this process until it executes its program.
func TestAMemberWithAnOpenDirectoryOrKeyDoesNotStartAndDoctorFindsIt(t *testing.T) {
	authority := filepath.Join(t.TempDir(), "certs")
	if code, _, stderr := clitest.Call("cert", "--directory", authority, "--group", "jobs", "--id", "1"); code != report.ExitFine {
		t.Fatal(stderr)
	}
	file := func(name string) string { return filepath.Join(authority, name) }
	data := filepath.Join(t.TempDir(), "data")
	if code, _, stderr := clitest.Call("init", "--group", "jobs", "--id", "1", "--data", data); code != report.ExitFine {
		t.Fatal(stderr)
	}
	flags := []string{
		"--group", "jobs", "--id", "1", "--member", "1=" + freeAddress(t), "--data", data,
		"--cert", file("1.pem"), "--key", file("1.key"), "--ca", file("ca.pem"),
	}
	for _, c := range []struct {
		name       string
		open, shut os.FileMode
		want       string
	}{
		{data, 0o777, 0o700, "chmod o-w " + data},
		{file("1.key"), 0o644, 0o600, "chmod o-rw " + file("1.key")},
	} {
		doctor := slices.Concat([]string{"doctor"}, flags, withoutDeaths)
		if code, stdout, stderr := clitest.Call(doctor...); code != report.ExitFine {
			t.Errorf("doctor, with nothing open: exit status %d\n%s%s", code, stdout, stderr)
		}
		if err := os.Chmod(c.name, c.open); err != nil {
			t.Fatal(err)
		}
		if code, stdout, _ := clitest.Call(doctor...); code != report.ExitNo || !strings.Contains(strings.Join(strings.Fields(stdout), " "), c.want) {
			t.Errorf("doctor: exit status %d, want %q in\n%s", code, c.want, stdout)
		}
		if says := wrongJoin(t, flags...); !strings.Contains(says, c.want) {
			t.Errorf("join says %q, want %q", says, c.want)
		}
		if err := os.Chmod(c.name, c.shut); err != nil {
			t.Fatal(err)
		}
	}
}
