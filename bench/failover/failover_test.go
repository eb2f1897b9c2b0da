//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/bench/failover/node"
)

func TestAMedianLiesInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		shown  string
	}{
		{nil, "–"},
		{[]float64{3}, "3.0 (3.0–3.0)"},
		{[]float64{30, 1, 2}, "2.0 (1.0–30)"},
		{[]float64{4, 1, 3, 20}, "3.5 (1.0–20)"},
	} {
		if s := summary(c.values).String(); s != c.shown {
			t.Errorf("%v is shown as %s, not as %s", c.values, s, c.shown)
		}
	}
}

// sample is what a run of two systems might find.
func sample() *results {
	return &results{
		Options: options{Faults: faults},
		Failover: []*cell{
			{System: "etcd", Members: 3, Fault: kill, Times: []float64{1000, 1200}, Missed: 1},
			{System: "ringleader", Members: 3, Fault: kill, Times: []float64{4, 5, 6}},
			{System: "ringleader", Members: 3, Fault: stop, Times: []float64{500}, Both: []float64{-20}},
			{System: "etcd", Members: 3, Fault: stop, Times: []float64{1000}, Both: []float64{-1, 7}},
			{System: "etcd", Members: 3, Fault: cut, Times: []float64{1000}, Unaware: 1},
		},
		Stable: []stable{{"etcd", 3, loaded, 30, 2}},
		Rested: []rested{{System: "etcd", Members: 3, Percent: 0.7, Memory: 30}},
		Sizes:  map[string]int64{"etcd": 23_000_000},
	}
}

func TestTheTablesCompareWithTheFirstSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tables.md")
	if err := mark(path, sample().tables()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| ringleader, warden, TLS | 3 | 5.0 (4.0–6.0) | 500 (500–500) | – | – | – | – | – | – | 3 1 0 0 0 0 0 0 |",
		"| etcd raft, 100/1000 ms (default) | 3 | 1100 (1000–1200) ×220, 1 never | 1000 (1000–1000) ×2.0; two for 7.0 | – | – | 1000 (1000–1000); the old one leads on | – | – | – | 3 1 0 0 1 0 0 0 |",
		"| ringleader, warden, TLS | 3 | never (0 of 1) | – | – | – | – | – |",
		"| etcd raft, 100/1000 ms (default) | 3 | 7.0 (1 of 2) | – | it leads on (1 of 1) | – | – | – |",
		"| etcd raft, 100/1000 ms (default) | 3 | loaded | 30 | 2 |",
		"| etcd raft, 100/1000 ms (default) | 3 | 0.70 | 0.00 | 30.0 | – | 23 |",
	} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("there is no line %s in\n%s", line, text)
		}
	}
}

// What the record costs is small, so it is told with what it may be by chance.
func TestTailsAndRoundsAreComparedWithTheFirstSystem(t *testing.T) {
	r := &results{Options: options{Systems: []string{"ringleader-unrecorded", "ringleader"}, Faults: []string{kill, stop}, IdleRounds: 3}}
	for name, more := range map[string]float64{"ringleader": 1, "ringleader-unrecorded": 0} {
		c := &cell{System: name, Members: 3, Fault: kill}
		for n := range 200 {
			c.Times = append(c.Times, float64(n)+more)
		}
		r.Failover = append(r.Failover, c, &cell{System: name, Members: 3, Fault: stop, Times: c.Times[:fewest-1]})
	}
	for _, percent := range []float64{1, 3, 2} {
		r.Rested = append(r.Rested, rested{System: "ringleader-unrecorded", Members: 3, Percent: percent}, rested{System: "ringleader", Members: 3, Percent: percent * 1.02})
	}
	var text strings.Builder
	show(&text, r.tables())
	for _, want := range []string{
		`ringleader, warden, TLS +3 +kill +101\.00 +199\.00 +\+1\.00 \(-[0-9.]+ to \+[0-9.]+\) +200`,
		`ringleader, no record, warden, TLS +3 +kill +100\.00 +198\.00 +– +200`,
		`ringleader, warden, TLS +3 +\+2\.0 +\+2\.0 to \+2\.0 +\+2\.0 to \+2\.0 +3\n`,
		`ringleader, no record, warden, TLS +3 +2\.00 +0\.00`,
	} {
		if !regexp.MustCompile(want).MatchString(text.String()) {
			t.Errorf("there is no line %s in\n%s", want, &text)
		}
	}
	if regexp.MustCompile(`TLS +3 +stop`).MatchString(text.String()) {
		t.Errorf("few failovers have a 99th percentile:\n%s", &text)
	}
}

