package study

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/brokertest"
	"ringleader.example/ringleader/internal/study/cluster"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/sources"
	"ringleader.example/ringleader/internal/study/work"
)

// judge checks rows and prints their verdicts.
func judge(ctx context.Context, p *plan.Program, rows []reproduce.Row, left int, o *reproduceOptions) error {
	s := &reproduction{o: o, task: &reproduce.Judging{Rows: rows, Algorithms: p.Algorithms}, left: left}
	return p.CarryOut(ctx, s, &labour.Hands{Work: &o.Work})
}

func TestAStatementThatCannotBeJudgedIsAnErrorAndTheOthersAreJudged(t *testing.T) {
	rows := []reproduce.Row{
		{Source: "S1", Where: "a", Check: func(*reproduce.Bench) reproduce.Finding { panic("oh") }},
		{Source: "S1", Where: "b", Check: func(*reproduce.Bench) reproduce.Finding {
			return reproduce.Finding{Verdict: reproduce.Fails, Measured: "1 < 2 | *", Why: "w", Replay: "ringleader version"}
		}},
	}
	var stdout, stderr strings.Builder
	p := &plan.Program{Printer: &report.Printer{Out: &stdout, Err: &stderr, Getenv: wide}}
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

// wide is an environment with a terminal on which each line of a result is one line.
func wide(name string) string { return map[string]string{"COLUMNS": "1000"}[name] }

func TestStatementsThatAreNotCheckedAreCountedApartAndAreNoFailure(t *testing.T) {
	unchecked := reproduce.Row{Source: "S1", Where: "c", Check: func(*reproduce.Bench) reproduce.Finding {
		return reproduce.Finding{Verdict: reproduce.Unchecked, Measured: "m", Why: "w"}
	}}
	rows := []reproduce.Row{unchecked, {Source: "S1", Where: "d", Settled: true, Check: func(*reproduce.Bench) reproduce.Finding { return reproduce.Finding{} }}}
	var stdout strings.Builder
	p := &plan.Program{Printer: &report.Printer{Out: &stdout, Err: &strings.Builder{}, Getenv: wide}}
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
	p := &plan.Program{Printer: &report.Printer{Out: &strings.Builder{}, Err: &strings.Builder{}, Getenv: wide}}
	err := judge(ctx, p, sources.Rows(), 0, &reproduceOptions{to: path, markdown: true})
	var exit report.ExitError
	if !errors.As(err, &exit) || exit.Code != report.ExitIncomplete {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a page is there: %v", err)
	}
}

// A row in error is part of the output. So the job is done, as that of another command which has printed its result.
func TestRowsInErrorLeaveNoJob(t *testing.T) {
	access := cluster.Access{Token: "a token"}
	server, err := broker.Start(brokertest.Program(t), broker.Settings{Listen: "127.0.0.1:0", Store: t.TempDir(), Token: access.Token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	access.URL = server.URL()
	conn, err := cluster.Connect(t.Context(), access, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	rows := []reproduce.Row{{Source: "S1", Where: "here", Claim: "it errs", Check: func(*reproduce.Bench) reproduce.Finding { panic(errors.New("it errs")) }}}
	ctx, stop := context.WithCancel(t.Context())
	worker := cluster.Worker{Conn: conn, Cores: 1, Version: labour.Version(plan.VersionName()), Kinds: map[string]work.Kind{
		"reproduce": func(json.RawMessage) (work.Task, error) { return &reproduce.Judging{Rows: rows}, nil },
	}}
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })

	var out, complaints lockedBuilder
	p := plan.NewProgram("ringleader", nil, strings.NewReader(""), &out, &complaints, func(string) string { return "" })
	o := reproduceOptions{to: "-"}
	o.Access = access
	s := &reproduction{o: &o, task: &reproduce.Judging{Rows: rows}, words: func() ([]string, error) { return []string{"S1"}, nil }}
	err = p.CarryOut(t.Context(), s, &labour.Hands{Work: &o.Work})
	said := slices.DeleteFunc(strings.Split(strings.TrimSpace(complaints.String()), "\n"), func(line string) bool { // of a machine that stands still for seconds
		return strings.Contains(line, "no workers; ") || strings.Contains(line, "NATS server")
	})
	if code, _ := plan.StatusOf(err); code != report.ExitNo || len(said) != 1 || !strings.Contains(said[0], "it errs") {
		t.Errorf("exit status %d, %q", code, complaints.String())
	}
	if jobs, err := conn.Jobs(t.Context()); err != nil || len(jobs) > 0 {
		t.Errorf("the server has %v, %v", jobs, err)
	}
}

// lockedBuilder takes what is printed, also by notices meanwhile.
type lockedBuilder struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}
