package explain_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/storage"
)

// rounds is how often each cause is made on real processes. 0: three causes, once. Groups run at the same time, as many as -parallel allows. No round begins
// when three minutes are left of -timeout.
//
//	go test ./internal/serve/explain -v -run OfRealProcesses -rounds 50 -timeout 0
var rounds = flag.Int("rounds", 0, "how often each cause is made on real processes; 0: three of them, once")

// memberRole is the first argument of this binary when it is a member.
const memberRole = "explain-member"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == memberRole {
		if err := beMember(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	rig.Environment()
	_ = flag.Set("test.parallel", "4") // the trials of real processes wait, also for each other; a flag of the command line counts more
	flag.Parse()
	os.Exit(m.Run())
}

// role is what a member is told at its start.
type role struct {
	ID      uint64
	Data    string
	Members []ringleader.MemberAddress
	Listen  string
	Hang    time.Duration
	Preempt bool
}

// beMember runs a member under a warden. Its lines on stdin are commands; each change of its view is a line of stdout.
func beMember(text string) error {
	if err := ringleader.Warden(); err != nil {
		return err
	}
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	var sick, stalls, breaks atomic.Bool
	timing := ringleader.LAN()
	timing.Hang, timing.Preempt = r.Hang, time.Second
	store, err := storage.Open(r.Data, storage.Owner{Member: r.ID})
	if err != nil {
		return err
	}
	m, err := ringleader.Join(context.Background(), ringleader.Config{
		ID: r.ID, Storage: stalling{store, &stalls, &breaks}, Record: ringleader.Record{Directory: filepath.Join(r.Data, "record")}, Members: r.Members, Listen: r.Listen, Insecure: true, Timing: timing, Preempt: r.Preempt,
		Health: ringleader.HealthCheck{Interval: 100 * time.Millisecond, Rise: 1, Fall: 1, Check: func(context.Context) error {
			if sick.Load() {
				return errors.New("no database")
			}
			return nil
		}},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			switch verb, argument, _ := strings.Cut(lines.Text(), " "); verb {
			case "resign":
				go m.Resign(ctx)
			case "transfer":
				id, _ := strconv.ParseUint(argument, 10, 64)
				_ = m.Transfer(id)
			case "sick":
				sick.Store(true)
			case "stall":
				stalls.Store(true)
			case "break":
				breaks.Store(true)
				go m.RemoveMember(ctx, 1) // it saves something
			}
		}
		stop() // the test has ended
	}()
	for v := range m.Observe(ctx) {
		fmt.Println(os.Getpid(), v.Role, v.Leader, v.Term)
	}
	return m.Close()
}

// stalling is a storage that gives no answer from some time on, or fails.
type stalling struct {
	*storage.Directory
	stalls, breaks *atomic.Bool
}

// Save fails from some time on, and nobody knows what is durable then.
func (s stalling) Save(records []storage.Record) error {
	if s.breaks.Load() {
		return storage.ErrFlush
	}
	return s.Directory.Save(records)
}

// Probe implements [storage.Prober].
func (s stalling) Probe() error {
	if s.stalls.Load() {
		<-make(chan struct{})
	}
	return s.Directory.Probe()
}

// real is a group of real processes.
type real struct {
	*testing.T
	folder  string
	roles   [4]role // by identifier
	links   map[[2]uint64]*rig.Link
	wardens [4]*exec.Cmd
	stdin   [4]io.Writer
	output  [4]*rig.Text
}

func newReal(t *testing.T, hang time.Duration, preempt bool) *real {
	g := &real{T: t, folder: t.TempDir(), links: map[[2]uint64]*rig.Link{}}
	addresses, err := rig.FreeAddresses(3)
	g.must(err)
	for id := uint64(1); id <= 3; id++ {
		r := role{ID: id, Data: filepath.Join(g.folder, strconv.FormatUint(id, 10)), Listen: addresses[id-1], Hang: hang, Preempt: preempt}
		g.must(ringleader.Init(r.Data, "", id))
		for other := uint64(1); other <= 3; other++ {
			address := addresses[other-1]
			if other != id {
				link, err := rig.NewLink(address)
				g.must(err)
				t.Cleanup(link.Close)
				g.links[[2]uint64{id, other}] = link
				address = link.Address()
			}
			r.Members = append(r.Members, ringleader.MemberAddress{ID: other, Address: address})
		}
		g.roles[id] = r
	}
	for id := uint64(1); id <= 3; id++ {
		g.start(id)
	}
	g.leads(3)
	return g
}

func (g *real) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

func (g *real) start(id uint64) {
	text, err := json.Marshal(g.roles[id])
	g.must(err)
	c := exec.Command(os.Args[0], memberRole, string(text))
	g.output[id] = &rig.Text{}
	c.Stdout, c.Stderr, c.WaitDelay = g.output[id], g.output[id], time.Minute
	stdin, err := c.StdinPipe()
	g.must(err)
	g.must(c.Start())
	g.wardens[id], g.stdin[id] = c, stdin
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait() // it may be killed
	}()
	g.Cleanup(func() {
		_ = c.Process.Kill()
		stdin.Close()
		<-ended
	})
}

