package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/show/report"
)

// Each command that the page gives runs, and gives an answer.
func TestThePageOfStatementsGivesCommandsThatRun(t *testing.T) {
	onlyComputes(t)
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
		args := arguments(strings.ReplaceAll(command, `\|`, "|"))
		if strings.HasPrefix(command, "verify ") && !slices.Contains(args, "--probabilities") { // what it finds is the test of its row
			args = append(args, "--max-states", "10000")
		}
		if code, _, stderr := call(args...); code != report.ExitFine && code != report.ExitNo && code != report.ExitIncomplete {
			t.Errorf("ringleader %s: exit status %d, %s", command, code, stderr)
		}
	}
	if len(commands) == 0 {
		t.Error("the page gives no command")
	}
}

// arguments are the words of a command, of which some are in quotes.
func arguments(command string) (words []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
