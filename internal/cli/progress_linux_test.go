package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
)

// statusUntil waits until status --json of a member contains all of these texts.
func statusUntil(t *testing.T, data string, texts ...string) {
	t.Helper()
	eventually(t, func() error {
		_, stdout, stderr := call("status", "--json", "--data", data)
		for _, text := range texts {
			if !strings.Contains(stdout, text) {
				return fmt.Errorf("status --json lacks %s in\n%s%s", text, stdout, stderr)
			}
		}
		if err := valid(schemaOf(t, "status"), stdout); err != nil {
			t.Errorf("%v: %s", err, stdout)
		}
		return nil
	})
}

func TestACommandThatTellsNoProgressLosesTheLead(t *testing.T) {
	t.Parallel()
	data, path, log := newStore(t, 1), t.TempDir(), new(rig.Text)
	command := exec.Command("ringleader", "exec", "--id", "1", "--data", data, "--member", "1="+freeAddress(t), "--lease", "1m", "--stall", "1m",
		"--progress", "500ms", "--progress-path", path, "--", "sleep", "1000")
	command.Stderr = log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	statusUntil(t, data, `"work_problem":"`, `has told none for `, `"leader":null`, fmt.Sprintf(`"progress_paths":[{"path":%q}]`, path))
	// By SIGTERM, which is 15. A busy machine may notice it late, and has then no more time for that than a keeper that kills.
	told := regexp.MustCompile(`the command has stopped term=\d+ status=(143|137) because="the work makes no progress: it has told none for \d+\.\d s"`)
	eventually(t, func() error {
		if text := log.String(); !told.MatchString(text) {
			return fmt.Errorf("the command was not told to stop:\n%s", text)
		}
		return nil
	})
	if err := os.Rename(path, filepath.Join(t.TempDir(), "elsewhere")); err != nil { // while it may be written to
		t.Fatal(err)
	}
	statusUntil(t, data, fmt.Sprintf(`"progress_paths":[{"path":%q,"problem":"it was removed or renamed","failing":`, path))
}

// On a machine that is so busy that the command tells too late, it is stopped, and starts again. A slow disk alone ends no tenure.
func TestACommandThatTellsItsProgressByAFileGoesOn(t *testing.T) {
	t.Parallel()
	sign := filepath.Join(t.TempDir(), "sign")
	_, lines := start(t, "exec", "--id", "1", "--data", newStore(t, 1), "--member", "1="+freeAddress(t), "--lease", "4s", "--stall", "1m", "--progress", "2s",
		"--progress-file", sign, "--",
		"sh", "-c", `begun=$(date +%s); while test $(($(date +%s) - begun)) -lt 7; do touch $0; sleep 0.1; done; echo true; exec sleep 1000`, sign)
	var long bool
	if err := lines.Decode(&long); err != nil || !long {
		t.Errorf("no command has run for seven seconds: %v", err)
	}
}

// The lease would run for ten minutes, and a command that is told to stop gives it back.
func TestACommandThatTellsNoMoreProgressLosesTheLeadToAnotherMember(t *testing.T) {
	t.Parallel()
	folder, members := t.TempDir(), []string(nil)
	addresses, err := rig.FreeAddresses(3)
	if err != nil {
		t.Fatal(err)
	}
	for i, address := range addresses {
		members = append(members, "--member", fmt.Sprintf("%d=%s", i+1, address))
	}
	says := make(chan int, 100)
	for id := uint64(1); id <= 3; id++ {
		_, lines := start(t, append(append([]string{"exec", "--id", fmt.Sprint(id), "--data", newStore(t, id), "--lease", "10m", "--stall", "10m", "--progress", "2s"}, members...), "--", "tells", folder)...)
		go func() {
			for n := 0; lines.Decode(&n) == nil; {
				says <- n
			}
		}()
	}
	next := func() int {
		select {
		case n := <-says:
			return n
		case <-time.After(limit):
			t.Fatal("no command says anything")
			return 0
		}
	}
	first := next()
	for n := next(); n != 100+first; n = next() { // another one comes next if a command did not get a processor in time
		first = n % 100
	}
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("quiet-%d", first)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := next(); n == first || n > 3 {
		t.Errorf("after member %d comes %d", first, n)
	}
	if _, err := os.Stat(filepath.Join(folder, fmt.Sprintf("stopped-%d", first))); err != nil {
		t.Errorf("another member leads, and the command of the first one was not told to stop: %v", err)
	}
}