// views returns what a member has printed about its views.
func (g *real) views(id uint64) (views [][]string) {
	for line := range strings.Lines(g.output[id].String()) {
		if fields := strings.Fields(line); len(fields) == 4 && !strings.Contains(line, "=") {
			views = append(views, fields)
		}
	}
	return views
}

// until waits for a condition.
func (g *real) until(what string, holds func() bool) {
	g.Helper()
	const look = 5 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	for waited := time.Duration(0); !holds(); waited += look { // a machine that stands still makes no looks
		if waited > time.Minute {
			g.Fatalf("never: %s\n%s\n%s\n%s", what, g.output[1], g.output[2], g.output[3])
		}
		<-tick.C
	}
}

// leads lets a member lead, and waits until all follow it, and for some renewals.
func (g *real) leads(id uint64) {
	g.Helper()
	is := func() (leader string, agreed bool) {
		for n := uint64(1); n <= 3; n++ {
			views := g.views(n)
			if len(views) == 0 || n > 1 && views[len(views)-1][2] != leader {
				return "", false
			}
			leader = views[len(views)-1][2]
		}
		return leader, leader != "0"
	}
	g.until("they agree", func() bool {
		leader, agreed := is()
		if agreed && leader != strconv.FormatUint(id, 10) {
			n, _ := strconv.Atoi(leader)
			fmt.Fprintln(g.stdin[n], "transfer", id)
			g.passes(50 * time.Millisecond)
		}
		return agreed && leader == strconv.FormatUint(id, 10)
	})
	g.passes(700 * time.Millisecond)
}

// passes lets a time pass.
func (g *real) passes(d time.Duration) {
	limit := time.NewTimer(d)
	defer limit.Stop()
	<-limit.C
}

// pid returns the process of a member, below its warden.
func (g *real) pid(id uint64) int {
	views := g.views(id)
	pid, _ := strconv.Atoi(views[len(views)-1][0])
	return pid
}

// term returns the term that a member knows.
func (g *real) term(id uint64) uint64 {
	views := g.views(id)
	term, err := strconv.ParseUint(views[len(views)-1][3], 10, 64)
	g.must(err)
	return term
}

func (g *real) signal(id uint64, s syscall.Signal) { g.must(syscall.Kill(g.pid(id), s)) }

// tell gives a command to member 3, and waits until its lead has ended. On a busy machine its successor may be late, and it leads again.
func (g *real) tell(command string) {
	before := len(g.views(3))
	fmt.Fprintln(g.stdin[3], command)
	g.until("the lead of member 3 has ended", func() bool { return len(g.views(3)) > before })
	g.passes(700 * time.Millisecond)
}

