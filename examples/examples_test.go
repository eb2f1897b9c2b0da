package examples

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/rig"
)

// patience is the limit of a test's wait for a required event; a correct run never reaches it.
const patience = time.Minute

// folder has the compiled examples.
var folder string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "examples"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", folder+string(filepath.Separator), "./...").CombinedOutput(); err != nil {
			fmt.Printf("%s", out)
			return 1
		}
		_ = flag.Set("test.parallel", "14") // tests wait for processes more than for cores
		return m.Run()
	}())
}

func program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(folder, name)
}

// group is three processes of an example.
type group struct {
	t         *testing.T
	name      string
	addresses []string // of the members
	arguments []string
	own       map[int][]string // further arguments of one of them
	processes map[int]*exec.Cmd
	lines     chan line
	silent    map[*exec.Cmd]chan struct{} // closed when the process and all that it has started have ended
	seen      []line                      // and not returned by next
	revived   func(id int)                // is called when a process has started again; may be nil
}

// line is what a process prints.
type line struct {
	id   int
	of   *exec.Cmd
	text string
}

// ended is the last line of each process. If the process starts again, it is another one.
const (
	ended = "(it has ended)"
	again = "(it has ended, and starts again)"
)

func newGroup(t *testing.T, name string, arguments ...string) *group {
	addresses := free(t, 3)
	g := &group{
		t: t, name: name, addresses: addresses, own: map[int][]string{}, processes: map[int]*exec.Cmd{}, lines: make(chan line, 1000), silent: map[*exec.Cmd]chan struct{}{},
		arguments: append([]string{"--data", t.TempDir(), "--addresses", strings.Join(addresses, ",")}, arguments...),
	}
	t.Cleanup(func() {
		for len(g.processes) > 0 { // one that has ended may start again meanwhile
			for id := range g.processes {
				g.kill(id)
			}
		}
	})
	return g
}

// free returns addresses on which nothing listens.
func free(t *testing.T, n int) []string {
	addresses, err := rig.FreeAddresses(n)
	if err != nil {
		t.Fatal(err)
	}
	return addresses
}

func (g *group) start(ids ...int) {
	for _, id := range ids {
		g.run(id, program(g.name), slices.Concat(g.arguments, []string{"--id", fmt.Sprint(id)}, g.own[id])...)
	}
}

// run runs another program beside those of the group.
func (g *group) run(id int, path string, arguments ...string) {
	c := exec.Command(path, arguments...)
	c.Stderr = g.t.Output()
	out, err := c.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		g.t.Fatal(err)
	}
	silent := make(chan struct{})
	g.processes[id], g.silent[c] = c, silent
	go func() {
		defer close(silent)
		for s := bufio.NewScanner(out); s.Scan(); {
			g.lines <- line{id, c, s.Text()}
		}
		g.lines <- line{id, c, ended}
	}()
}

// kill ends a process as SIGKILL does, and waits until what ends with it has ended, too: it may write to files meanwhile.
func (g *group) kill(id int) {
	c := g.processes[id]
	delete(g.processes, id)
	c.Process.Kill()
	for late := time.After(patience); ; {
		select {
		case l := <-g.lines:
			g.hears(l)
			continue
		case <-g.silent[c]:
		case <-late:
			g.t.Errorf("process %d was killed, and something of it goes on", id)
		}
		c.Wait() // its error is the signal
		return
	}
}

// overrun are the statuses with which a process ends whose work has outlived its lease: by itself, or with a warden by the kernel.
var overrun = []int{70, 128 + 9}

// hears notes a line. Work does not outlive its lease on a machine that stalls: then its process has ended, and starts again, as a service
// manager would start it.
func (g *group) hears(l line) {
	if l.text == ended && g.processes[l.id] == l.of {
		if _ = l.of.Wait(); slices.Contains(overrun, l.of.ProcessState.ExitCode()) {
			g.start(l.id)
			if g.revived != nil {
				g.revived(l.id)
			}
			l.text = again
		}
	}
	g.seen = append(g.seen, l)
}

// latest takes all lines so far that match, in the order in which they came.
func (g *group) latest(pattern string) (all []line) {
	re := regexp.MustCompile(pattern)
	for waits := true; waits; {
		select {
		case l := <-g.lines:
			g.hears(l)
		default:
			waits = false
		}
	}
	g.seen = slices.DeleteFunc(g.seen, func(l line) bool {
		if !re.MatchString(l.text) {
			return false
		}
		all = append(all, l)
		return true
	})
	return all
}

// next waits for a line that matches and was not returned before, and returns its process and its submatches.
func (g *group) next(pattern string) (id int, parts []string) {
	g.t.Helper()
	l, parts := g.await(pattern)
	return l.id, parts
}

// await is next, and returns the line.
func (g *group) await(pattern string) (found line, parts []string) {
	g.t.Helper()
	re, late := regexp.MustCompile(pattern), time.After(patience)
	for {
		for i, l := range g.seen {
			if parts := re.FindStringSubmatch(l.text); parts != nil {
				g.seen = slices.Delete(g.seen, i, i+1)
				return l, parts
			}
		}
		select {
		case l := <-g.lines:
			g.hears(l)
		case <-late:
			g.t.Fatalf("no process prints %q, but %v", pattern, g.seen)
		}
	}
}

