package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// What verify saves of a violation is a run that replay judges in the same way.
func TestASavedViolationIsReplayedAsOne(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs at once here")
	}
	violations := 0
	for _, e := range all.Algorithms {
		for _, fault := range []string{"--crash", "--cut", "--duplicate"} {
			file := filepath.Join(t.TempDir(), "run.json")
			words := []string{"verify", e.Name, "--n", "3", fault, "1", "--max-states", "2000", "--save", file, "--json"}
			_, stdout, _ := clitest.Call(words...)
			if _, err := os.Stat(file); err != nil { // none was found
				continue
			}
			var found struct{ Violation struct{ Property string } }
			if err := json.Unmarshal([]byte(stdout), &found); err != nil || found.Violation.Property == "" {
				t.Errorf("%q prints %s: %v", words, stdout, err)
			}
			violations++
			if code, stdout, stderr := clitest.Call("replay", file); code != report.ExitNo || stderr != "" {
				t.Errorf("%q finds %s; its replay has exit status %d:\n%s%s", words, found.Violation.Property, code, stdout, stderr)
			}
		}
	}
	t.Logf("%d violations", violations)
	if violations < 20 {
		t.Errorf("only %d violations", violations)
	}
}