// another waits until 1 or 2 leads.
func (g *real) another() {
	g.Helper()
	g.until("another member leads", func() bool {
		for id := uint64(1); id <= 2; id++ {
			if views := g.views(id); len(views) > 0 && views[len(views)-1][1] == "leader" {
				return true
			}
		}
		return false
	})
	g.passes(300 * time.Millisecond)
}

// cut cuts what member 3 sends to the others, what they send to it, or both. Connections may be reset.
func (g *real) cut(there, back, reset bool) {
	for n := uint64(1); n <= 2; n++ {
		to, from := g.links[[2]uint64{3, n}], g.links[[2]uint64{n, 3}]
		to.Set(rig.Way{Cut: there}, rig.Way{Cut: back}) // both connections carry both directions
		from.Set(rig.Way{Cut: back}, rig.Way{Cut: there})
		if reset {
			to.Reset()
			from.Reset()
		}
	}
	g.another()
}

// slow delays what member 3 and others exchange.
func (g *real) slow(delay time.Duration, others ...uint64) {
	way := rig.Way{Delay: func() time.Duration { return delay }}
	for _, n := range others {
		g.links[[2]uint64{3, n}].Set(way, way)
		g.links[[2]uint64{n, 3}].Set(way, way)
	}
}

// made is a cause that is made on real processes.
type made struct {
	cause   explain.Cause
	or      explain.Cause // of a pair, whose other cause is as right; empty: none is
	hang    time.Duration
	preempt bool
	from    uint64 // whose lead ends; 0: that of 3
	fault   func(g *real)
}

