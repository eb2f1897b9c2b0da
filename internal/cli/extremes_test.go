package cli_test

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// What was computed of several sizes is printed, also if a later one reaches a limit.
func TestASizeThatIsStoppedTakesNoOtherFromTheTable(t *testing.T) {
	code, stdout, stderr := clitest.Call("verify", "lcr", "--n", "2..5", "--extremes", "--max-states", "30")
	_, want, _ := clitest.Call("verify", "lcr", "--n", "2..3", "--extremes")
	if code != report.ExitIncomplete || stdout != want || !strings.HasPrefix(stderr, "ringleader: n = 4: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, %sand\n%s\nwant\n%s", code, stderr, stdout, want)
	}
}
