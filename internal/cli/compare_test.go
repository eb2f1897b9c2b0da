package cli_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

func TestAStudyThatIsStoppedReportsWhetherPointsAreLost(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	points, drawing := filepath.Join(t.TempDir(), "points"), filepath.Join(t.TempDir(), "drawing.svg")
	for _, c := range []struct {
		out  []string
		says string
	}{
		{nil, "ringleader: stopped with 0 of 18 points, which are lost; --out FILE keeps them\n"},
		{[]string{"--out", points}, "ringleader: stopped with 0 of 18 points; the same command continues from there\n"},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"compare", "lcr", "--n", "8..1048576", "--draw", drawing}, c.out...)
		code := cli.Run(stopped, "ringleader", all.Algorithms, args, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
		if code != report.ExitIncomplete || stdout.Len() > 0 || stderr.String() != c.says {
			t.Errorf("exit status %d, %q and %q", code, stdout.String(), stderr.String())
		}
		if clitest.Lines(drawing) > 0 {
			t.Error("there is a drawing of what was not finished")
		}
	}
	if clitest.Lines(points) != 1 {
		t.Errorf("%d lines are kept, and should be the first", clitest.Lines(points))
	}
}

func TestAComparisonThatCannotBeWrittenIsNotFine(t *testing.T) {
	for _, how := range []string{"", "--csv", "--json", "--draw=-"} {
		args := strings.Fields("compare lcr --n 4 --orders 5 " + how)
		code, stderr := runInto(t, clitest.Full{}, args...)
		if want := "ringleader: cannot write to stdout: no space left on device\n"; code != report.ExitNo || stderr != want {
			t.Errorf("%s: exit status %d and %q, want %d and %q", how, code, stderr, report.ExitNo, want)
		}
	}
}