func TestResultsAreDrawnFromTheirJSON(t *testing.T) {
	folder := t.TempDir()
	file, drawing := filepath.Join(folder, "results.json"), filepath.Join(folder, "results.svg")
	if err := sample().write(file); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"--draw", file, "--svg", drawing}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(drawing)
	if err != nil || !strings.Contains(string(text), "etcd raft, 100/1000 ms (default), 3 members, kill: 1100 (1000–1200) ms, 2 times") {
		t.Errorf("the drawing (%v) does not have the times: %.2000s", err, text)
	}
	for _, fault := range faults {
		_, is := map[string]bool{kill: true, stop: true, cut: true}[fault]
		if strings.Contains(string(text), ">"+fault+"<") != is {
			t.Errorf("the legend has %s: %v; the sample: %v", fault, !is, is)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil || !json.Valid(data) {
		t.Errorf("the results are no JSON: %v", err)
	}
}

func TestAWrongCallIsRefused(t *testing.T) {
	for _, arguments := range [][]string{
		{"--systems", "etdc"},
		{"--parts", "failover,other"},
		{"--faults", "kill -9"},
		{"--members", "2"},
	} {
		if _, err := parse(arguments); err == nil {
			t.Errorf("%v is taken", arguments)
		}
	}
}

func TestOldReportsDoNotCountAsTheNextLeader(t *testing.T) {
	c := &cluster{nodes: []*process{{id: 1}, {id: 2}, {id: 3}}}
	for _, line := range []string{"5 lead 1", "9 lost 8"} {
		e, err := node.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		c.nodes[0].note(e)
	}
	for _, p := range c.nodes {
		p.alive = true
	}
	c.nodes[2].note(node.Event{At: 10, Kind: node.Lead})
	if c.after(c.nodes[2], 10) != nil {
		t.Error("a node that led before counts as the next leader")
	}
	if c.agreed() {
		t.Error("nodes agree that know no leader")
	}
	c.nodes[0].note(node.Event{At: 20, Kind: node.Lead})
	if c.after(c.nodes[2], 10) != c.nodes[0] || c.leader() != c.nodes[0] {
		t.Error("the next leader does not count")
	}
	into := cell{}
	c.nodes[2].note(node.Event{At: 30, Kind: node.Lost, Arg: int64(20 + 3*time.Millisecond)})
	into.believed(c.nodes[2], c.nodes[0], 10, true)
	if !slices.Equal(into.Both, []float64{3}) {
		t.Errorf("both lead for %v ms, not for 3", into.Both)
	}
}

func TestASystemThatCannotRunHereIsSkippedWithItsReason(t *testing.T) {
	list := []string{"ringleader", "keepalived", "sentinel-500"}
	t.Setenv("PATH", "")
	chosen, skipped := choose(list, true)
	want := []string{"keepalived is skipped: keepalived is not installed", "sentinel-500 is skipped: redis-server is not installed"}
	if len(chosen) != 1 || chosen[0].Name != "ringleader" || !slices.Equal(skipped, want) {
		t.Errorf("without programs %v is chosen, and %q", chosen, skipped)
	}
	folder := t.TempDir()
	for _, name := range []string{"keepalived", "redis-server"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
	chosen, skipped = choose(list, false)
	if len(chosen) != 2 || len(skipped) != 1 || !strings.Contains(skipped[0], "keepalived is skipped: its nodes need network namespaces") {
		t.Errorf("without namespaces %v is chosen, and %q", chosen, skipped)
	}
	if chosen, skipped = choose(list, true); len(chosen) != 3 || skipped != nil {
		t.Errorf("%v is chosen, and %q", chosen, skipped)
	}
}

func TestAGroupOfProcessesIsSignalledAndCountedAsOneMember(t *testing.T) {
	shell := exec.Command("sh", "-c", `trap "kill %1 %2; exit 7" TERM; sleep 1000 & sleep 1000 & echo; wait`)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := shell.StdoutPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // both children run
		t.Fatal(err)
	}
	p := &process{cmd: shell, pid: -shell.Process.Pid}
	if children := p.member(); len(children) != 2 || slices.Contains(children, shell.Process.Pid) || p.warded() {
		t.Errorf("process %d has the group %v", shell.Process.Pid, children)
	}
	if err := p.signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = shell.Wait()
	if status := shell.ProcessState.ExitCode(); status != 7 {
		t.Errorf("SIGTERM is for the first process of a group, which ends with %d", status)
	}
}

// It compiles etcd and NATS, which takes minutes, so CI leaves it out: it is run by hand.
func TestEverySystemElectsAgainAfterEachFault(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all systems")
	}
	path := filepath.Join(t.TempDir(), "results.json")
	if err := run(t.Context(), []string{"--parts", "failover", "--members", "3", "--rounds", "1", "--slice", "1s", "--json", path}); err != nil {
		t.Fatal(err)
	}
	r, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	chosen, _ := choose(names(), os.Geteuid() == 0)
	for _, s := range chosen {
		for _, fault := range []string{kill, terminate} {
			if c := r.cell(&s, 3, fault); len(c.Times) != 1 {
				t.Errorf("%s, %s: a next leader %d times, not once; problems %q", s.Name, fault, len(c.Times), r.Problems)
			}
		}
	}
}