func TestTheJobOfAKilledProcessGoesOnInAnother(t *testing.T) {
	t.Parallel()
	g := newGroup(t, "singleton")
	g.start(1, 2, 3)
	first, term := g.next(`^the job begins, in term (\d+)$`)
	g.kill(first)
	for { // it may have begun again before the kill, on a machine that stalls
		second, later := g.next(`^the job begins, in term (\d+)$`)
		if later[1] == term[1] {
			t.Errorf("%d in term %s follows %d in term %s", second, later[1], first, term[1])
		}
		if second != first {
			return
		}
	}
}

// numberIn returns the first number in a text.
func numberIn(text string) (n int) {
	n, _ = strconv.Atoi(regexp.MustCompile(`\d+`).FindString(text))
	return n
}

func TestEveryStandbyLeadsToTheActiveProcess(t *testing.T) {
	t.Parallel()
	g := newGroup(t, "standby")
	g.start(1, 2, 3)
	urls, active, latest := map[int]string{}, 0, 0 // since that term
	look := func() {                               // a process that starts again has another address, and a machine that stalls another active process
		for _, l := range g.latest(`^serving at |^active, in term \d+$`) {
			if url, is := strings.CutPrefix(l.text, "serving at "); is {
				urls[l.id] = url
			} else if term := numberIn(l.text); term > latest { // lines of two processes come in any order
				active, latest = l.id, term
			}
		}
	}
	answers := func(except int) {
		t.Helper()
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for late := time.Now().Add(patience); ; <-ticker.C {
			look()
			got, all := map[int]string{}, active != except
			for id := range g.processes {
				if r, err := http.Get(urls[id] + "/"); err == nil { // it may not know the new leader yet
					body, _ := io.ReadAll(r.Body)
					r.Body.Close()
					got[id] = string(body)
				}
				all = all && strings.HasPrefix(got[id], fmt.Sprintf("answered by %d in term", active))
			}
			if all {
				return
			}
			if time.Now().After(late) {
				t.Fatalf("process %d is active, and the answers of all are %v", active, got)
			}
		}
	}
	answers(0)
	killed := active
	g.kill(killed)
	answers(killed)
}

func TestTheShardsOfAKilledProcessMoveAndReturnWithIt(t *testing.T) {
	t.Parallel()
	g := newGroup(t, "shards")
	at, terms := map[string]int{}, map[string]int{} // by shard: where it is, since which term
	until := func(holds func(shard string, id int) bool) {
		t.Helper()
		for all := false; !all; {
			id, parts := g.next(`^shard (\d+) is here, in term (\d+)$`)
			if term, _ := strconv.Atoi(parts[2]); term > terms[parts[1]] { // lines of two processes come in any order
				at[parts[1]], terms[parts[1]] = id, term
			}
			all = len(at) == 12
			for shard, id := range at {
				all = all && holds(shard, id)
			}
		}
	}
	preferred := func(shard string, id int) bool {
		n, err := strconv.Atoi(shard)
		return err == nil && id == n%3+1
	}
	g.start(1, 2, 3)
	until(preferred)
	g.kill(2)
	for id := 0; id != 2; {
		id, _ = g.next(regexp.QuoteMeta(ended))
	}
	until(func(_ string, id int) bool { return id != 2 })
	g.start(2)
	until(preferred)
}

func TestALateWriteIsLostWithoutAFenceAndRefusedWithOne(t *testing.T) {
	t.Parallel()
	for name, resource := range map[string]string{"fence-file": "file", "fence-sql": "row"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "fence-sql" {
				needs.Program(t, "sqlite3", "sqlite3")
			}
			out, err := exec.Command(program(name)).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, want := range []string{
				`(?s)without a fence.*term (\d+): its write arrives\nthe ` + resource + ` has: written in term (\d+)\. The newer write is lost`,
				`(?s)with a fence.*term (\d+): member \d leads now, and writes.*refused: .*the ` + resource + ` has: written in term (\d+)\n$`,
			} {
				parts := regexp.MustCompile(want).FindSubmatch(out)
				if parts == nil || string(parts[1]) != string(parts[2]) {
					t.Errorf("%s\n is not %s", out, want)
				}
			}
		})
	}
}

func TestManyGroupsAreMeasured(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(program("many"), "--groups", "20", "--idle", "100ms").CombinedOutput()
	want := regexp.MustCompile(`(?s)^20 groups of 3; .*\nall groups agree after .*idle: process 3 takes .*\nkill -9 of a process that leads \d+ groups: .* the last after \d`)
	if err != nil || !want.Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestEachExampleHasHelp(t *testing.T) {
	t.Parallel()
	// Without these, go test takes an earlier result of programs that have changed. It looks at what a test reads.
	for _, pattern := range []string{"*/*.go", "*/*/*.go", "../*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
	}
	programs, err := os.ReadDir(folder)
	if err != nil || len(programs) != 10 {
		t.Fatalf("%v, %v", programs, err)
	}
	for _, p := range programs {
		if out, err := exec.Command(filepath.Join(folder, p.Name()), "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "Flags:\n") {
			t.Errorf("%s: %v: %s", p.Name(), err, out)
		}
	}
}
