package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		code, stdout, stderr := call("lease", "--file", file)
		if code != wantCode || !strings.HasPrefix(stdout, "member 3 of group \"jobs\" "+want) || stderr != "" {
			t.Errorf("%d: %s%s", code, stdout, stderr)
		}
		_, line, _ := callWith(map[string]string{"RINGLEADER_LEASE": file}, "lease", "--json")
		if err := valid(schemaOf(t, "lease"), line); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	is(1, "does not lead\n")
	w.Show(true, 7, func() time.Duration { return time.Hour }, "")
	is(0, "leads in term 7 for 3")
	if code, _, _ := call("lease", "--file", file, "--wait"); code != 0 {
		t.Errorf("--wait: %d", code)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	is(1, "has ended\n")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"lease", "--file", file}, {"lease", "--file", file + "x"}} {
		if code, stdout, stderr := call(args...); code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %d, %s%s", args, code, stdout, stderr)
		}
	}
	if code, _, stderr := call("lease"); code != 64 || !strings.Contains(stderr, "RINGLEADER_LEASE") {
		t.Errorf("without a file: %d, %s", code, stderr)
	}
}