var all = map[string]made{
	"kill -9": {cause: explain.Killed, fault: func(g *real) { g.signal(3, syscall.SIGKILL); g.another() }},
	"kill -9 of all of the leader": {cause: explain.Killed, fault: func(g *real) {
		g.signal(3, syscall.SIGSTOP) // so that it tells nothing
		_ = g.wardens[3].Process.Kill()
		g.another()
	}},
	"kill -9 of the warden of the leader": {cause: explain.Killed, fault: func(g *real) { // which ends with it
		_ = g.wardens[3].Process.Kill()
		g.another()
	}},
	"kill -9 of all members, and a restart": {cause: explain.Killed, or: explain.Followers, fault: func(g *real) {
		for id := uint64(1); id <= 3; id++ {
			g.signal(id, syscall.SIGSTOP)
			_ = g.wardens[id].Process.Kill()
		}
		for id := uint64(1); id <= 3; id++ {
			g.start(id)
		}
		g.until("one leads again", func() bool {
			for id := uint64(1); id <= 3; id++ {
				if views := g.views(id); len(views) > 0 && views[len(views)-1][1] == "leader" {
					return true
				}
			}
			return false
		})
		g.passes(300 * time.Millisecond)
	}},
	"transfer to a member that is killed": {cause: explain.Transferred, fault: func(g *real) {
		g.signal(1, syscall.SIGSTOP)
		fmt.Fprintln(g.stdin[3], "transfer 1")
		g.signal(1, syscall.SIGKILL)
		g.until("member 2 leads, or 3 again", func() bool {
			two, three := g.views(2), g.views(3)
			return two[len(two)-1][1] == "leader" || three[len(three)-1][1] == "leader" && g.term(3) > 1
		})
		g.passes(700 * time.Millisecond)
	}},
	"SIGSTOP, with a hang of 300 ms": {cause: explain.Hung, hang: 300 * time.Millisecond, fault: func(g *real) { g.signal(3, syscall.SIGSTOP); g.another() }},
	"SIGSTOP, and SIGCONT": {cause: explain.StoodStill, fault: func(g *real) {
		g.signal(3, syscall.SIGSTOP)
		g.another()
		g.signal(3, syscall.SIGCONT)
		g.passes(time.Second)
	}},
	"a tenth of the processor": {cause: explain.Starved, fault: func(g *real) {
		for _, d := range []time.Duration{250, 250, 250, 250, 600} {
			g.signal(3, syscall.SIGSTOP)
			g.passes(d * time.Millisecond)
			g.signal(3, syscall.SIGCONT)
			g.passes(5 * time.Millisecond)
		}
		g.passes(time.Second)
	}},
	"links, both ways":       {cause: explain.Links, fault: func(g *real) { g.cut(true, true, false) }},
	"links, from the leader": {cause: explain.Links, fault: func(g *real) { g.cut(true, false, false) }},
	"links, to the leader":   {cause: explain.Links, fault: func(g *real) { g.cut(false, true, false) }},
	"slow links": {cause: explain.Late, fault: func(g *real) {
		g.slow(240*time.Millisecond, 1, 2)
		g.another()
	}},
	"slow links, and kill -9": {cause: explain.Late, or: explain.Killed, fault: func(g *real) {
		g.slow(240*time.Millisecond, 1, 2)
		g.passes(100 * time.Millisecond)
		g.signal(3, syscall.SIGKILL)
		g.another()
	}},
	"a follower killed, and a slow link to the other": {cause: explain.Late, or: explain.Followers, fault: func(g *real) {
		g.signal(1, syscall.SIGKILL)
		g.slow(240*time.Millisecond, 2)
		g.passes(2 * time.Second)
	}},
	"a follower killed, and the other stopped": {cause: explain.Followers, fault: func(g *real) {
		g.signal(1, syscall.SIGKILL)
		g.signal(2, syscall.SIGSTOP)
		g.passes(1500 * time.Millisecond)
		g.signal(2, syscall.SIGCONT)
		g.passes(500 * time.Millisecond)
	}},
	"a check that fails, and kill -9 of a follower": {cause: explain.Health, or: explain.Followers, fault: func(g *real) {
		g.signal(1, syscall.SIGKILL)
		g.tell("sick")
	}},
	"resign, and SIGTERM": {cause: explain.Resigned, or: explain.Closed, fault: func(g *real) {
		g.signal(3, syscall.SIGTERM)
		fmt.Fprintln(g.stdin[3], "resign")
		g.another()
	}},
	"links, with lost connections": {cause: explain.Links, fault: func(g *real) { g.cut(true, true, true) }},
	"resign":                       {cause: explain.Resigned, fault: func(g *real) { g.tell("resign") }},
	"transfer":                     {cause: explain.Transferred, fault: func(g *real) { g.tell("transfer 1") }},
	"SIGTERM":                      {cause: explain.Closed, fault: func(g *real) { g.signal(3, syscall.SIGTERM); g.another() }},
	"a check that fails":           {cause: explain.Health, fault: func(g *real) { g.tell("sick") }},
	"a disk without an answer":     {cause: explain.Disk, fault: func(g *real) { g.tell("stall") }},
	"preemption": {cause: explain.Preempted, preempt: true, from: 2, fault: func(g *real) {
		g.signal(3, syscall.SIGKILL)
		g.another()
		g.start(3)
		g.until("member 3 leads", func() bool {
			views := g.views(3)
			return len(views) > 0 && views[len(views)-1][1] == "leader"
		})
	}},
	"a save that fails": {cause: explain.Failed, fault: func(g *real) { g.tell("break") }},
	"a disk without an answer, and a check that fails": {cause: explain.Disk, or: explain.Health, fault: func(g *real) {
		fmt.Fprintln(g.stdin[3], "sick")
		g.tell("stall")
	}},
	"a follower killed, and links to the other": {cause: explain.Links, or: explain.Followers, fault: func(g *real) {
		g.signal(1, syscall.SIGKILL)
		to, from := g.links[[2]uint64{3, 2}], g.links[[2]uint64{2, 3}]
		to.Set(rig.Way{Cut: true}, rig.Way{Cut: true})
		from.Set(rig.Way{Cut: true}, rig.Way{Cut: true})
		g.passes(2 * time.Second)
	}},
	"links, and SIGTERM": {cause: explain.Links, or: explain.Closed, fault: func(g *real) {
		g.signal(3, syscall.SIGTERM)
		g.cut(true, true, false)
	}},
	"SIGSTOP, and kill -9": {cause: explain.StoodStill, or: explain.Killed, fault: func(g *real) {
		g.signal(3, syscall.SIGSTOP)
		g.passes(100 * time.Millisecond)
		g.signal(3, syscall.SIGKILL)
		g.another()
	}},
	"both followers killed": {cause: explain.Followers, fault: func(g *real) {
		g.signal(1, syscall.SIGKILL)
		g.signal(2, syscall.SIGKILL)
		g.passes(1500 * time.Millisecond)
	}},
}

