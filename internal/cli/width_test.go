package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

func TestOutputFitsTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes for minutes under the race detector, and runs nothing at once")
	}
	judged := filepath.Join(t.TempDir(), "judged") // once, and printed in each width
	if code, _, stderr := clitest.Call("reproduce", "S4:assumption", "S4:liveness", "S4:bandwidth", "S4:rule", "--keep", judged); code != report.ExitFine {
		t.Fatalf("exit status %d, %s", code, stderr)
	}
	var calls []string
	for _, command := range cli.Tree("ringleader", all.Algorithms).Commands() {
		calls = append(calls, command.Name()+" --help")
	}
	calls = append(calls, "--help", "algorithms", "scenarios", "sources", "version",
		"compare lcr stop-and-go-p2:c=2,a=3/2 bully --n 8,16 --orders 64", "merge "+judged, "worst stop-and-go-p1 --n 6 --tries 500",
		"run --scenario s2-figures-2.7-2.8", "run stop-and-go-p1 --n 8 --check", "run bully --n 20 --story",
		"run preference-ring --n 6 --story", "verify bully --n 3 --start every-set --param answer-timeout=2",
		"run bully --n 7 --fault 'crash 5 at 3' --fault 'partition 1,2 | others from 5 until 90' --story", "count stop-and-go-p1 --n 16")
	for _, e := range all.Algorithms {
		calls = append(calls, "algorithms "+e.Name, "run "+e.Name+" --n 5", "run "+e.Name+" --n 5 --anonymous")
	}
	for _, width := range []int{60, 80, 200} {
		for _, line := range calls {
			var stdout, stderr bytes.Buffer
			cli.Run(context.Background(), "ringleader", all.Algorithms, clitest.Arguments(line), strings.NewReader(""), &stdout, &stderr, func(name string) string {
				return map[string]string{"COLUMNS": fmt.Sprint(width)}[name]
			})
			if line == "merge "+judged && !strings.Contains(stdout.String(), "statements") {
				t.Errorf("ringleader %s prints %s%s", line, stdout.String(), stderr.String())
			}
			for printed := range strings.Lines(stdout.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(printed, "\n")); n > width {
					t.Errorf("ringleader %s: a line of %d columns in %d: %s", line, n, width, printed)
				}
			}
		}
	}
}
