package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/brokertest"
	"ringleader.example/ringleader/internal/study/work"
)

// sums is the kind of job of these tests: the sum of the hashes of numbers.
type sums struct {
	Of     uint64        `json:"of"`
	Name   string        `json:"name,omitempty"`
	Rounds uint64        `json:"rounds,omitempty"` // hashes that a unit takes besides
	First  time.Duration `json:"first,omitempty"`  // the time of the first unit besides
	Wait   time.Duration `json:"wait,omitempty"`   // the time of a unit, in which no core is busy
	Fails  uint64        `json:"fails,omitempty"`  // from this unit on; 0: never
	Panics uint64        `json:"panics,omitempty"` // at this unit; 0: never
	End    uint64        `json:"end,omitempty"`    // the unit after which none matters; 0: none
	Stuck  uint64        `json:"stuck,omitempty"`  // the first unit that takes for ever; 0: none
	Deadly uint64        `json:"deadly,omitempty"` // the unit that ends its process; 0: none
	Cure   string        `json:"cure,omitempty"`   // … unless this file exists
	Log    string        `json:"log,omitempty"`    // a file with a line for each piece that was computed
	Begins string        `json:"begins,omitempty"` // … for each one that was begun, with the number of the process
	Gate   string        `json:"gate,omitempty"`   // a file with a unit: pieces from there on wait until the file has a greater one, or is gone
}

// coarse is a task with pieces of one unit.
type coarse struct{ *sums }

func (coarse) Most() uint64 { return 1 }

// ending is a task that may end early.
type ending struct{ *sums }

func (ending) Ends(result []byte) bool {
	var a sum
	return json.Unmarshal(result, &a) == nil && a.Ends
}

// endingCoarse is both.
type endingCoarse struct{ ending }

func (endingCoarse) Most() uint64 { return 1 }

// growing is a task of which the first tenth is needed, and then each tenth whose number divides the sum.
type growing struct{ *sums }

func (g growing) Needed(results [][]byte) ([]work.Piece, error) {
	done := uint64(0)
	for _, r := range results {
		var a sum
		if err := json.Unmarshal(r, &a); err != nil {
			return nil, err
		}
		done += a.Units
	}
	tenth := g.Of / 10
	needed := []work.Piece{{From: 0, To: tenth}}
	for at := tenth; done >= needed[0].To && at <= done && at+tenth <= g.Of*6/10; at += tenth {
		needed[0].To = at + tenth
	}
	return needed, nil
}

type sum struct {
	Sum   *big.Int `json:"sum"`
	Units uint64   `json:"units"`
	Ends  bool     `json:"ends,omitempty"`
}

var errSums = errors.New("a sum fails")

func (s *sums) Units() uint64 { return s.Of }

func (s *sums) Compute(ctx context.Context, p work.Piece) ([]byte, error) {
	if s.Begins != "" {
		if err := logLine(s.Begins, fmt.Sprintf("%d begins %s", os.Getpid(), p)); err != nil {
			return nil, err
		}
	}
	for s.Gate != "" && p.From >= gate(s.Gate) {
		if !wait(ctx, 10*time.Millisecond) {
			return nil, ctx.Err()
		}
	}
	total := sum{Sum: new(big.Int)}
	for u := p.From; u < p.To && !total.Ends; u++ {
		if u == 0 && s.First > 0 {
			wait(ctx, s.First)
		}
		if s.Wait > 0 && !wait(ctx, s.Wait) || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		spin(s.Rounds)
		if err := s.trouble(ctx, u); err != nil {
			return nil, err
		}
		hash := sha256.Sum256(binary.BigEndian.AppendUint64(nil, u))
		total.Sum.Add(total.Sum, new(big.Int).SetBytes(hash[:]))
		total.Units++
		total.Ends = s.End > 0 && u >= s.End
	}
	if s.Log != "" {
		if err := logLine(s.Log, p.String()); err != nil {
			return nil, err
		}
	}
	return json.Marshal(total)
}

// gate returns the unit in a file: 0 if it is half written, and the greatest if there is no file.
func gate(path string) (unit uint64) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return math.MaxUint64
	}
	unit, err = strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return unit
}

