package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/brokertest"
	"ringleader.example/ringleader/internal/study/work"
)

// roleVariable makes this program play a part in place of running tests.
const roleVariable = "RINGLEADER_CLUSTER_ROLE"

// part is what a process does. It is the value of roleVariable.
type part struct {
	Role     string          `json:"role"` // server, worker, commander, or local: a commander without workers
	Settings broker.Settings `json:"settings"`
	Access   Access          `json:"access"`
	Cores    int             `json:"cores"`
	Patience time.Duration   `json:"patience"`
	Log      string          `json:"log"` // where a worker writes which pieces have left the queue
	Kind     string          `json:"kind"`
	Spec     sums            `json:"spec"`
	Result   string          `json:"result"` // the file that a commander writes
}

// play plays a part until stdin ends, and ends the process.
func play(text string) {
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		ctx, stop := context.WithCancel(context.Background())
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
		err = p.play(ctx)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (p part) play(ctx context.Context) error {
	if p.Role == "local" {
		return p.compute(ctx, func(j work.Job, task work.Task) (work.Runner, error) { return work.Local{Cores: p.Cores}, nil })
	}
	c, err := Connect(ctx, p.Access, p.Role, nil)
	for errors.Is(err, ErrUnreachable) && wait(ctx, reconnectWait/5) {
		c, err = Connect(ctx, p.Access, p.Role, nil)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if p.Role == "worker" {
		return p.work(ctx, c)
	}
	return p.command(ctx, c)
}

func (p part) work(ctx context.Context, c *Conn) error {
	settled := func(_ string, piece work.Piece) {
		if p.Log == "" {
			return
		}
		if err := logLine(p.Log, fmt.Sprintf("%d settles %s", os.Getpid(), piece)); err != nil {
			panic(err)
		}
	}
	w := &Worker{Conn: c, Cores: p.Cores, Version: version, Kinds: kinds, Patience: p.Patience, settled: settled}
	return w.Run(ctx)
}

func (p part) command(ctx context.Context, c *Conn) error {
	commander := &Commander{Conn: c}
	err := p.compute(ctx, func(j work.Job, task work.Task) (work.Runner, error) {
		err := commander.Begin(ctx, j, task.Units(), "")
		for err != nil && wait(ctx, reconnectWait/5) {
			err = commander.Begin(ctx, j, task.Units(), "")
		}
		return commander, err
	})
	if err == nil {
		err = commander.Finish(ctx)
	}
	return err
}

// compute computes the job with a runner, and writes the result.
func (p part) compute(ctx context.Context, open func(work.Job, work.Task) (work.Runner, error)) error {
	spec, err := json.Marshal(p.Spec)
	if err != nil {
		return err
	}
	task, err := kinds[p.Kind](spec)
	if err != nil {
		return err
	}
	j := work.Job{Kind: p.Kind, Spec: spec, Version: version}
	runner, err := open(j, task)
	if err != nil {
		return err
	}
	r, err := work.NewResults(task, nil, nil)
	if err != nil {
		return err
	}
	if err := work.Complete(ctx, runner, j, task, r, nil); err != nil {
		return err
	}
	result, err := r.Joined()
	if err != nil {
		return err
	}
	return os.WriteFile(p.Result, result, 0o600)
}

// actor is a process that plays a part.
type actor struct {
	*exec.Cmd
	part   part
	stdin  io.WriteCloser
	stdout bytes.Buffer
	stderr bytes.Buffer
	ended  chan struct{}
	err    error // of the process, when it has ended
}

// act starts a process. Before is what its command line begins with.
func act(t testing.TB, p part, before ...string) *actor {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := append(before, program)
	if p.Role == "server" {
		words = append(before, brokertest.Program(t), broker.Child)
	}
	a := &actor{Cmd: exec.Command(words[0], words[1:]...), part: p, ended: make(chan struct{})}
	a.Env = append(os.Environ(), roleVariable+"="+string(text))
	a.Cmd.Stdout, a.Cmd.Stderr = &a.stdout, &a.stderr
	if a.stdin, err = a.StdinPipe(); err == nil {
		err = a.Start()
	}
	if err == nil && p.Role == "server" {
		err = json.NewEncoder(a.stdin).Encode(p.Settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		a.err = a.Wait()
		close(a.ended)
	}()
	t.Cleanup(a.kill)
	return a
}

// kill ends a process without its knowledge.
func (a *actor) kill() {
	_ = a.Process.Kill()
	<-a.ended
}

// leave lets a process end by itself.
func (a *actor) leave(t testing.TB) {
	t.Helper()
	a.stdin.Close()
	<-a.ended
	if a.err != nil {
		t.Fatalf("the %s ends with %v: %s", a.part.Role, a.err, &a.stderr)
	}
}

// cpu returns the time that a process has used, when it has ended.
func (a *actor) cpu() time.Duration { return a.ProcessState.UserTime() + a.ProcessState.SystemTime() }

// running reports whether a process has not ended.
func (a *actor) running() bool {
	select {
	case <-a.ended:
		return false
	default:
		return true
	}
}

// diary is the log of a job's pieces: each begin, and each end.
type diary struct {
	begun   []string        // the pieces
	settled map[string]bool // those that have left the queue
}

func readDiary(t testing.TB, path string) diary {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	d := diary{settled: map[string]bool{}}
	for line := range strings.Lines(string(text)) {
		_, what, _ := strings.Cut(strings.TrimSpace(line), " ") // a process
		if piece, begins := strings.CutPrefix(what, "begins "); begins {
			d.begun = append(d.begun, piece)
		} else {
			d.settled[strings.TrimPrefix(what, "settles ")] = true
		}
	}
	return d
}

// freeAddress returns an address of this machine where nothing listens, and nothing but the caller's processes will.
func freeAddress(t testing.TB) string {
	t.Helper()
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	return addresses[0]
}

// kills is how many processes a test kills.
func kills() int {
	if *long {
		return 200
	}
	return 6
}

// atWorker is the most pieces of a worker with one core that a kill may repeat: one waits, one is in work, and one has an answer, which a
// server that is killed may have, and not have kept.
const atWorker = 3

func TestProcessesThatAreKilledLoseWhatTheirWorkersHaveOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	t.Parallel()
	folder, address := t.TempDir(), freeAddress(t)
	log := filepath.Join(folder, "log")
	access := Access{URL: "nats://" + address, Token: token}
	spec := sums{Of: uint64(20 * (kills() + 1)), Wait: 20 * time.Millisecond, Begins: log}
	server := act(t, part{Role: "server", Settings: broker.Settings{Listen: address, Store: filepath.Join(folder, "store"), Token: token}})
	var workers []*actor
	for range 3 {
		workers = append(workers, act(t, part{Role: "worker", Access: access, Cores: 1, Patience: usualPatience, Log: log}))
	}
	commander := act(t, part{Role: "commander", Access: access, Kind: "coarse", Spec: spec, Result: filepath.Join(folder, "result")})
	lost := 0
	for i := range kills() {
		until(t, fmt.Sprintf("the job %d of %d kills far", i, kills()), func() bool {
			return len(readDiary(t, log).settled) >= 20*(i+1) || !commander.running()
		})
		which := &workers[i/3%len(workers)]
		switch i % 3 {
		case 1:
			which = &server
		case 2:
			which = &commander
		}
		(*which).kill()
		switch (*which).part.Role {
		case "worker":
			lost += atWorker
		case "server":
			lost += atWorker * len(workers)
		}
		*which = act(t, (*which).part)
	}
	<-commander.ended
	if commander.err != nil {
		t.Fatalf("the commander ends with %v: %s", commander.err, &commander.stderr)
	}
	got, err := os.ReadFile(commander.part.Result)
	same(t, "coarse", spec, got, err)
	begun := len(readDiary(t, log).begun)
	t.Logf("%d pieces, %d begun, at most %d lost at %d kills", spec.Of, begun, lost, kills())
	if begun > int(spec.Of)+lost {
		t.Errorf("%d pieces were begun, and the job has %d, of which workers had at most %d at kills", begun, spec.Of, lost)
	}
}
