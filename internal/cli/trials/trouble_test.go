package trials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/cluster"
	"ringleader.example/ringleader/internal/study/work"
)

// labourerOf starts a worker that has another task for a kind of job.
func labourerOf(t *testing.T, url, kind string, task work.Task) {
	t.Helper()
	conn := connected(t, url)
	ctx, stop := context.WithCancel(t.Context())
	worker := cluster.Worker{Conn: conn, Cores: 1, Version: labour.Version(plan.VersionName()), Kinds: map[string]work.Kind{
		kind: func(json.RawMessage) (work.Task, error) { return task, nil },
	}}
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
}

// failing is a task of one unit that fails everywhere.
type failing struct{ work.Task }

var errFailing = errors.New("it fails")

func (failing) Units() uint64                                       { return 1 }
func (failing) Compute(context.Context, work.Piece) ([]byte, error) { return nil, errFailing }

func TestWorkThatFailsOnThisMachineTooLeavesNoJob(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	labourerOf(t, url, "verify", failing{})
	p := plan.NewProgram("ringleader", nil, strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" })
	h := &labour.Hands{Work: new(labour.Work)}
	h.Access.URL = url
	_, err := h.Do(t.Context(), p.Printer, &labour.Assignment{Kind: "verify", Words: func() ([]string, error) { return []string{"lcr"}, nil }, Task: failing{}, Units: "orders"})
	if !errors.Is(err, errFailing) {
		t.Error(err)
	}
	h.Dismiss(err)
	if jobs := jobsOf(t, url); len(jobs) > 0 {
		t.Errorf("the server has %v", jobs)
	}
}

// The units of a job that ended workers are computed by a command. The job goes on from there.
func TestUnitsThatEndWorkersAreComputedByACommand(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	line := strings.Fields("verify lcr --n 4")
	job := left(t, url, labour.Version(plan.VersionName()))
	key := report.Key(job.Key())
	for args, says := range map[string]string{
		"compute " + key:           "takes two arguments",
		"compute " + key + " x":    "units are a number or a range, such as 57 or 57..60",
		"compute " + key + " 3..":  "units are a number or a range, such as 57 or 57..60",
		"compute " + key + " 3..2": "units are a number or a range, such as 57 or 57..60",
		"compute " + key + " 2..6": "has the units 0 to 5",
	} {
		code, _, stderr := clitest.Call(append(strings.Fields("jobs "+args), "--nats", url)...)
		if code != report.ExitUsage || !strings.Contains(stderr, says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit status %d, %q; want %q", args, code, stderr, says)
		}
	}
	for _, units := range []string{"0", "1..5"} {
		code, stdout, stderr := clitest.Call("jobs", "compute", key, units, "--nats", url)
		if want := "job " + key + " has the result of units " + units + ", which took "; code != report.ExitFine || !strings.HasPrefix(stdout, want) {
			t.Errorf("exit status %d, %s%s; want %s", code, stdout, stderr, want)
		}
	}
	if jobs := jobsOf(t, url); len(jobs) != 1 || jobs[0].Done != 6 || jobs[0].State != "complete" {
		t.Errorf("the server has %v", jobs)
	}
	_, want, _ := clitest.Call(append(line[:len(line):len(line)], "--out", filepath.Join(t.TempDir(), "file"))...)
	if code, stdout, stderr := clitest.Call(append(line, "--nats", url)...); code != report.ExitFine || stdout != want { // without a worker
		t.Errorf("exit status %d, %s%s\nwant %s", code, stdout, stderr, want)
	}
}

// Each worker dies of each piece, and is started again.
func TestAJobWhoseUnitsEndWorkersNamesTheCommandForThem(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	command := runs(t, "verify", "lcr", "--n", "4", "--nats", url)
	const most = 6 * 5 // each of six units is delivered twice, and then begun alone three times
	var code int
	for deaths, over := 0, false; !over; {
		worker := exec.Command("doomed", url)
		if err := worker.Start(); err != nil {
			t.Fatal(err)
		}
		died := make(chan struct{})
		go func() { _ = worker.Wait(); close(died) }()
		select {
		case <-died:
			if worker.ProcessState.ExitCode() == doomedBy { // else it did not come to a piece
				deaths++
			}
			if deaths > most {
				t.Fatal("workers die for ever")
			}
		case code = <-command.ended:
			over = true
			_ = worker.Process.Kill()
			<-died
		}
	}
	key := jobsOf(t, url)[0].Job
	says := fmt.Sprintf(`^ringleader: unit 0 ends its workers: 3 have died that computed nothing else \(.*, process \d+; .*, process \d+; .*, process \d+\); `+
		`what is done is kept; ringleader jobs compute %.12s 0 --nats %s computes it here, and then the same command continues\n$`, key, url)
	if code != report.ExitNo || !regexp.MustCompile(says).MatchString(orderly(command.stderr.String())) {
		t.Errorf("exit status %d, %q; want %s", code, command.stderr.String(), says)
	}
}

// doom runs a worker that dies of its first piece.
func doom() {
	token, err := labour.OwnToken()
	if err != nil {
		panic(err)
	}
	conn, err := cluster.Connect(context.Background(), cluster.Access{URL: os.Args[1], Token: token}, "doomed", nil)
	if err != nil {
		panic(err)
	}
	worker := cluster.Worker{Conn: conn, Cores: 1, Version: labour.Version(plan.VersionName()), Patience: time.Second / 4, Kinds: map[string]work.Kind{
		"verify": func(json.RawMessage) (work.Task, error) { return doomed{}, nil },
	}}
	panic(worker.Run(context.Background()))
}

type doomed struct{ work.Task }

// doomedBy is the exit status of a worker that has begun a piece, as if a signal had killed it.
const doomedBy = 137

func (doomed) Compute(context.Context, work.Piece) ([]byte, error) {
	os.Exit(doomedBy)
	return nil, nil
}