// shut makes a gate at a unit, or moves it there: what a test does meanwhile comes before the end of the job, however fast that is.
func (s *sums) shut(t testing.TB, unit uint64) {
	t.Helper()
	if s.Gate == "" {
		s.Gate = filepath.Join(t.TempDir(), "gate")
	}
	if err := os.WriteFile(s.Gate, strconv.AppendUint(nil, unit, 10), 0o600); err != nil {
		t.Fatal(err)
	}
}

// relieve moves the gate on if it holds all slots of the workers. Pieces come in any order, so one before the gate may wait for a slot.
func (s *sums) relieve(t testing.TB, slots int) {
	t.Helper()
	held := readDiary(t, s.Begins).begun
	for _, computed := range logged(t, s.Log) {
		if at := slices.Index(held, computed); at >= 0 {
			held = slices.Delete(held, at, at+1)
		}
	}
	if len(held) < slots {
		return
	}
	first := uint64(math.MaxUint64)
	for _, piece := range held {
		var from, last uint64
		if _, err := fmt.Sscanf(piece, "%d to %d", &from, &last); err != nil {
			t.Fatal(err)
		}
		first = min(first, from)
	}
	if first >= gate(s.Gate) {
		s.shut(t, first+1)
	}
}

// open opens the gate for all.
func (s *sums) open(t testing.TB) {
	t.Helper()
	if err := os.Remove(s.Gate); err != nil {
		t.Fatal(err)
	}
}

// trouble lets happen what is to happen at a unit.
func (s *sums) trouble(ctx context.Context, unit uint64) error {
	switch {
	case s.Deadly > 0 && unit == s.Deadly:
		s.die()
	case s.Stuck > 0 && unit >= s.Stuck:
		<-ctx.Done()
		return ctx.Err()
	case s.Fails > 0 && unit >= s.Fails:
		return fmt.Errorf("unit %d: %w", unit, errSums)
	case s.Panics > 0 && unit == s.Panics:
		panic("oh")
	}
	return nil
}

