package chaos

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/explain"
	flight "ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/rig"
)

var (
	seed    = flag.Uint64("seed", 1, "of the first episode")
	faults  = flag.Int("faults", 50, "how many")
	longRun = flag.Bool("long", false, "longer episodes, with a line for each")
	beside  = flag.Int("beside", 1, "how many episodes run beside each other")
	packets = flag.Bool("packets", false, "cut and lose packets between namespaces of networks, instead of holding back data; root can do that")
	logs    = flag.String("logs", "", "the directory for logs of all members; empty: none")
	draw    = flag.String("draw", os.TempDir(), "the directory for drawings of episodes with a violation")
)

func TestMain(m *testing.M) {
	agent.Be()
	if len(os.Args) > 1 && os.Args[1] == commandRole {
		beCommand(os.Args[2])
	}
	switch role := os.Getenv(variable); role {
	case "":
	case burn:
		for n := 0; ; n++ { // to load a core is all that it does
		}
	default:
		beMember(role)
	}
	rig.Environment()
	// A member whose warden is killed becomes a child of this process, which waits for its end.
	const subreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, subreaper, 1, 0); errno != 0 {
		fmt.Fprintln(os.Stderr, "prctl:", errno)
	}
	os.Exit(m.Run())
}

// counts are what a run consists of.
type counts struct {
	mu                      sync.Mutex
	made                    map[string]int
	faults, episodes, lives int
	tenures, operations     int
	commands                int // tenures in which a command has run
	late, entries           int
	compared                int // steps, with the model
	hung, falseKills        int // leaders that wardens killed as hung; of these, the leaders that the test had not stopped
	agreed                  []time.Duration
}

// TestChaos makes random faults in groups of real processes; the package comment has what is judged.
func TestChaos(t *testing.T) {
	each := 25
	if *longRun {
		each = 60
	}
	if testing.Short() {
		*faults = min(*faults, each)
	}
	c := &counts{made: map[string]int{}}
	begun := time.Now()
	episodes := make(chan int)
	var workers sync.WaitGroup
	for range *beside {
		workers.Go(func() {
			for i := range episodes {
				s := *seed + uint64(i)
				t.Run(fmt.Sprint(s), func(t *testing.T) { c.episode(t, s, min(each, *faults-i*each), i == 0) })
				if *longRun {
					fmt.Printf("%v: %v\n", time.Since(begun).Round(time.Second), c)
				}
			}
		})
	}
	for i := 0; i*each < *faults && !t.Failed(); i++ {
		episodes <- i
	}
	close(episodes)
	workers.Wait()
	t.Logf("seeds from %d, %v: %v", *seed, time.Since(begun).Round(time.Second), c)
	if len(c.agreed) == 0 || c.tenures <= c.episodes {
		t.Errorf("the faults have had no effect: %v", c)
	}
}

func (c *counts) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.agreed)
	var median, longest time.Duration
	if n := len(c.agreed); n > 0 {
		median, longest = c.agreed[n/2], c.agreed[n-1]
	}
	var made []string
	for _, name := range slices.Sorted(maps.Keys(c.made)) {
		made = append(made, fmt.Sprintf("%s %d", name, c.made[name]))
	}
	return fmt.Sprintf("%d faults (%s) in %d episodes with %d processes, %d tenures, %d of them with a command, %d operations; %d of %d entries without a fence were late; %d steps are of the model; wardens killed %d hung leaders, of which the test had not stopped %d; agreement after the repair %v in the median, %v at most",
		c.faults, strings.Join(made, ", "), c.episodes, c.lives, c.tenures, c.commands, c.operations, c.late, c.entries, c.compared, c.hung, c.falseKills, median.Round(time.Millisecond), longest.Round(time.Millisecond))
}

// episode makes faults in a new group. The records are compared with the model, and those of the first group are explained.
func (c *counts) episode(t *testing.T, seed uint64, faults int, first bool) {
	connect := newRelays
	if *packets {
		connect = newNamespaces
	}
	m := newMonkey(t, seed, connect)
	for range faults {
		if t.Failed() {
			break
		}
		m.act()
		m.pass(time.Duration(m.r.Int64N(int64(m.gap))))
	}
	m.repair()
	agreed := m.agree()
	m.close()
	if *longRun && agreed > 3*lease {
		fmt.Printf("seed %d: agreement after the repair took %v\n", seed, agreed.Round(time.Millisecond))
	}
	records := m.records()
	for _, judgement := range [][]string{judgeLeases(records), judgeWork(records), judgeRegister(records, c.file(seed, "html"))} {
		for _, fault := range judgement {
			m.violated("%s", fault)
		}
	}
	groups := m.joined()
	c.count(m, records, agreed, m.compare(groups))
	if first {
		m.explained(groups)
	}
	if t.Failed() {
		name, kept := c.file(seed, "svg"), c.file(seed, "rec")
		m.must(m.drawTo(name, records))
		m.must(m.keepRecords(kept))
		t.Logf("seed %d, drawn in %s; why the leader changed: ringleader explain %s\n%s", seed, name, kept, m.timeline())
	}
}

// explained checks that the records tell changes of the leader, as they have to when an episode fails.
func (m *monkey) explained(groups []*explain.Group) {
	if len(groups) != 1 || len(groups[0].Changes) == 0 || len(groups[0].Missing) > 0 {
		m.violated("the records do not tell why the leader has changed: %+v", groups)
	}
}

// compare compares the joined records with the model, and returns how many steps are of it. In the model stores survive, so there are none if one was
// lost. Records with clocks that are wrong may not tell the order of steps.
func (m *monkey) compare(groups []*explain.Group) (steps int) {
	const most = 2000
	for _, g := range groups {
		c := g.Check(most)
		if c.Broken != "" {
			m.violated("the run is none of the model: %s", c.Broken)
		}
		switch {
		case c.Without == "":
		case m.drifts || m.made[lostStore] > 0:
			m.t.Log(c.Without)
		default:
			m.violated("the run is not compared with the model: %s", c.Without)
		}
		steps += c.Steps
	}
	return steps
}

// joined joins the records of all members.
func (m *monkey) joined() []*explain.Group {
	name := filepath.Join(m.t.TempDir(), "episode.rec")
	m.must(m.keepRecords(name))
	archive, err := os.ReadFile(name)
	m.must(err)
	return explain.Of(flight.Parse(name, archive)).Groups
}

func (*counts) file(seed uint64, ending string) string {
	return filepath.Join(*draw, fmt.Sprintf("ringleader-chaos-%d.%s", seed, ending))
}

func (c *counts) count(m *monkey, records []*record, agreed time.Duration, compared int) {
	all, _ := tenures(records)
	late, entries := m.register.late()
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, n := range m.made {
		c.made[name] += n
		c.faults += n
	}
	c.episodes++
	c.lives += len(records)
	c.tenures += len(all)
	c.operations += len(operations(records))
	c.late += late
	c.entries += entries
	c.agreed = append(c.agreed, agreed)
	c.compared += compared
	c.falseKills += m.falseKills
	c.commands += commands(records)
	for _, l := range m.all {
		if l.hung {
			c.hung++
		}
	}
}
