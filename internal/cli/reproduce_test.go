package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/sources"
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
		if code, _, stderr := call(args...); code != report.ExitFine && code != report.ExitNo {
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

// judge checks rows and prints their verdicts.
func judge(ctx context.Context, p *Program, rows []reproduce.Row, left int, o *reproduceOptions) error {
	s := &reproduction{o: o, task: &reproduce.Judging{Rows: rows, Algorithms: p.algorithms}, left: left}
	return p.carryOut(ctx, s, &labour.Hands{Work: &o.Work})
}

func TestAStatementThatCannotBeJudgedIsAnErrorAndTheOthersAreJudged(t *testing.T) {
	rows := []reproduce.Row{
		{Source: "S1", Where: "a", Check: func(*reproduce.Bench) reproduce.Finding { panic("oh") }},
		{Source: "S1", Where: "b", Check: func(*reproduce.Bench) reproduce.Finding {
			return reproduce.Finding{Verdict: reproduce.Fails, Measured: "1 < 2 | *", Why: "w", Replay: "ringleader version"}
		}},
	}
	var stdout, stderr strings.Builder
	p := &Program{Printer: &report.Printer{Out: &stdout, Err: &stderr, Getenv: os.Getenv}}
	err := judge(t.Context(), p, rows, 0, &reproduceOptions{to: "-", json: true})
	var exit report.ExitError
	if !errors.As(err, &exit) || exit.Code != report.ExitNo || !strings.Contains(stderr.String(), "S1 a panicked: oh") {
		t.Errorf("error %v, %q", err, stderr.String())
	}
	var line map[string]string
	_, judged, _ := strings.Cut(stdout.String(), "\n") // after the call
	if err := json.Unmarshal([]byte(judged), &line); err != nil || line["where"] != "b" || line["verdict"] != "fails" ||
		line["measured"] != "1 < 2 | *" || line["replay"] != "ringleader version" {
		t.Errorf("%q: %v", stdout.String(), err)
	}
	stdout.Reset()
	if err := judge(t.Context(), p, rows[1:], 3, &reproduceOptions{to: "-", markdown: true}); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"| b |  |  | 1 &lt; 2 \\| \\* | **fails**: w<br>`ringleader version` |\n", "1 statement: 1 judged (1 fails); 3 more with --thorough.\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%s\nhas not %s", stdout.String(), want)
		}
	}
}

func TestStatementsThatAreNotCheckedAreCountedApartAndAreNoFailure(t *testing.T) {
	unchecked := reproduce.Row{Source: "S1", Where: "c", Check: func(*reproduce.Bench) reproduce.Finding {
		return reproduce.Finding{Verdict: reproduce.Unchecked, Measured: "m", Why: "w"}
	}}
	rows := []reproduce.Row{unchecked, {Source: "S1", Where: "d", Settled: true, Check: func(*reproduce.Bench) reproduce.Finding { return reproduce.Finding{} }}}
	var stdout strings.Builder
	p := &Program{Printer: &report.Printer{Out: &stdout, Err: &strings.Builder{}, Getenv: os.Getenv}}
	for _, test := range []struct {
		options reproduceOptions
		rows    []reproduce.Row
		want    string
	}{
		{reproduceOptions{to: "-"}, rows, "2 statements: 1 judged (1 holds), 1 not checked\n"},
		{reproduceOptions{to: "-"}, rows[:1], "1 statement: 0 judged, 1 not checked\n"},
		{reproduceOptions{to: "-", markdown: true}, rows, "| m | **not checked**: w |\n"},
		{reproduceOptions{to: "-", json: true}, rows, `"measured":"m","verdict":"not checked","why":"w"}`},
	} {
		stdout.Reset()
		if err := judge(t.Context(), p, test.rows, 0, &test.options); err != nil || !strings.Contains(stdout.String(), test.want) {
			t.Errorf("%v; %s\nhas not %s", err, stdout.String(), test.want)
		}
	}
}

func TestStatementsThatAreStoppedAreIncomplete(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	path := t.TempDir() + "/page.md"
	p := &Program{Printer: &report.Printer{Out: &strings.Builder{}, Err: &strings.Builder{}, Getenv: os.Getenv}}
	err := judge(ctx, p, sources.Rows(), 0, &reproduceOptions{to: path, markdown: true})
	var exit report.ExitError
	if !errors.As(err, &exit) || exit.Code != report.ExitIncomplete {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a page is there: %v", err)
	}
}