// die ends the process as the system does when memory runs out, if there is no cure.
func (s *sums) die() {
	if _, err := os.Stat(s.Cure); err == nil {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(err) // if the process still runs
}

// spin keeps a core busy.
func spin(rounds uint64) (hash [sha256.Size]byte) {
	for range rounds {
		hash = sha256.Sum256(hash[:])
	}
	return hash
}

// logLine adds a line to a file, in one write.
func logLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

func (s *sums) Join(first, second []byte) ([]byte, error) {
	var a, b sum
	if err := errors.Join(json.Unmarshal(first, &a), json.Unmarshal(second, &b)); err != nil {
		return nil, err
	}
	if a.Sum == nil || b.Sum == nil {
		return nil, errors.New("no sum")
	}
	if a.Ends {
		return first, nil
	}
	a.Sum.Add(a.Sum, b.Sum)
	a.Units += b.Units
	a.Ends = b.Ends
	return json.Marshal(a)
}

// kinds are those of the tests, each with one more ability.
var kinds = map[string]work.Kind{
	"sums":   func(spec json.RawMessage) (work.Task, error) { return readSums(spec) },
	"coarse": func(spec json.RawMessage) (work.Task, error) { s, err := readSums(spec); return coarse{s}, err },
	"ending": func(spec json.RawMessage) (work.Task, error) { s, err := readSums(spec); return ending{s}, err },
	"ending coarse": func(spec json.RawMessage) (work.Task, error) {
		s, err := readSums(spec)
		return endingCoarse{ending{s}}, err
	},
	"growing": func(spec json.RawMessage) (work.Task, error) { s, err := readSums(spec); return growing{s}, err },
}

func readSums(spec json.RawMessage) (*sums, error) {
	s := &sums{}
	return s, json.Unmarshal(spec, s)
}

const version = "v1.2.3+test"

// long makes tests that count kills count more of them.
var long = flag.Bool("long", false, "kill processes 200 times")

// jobOf returns a job, and its task.
func jobOf(t testing.TB, kind string, s sums) (work.Job, work.Task) {
	t.Helper()
	spec, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	task, err := kinds[kind](spec)
	if err != nil {
		t.Fatal(err)
	}
	return work.Job{Kind: kind, Spec: spec, Version: version}, task
}

// complete computes a job with a runner, and returns the one result of it.
func complete(ctx context.Context, t testing.TB, runner work.Runner, j work.Job, task work.Task, progress func(work.Progress)) ([]byte, error) {
	t.Helper()
	r, err := work.NewResults(task, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := work.Complete(ctx, runner, j, task, r, progress); err != nil {
		return nil, err
	}
	return r.Joined()
}

// local computes a job on the cores of this process. Its log is not written.
func local(t testing.TB, kind string, s sums) ([]byte, error) {
	t.Helper()
	s.Log, s.Begins, s.Gate, s.First, s.Wait, s.Rounds, s.Stuck, s.Deadly = "", "", "", 0, 0, 0, 0, 0
	j, task := jobOf(t, kind, s)
	return complete(t.Context(), t, work.Local{Cores: 2}, j, task, nil)
}

// notices keeps lines for people.
type notices struct {
	mutex sync.Mutex
	lines []string
}

func (n *notices) add(line string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.lines = append(n.lines, line)
}

// with returns the lines with a text.
func (n *notices) with(text string) (lines []string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, line := range n.lines {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

// ownPrefix is what tokens begin with that [secret.Own] makes, and token one that it could have made: that of servers of tests.
const (
	ownPrefix = "ringleader-token-"
	token     = ownPrefix + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

// settings are those of a server of a test: on a free port of this machine.
func settings(t testing.TB) broker.Settings {
	t.Helper()
	return broker.Settings{Listen: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "store"), Token: token}
}

// lasting are settings of a server that is started again: its port stays its own meanwhile.
func lasting(t testing.TB) broker.Settings {
	t.Helper()
	s := settings(t)
	s.Listen = freeAddress(t)
	return s
}

// served is a server, in a process of its own.
type served struct {
	*broker.Server
	settings broker.Settings
}

// Access returns how the process reaches the server that has started it.
func (e *served) Access() Access { return Access{Token: e.settings.Token, Dial: e.Dial} }

// address returns the host and the port where the server listens.
func (e *served) address() string {
	_, address, _ := strings.Cut(e.URL(), "://")
	return address
}

// overNetwork returns how another process reaches a server.
func overNetwork(e *served) Access { return Access{URL: e.URL(), Token: e.settings.Token} }

func serve(t testing.TB, s broker.Settings) *served {
	t.Helper()
	e, err := broker.Start(brokertest.Program(t), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &served{e, s}
}

func connect(t testing.TB, a Access, notice func(string)) *Conn {
	t.Helper()
	c, err := Connect(t.Context(), a, "test", notice)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// hire starts a worker, and returns it with a function that ends it.
func hire(t testing.TB, c *Conn, w *Worker) (*Worker, func()) {
	t.Helper()
	w.Conn = c
	if w.Kinds == nil {
		w.Kinds = kinds
	}
	if w.Cores == 0 {
		w.Cores = 2
	}
	if w.Version == "" {
		w.Version = version
	}
	if w.Patience == 0 {
		w.Patience = time.Second
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	var once sync.Once
	end := func() {
		once.Do(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(end)
	return w, end
}

// begin begins a job.
func begin(t testing.TB, c *Conn, j work.Job, task work.Task, notice func(string)) *Commander {
	t.Helper()
	commander := &Commander{Conn: c, Notice: notice, pause: usualPause / 8}
	if err := commander.Begin(t.Context(), j, task.Units(), "ringleader sums"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(commander.Leave)
	return commander
}

// same complains if a job's bytes are not those of a local run.
func same(t testing.TB, kind string, s sums, got []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	want, err := local(t, kind, s)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// longestWait is how long a test waits. It is longer than the patience of workers: a piece that is lost on its way, as on a machine that starves the server's
// heartbeats, comes again after that.
const longestWait = 3 * time.Minute

// until waits for a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.After(longestWait)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-limit:
			t.Fatalf("after %v, %s is not", longestWait, what)
		case <-ticker.C:
		}
	}
}

// logged returns the lines of a log, sorted.
func logged(t testing.TB, path string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	lines = strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' })
	slices.Sort(lines)
	return lines
}