// longestTimer is how late a timer may be on a machine that does not stand still.
const longestTimer = 100 * time.Millisecond

// few are the causes that are made each time that tests run.
var few = []string{"kill -9", "SIGSTOP, and SIGCONT", "links, to the leader"}

// result is what was told.
type result struct {
	cause explain.Cause
	how   explain.Certainty
}

// table has what was told of what was made, and how often.
func table(names []string, matrix map[string]map[result]int) string {
	var table strings.Builder
	table.WriteString("| made | told |\n| --- | --- |\n")
	for _, name := range names {
		var told []string
		for r, n := range matrix[name] {
			told = append(told, fmt.Sprintf("%d × %s (%s)", n, r.cause, r.how))
		}
		slices.Sort(told)
		fmt.Fprintf(&table, "| %s | %s |\n", name, strings.Join(told, ", "))
	}
	return table.String()
}

func TestTheCausesOfRealProcessesAreFound(t *testing.T) {
	t.Parallel()
	names, times := few, 1
	if *rounds > 0 {
		names, times = slices.Sorted(maps.Keys(all)), *rounds
	}
	var mu sync.Mutex
	matrix := map[string]map[result]int{}
	right, total := 0, 0
	for _, name := range names {
		matrix[name] = map[result]int{}
	}
	trial := func(t *testing.T, name string) {
		m := all[name]
		stalled := rig.Standstill() // which is a cause of its own, also while member 3 renews its lease before the fault
		g := newReal(t, m.hang, m.preempt)
		term := g.term(3)
		m.fault(g)
		still := stalled()
		records, err := record.Open(t.Context(), g.folder)
		g.must(err)
		report := explain.Of(records)
		if len(report.Groups) != 1 {
			t.Fatalf("%d groups", len(report.Groups))
		}
		changes := &report.Groups[0].Changes // those of lower terms are of the setup
		*changes = slices.DeleteFunc(*changes, func(c explain.Change) bool { return c.FromTerm < term })
		if len(*changes) == 0 && still > longestTimer {
			t.Skipf("this machine has stood still for %v, and member 3 did not lead when the fault came", still)
		}
		c := change(t, report.Groups[0], cmp.Or(m.from, 3), m.cause)
		mu.Lock()
		defer mu.Unlock()
		matrix[name][result{c.Cause, c.Certainty}]++
		total++
		switch {
		case c.Cause == m.cause || c.Cause == m.or:
			right++
		case still > longestTimer && (c.Cause == explain.StoodStill || c.Cause == explain.Starved):
			t.Logf("this machine has stood still for %v, and it tells so: %s %q", still, c.Text, c.Evidence)
			total--
		case c.Certainty == explain.Certain:
			t.Errorf("it is certain of %s, and it was %s: %q", c.Cause, m.cause, c.Evidence)
		default:
			t.Logf("WRONG: %s, %s: %s %q", c.Cause, c.Certainty, c.Text, c.Evidence)
		}
		if v := report.Groups[0].Violations; len(v) > 0 {
			t.Errorf("%+v", v)
		}
	}
	t.Run("all", func(t *testing.T) { // it ends when all trials have
		for range times {
			for _, name := range names {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					if ends, limited := t.Deadline(); limited && *rounds > 0 && time.Until(ends) < 3*time.Minute {
						t.Skip("the time is over")
					}
					trial(t, name)
				})
			}
		}
	})
	t.Logf("%d of %d are right\n%s", right, total, table(names, matrix))
	if 100*right < 95*total && *rounds > 0 {
		t.Errorf("%d of %d are right", right, total)
	}
}
