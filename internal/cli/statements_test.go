package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// Each command that the page gives runs, and gives an answer.
func TestThePageOfStatementsGivesCommandsThatRun(t *testing.T) {
	clitest.OnlyComputes(t)
	page, err := os.ReadFile("../../docs/reproduction.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]bool{}
	for block := range strings.SplitSeq(string(page), "<br>`ringleader ") {
		command, _, found := strings.Cut(block, "` |\n")
		if !found || commands[command] {
			continue
		}
		commands[command] = true
		args := clitest.Arguments(strings.ReplaceAll(command, `\|`, "|"))
		if strings.HasPrefix(command, "verify ") && !slices.Contains(args, "--probabilities") { // what it finds is the test of its row
			args = append(args, "--max-states", "10000")
		}
		if code, _, stderr := clitest.Call(args...); code != report.ExitFine && code != report.ExitNo && code != report.ExitIncomplete {
			t.Errorf("ringleader %s: exit status %d, %s", command, code, stderr)
		}
	}
	if len(commands) == 0 {
		t.Error("the page gives no command")
	}
}
