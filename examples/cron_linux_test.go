package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/examples/internal/sqlite"
	"ringleader.example/ringleader/internal/core/needs"
)

// schedule is three processes that run the jobs of a file.
type schedule struct {
	*group
	folder string
	ledger sqlite.Database
	pids   map[int]int // of the members; the group knows their wardens
}

// newSchedule makes a file of one job, in whose command $FOLDER stands for the folder of the test.
func newSchedule(t *testing.T, times, command string, flags ...string) *schedule {
	needs.Program(t, "sqlite3", "sqlite3")
	folder := t.TempDir()
	command = strings.ReplaceAll(command, "$FOLDER", folder)
	file := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(file("jobs"), []byte("job | "+times+" | "+command+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &schedule{
		group:  newGroup(t, "cron", append(flags, "--jobs", file("jobs"), "--runs", file("runs.db"))...),
		folder: folder, ledger: sqlite.Database{Command: "sqlite3", File: file("runs.db")}, pids: map[int]int{},
	}
	s.revived = func(id int) { delete(s.pids, id) }
	t.Cleanup(s.end)
	return s
}

// processLine is where a process tells its number.
const processLine = `^process (\d+)$`

func (s *schedule) start(ids ...int) {
	for _, id := range ids {
		delete(s.pids, id)
	}
	s.group.start(ids...)
	for _, id := range ids {
		s.pid(id)
	}
}

// pid returns the number of a member.
func (s *schedule) pid(id int) int {
	for s.pids[id] == 0 { // it starts again
		if l, parts := s.await(processLine); s.processes[l.id] == l.of { // it has not ended
			s.pids[l.id], _ = strconv.Atoi(parts[1])
		}
	}
	return s.pids[id]
}

// kill kills a member. Its warden kills what that leaves, and ends.
func (s *schedule) kill(id int) {
	for _, l := range s.latest(processLine) {
		if s.processes[l.id] == l.of {
			s.pids[l.id] = numberIn(l.text)
		}
	}
	if s.pids[id] == 0 {
		s.group.kill(id) // it has not told its number
		return
	}
	_ = syscall.Kill(s.pids[id], syscall.SIGKILL) // the member may have ended
	s.processes[id].Wait()                        // its error is the signal
	delete(s.processes, id)
}

// end kills all members. One that has ended may start again meanwhile.
func (s *schedule) end() {
	for len(s.processes) > 0 {
		for id := range s.processes {
			s.kill(id)
		}
	}
}

// stop stops a member, which may have ended just now.
func (s *schedule) stop(id int) {
	if err := syscall.Kill(s.pid(id), syscall.SIGSTOP); err != nil && err != syscall.ESRCH {
		s.t.Fatal(err)
	}
}

// journal returns the lines that commands have written.
func (s *schedule) journal() []string {
	text, err := os.ReadFile(filepath.Join(s.folder, "journal"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// recorded is a row of the ledger.
type recorded struct {
	due   time.Time
	state string
}

// rows returns the runs of the job.
func (s *schedule) rows() (rows []recorded) {
	text, err := s.ledger.Run(s.t.Context(), "SELECT due || ' ' || state FROM runs WHERE state != 'first' ORDER BY due")
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		var seconds int64
		var r recorded
		if _, err := fmt.Sscan(line, &seconds, &r.state); err != nil {
			s.t.Fatal(err)
		}
		r.due = time.Unix(seconds, 0).UTC()
		rows = append(rows, r)
	}
	return rows
}

// settled waits until the ledger has n runs, none of which goes on. A process that is killed just then has written, and does not print it.
func (s *schedule) settled(n int) (rows []recorded) {
	s.t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for late := time.Now().Add(patience); ; <-ticker.C {
		s.latest(`^$`) // takes note of ends, so that a process that has ended starts again
		rows = s.rows()
		if len(rows) >= n && !slices.ContainsFunc(rows, func(r recorded) bool { return r.state == "running" }) {
			return rows
		}
		if time.Now().After(late) {
			s.t.Fatalf("the ledger has %v", rows)
		}
	}
}

const doneLine = `^term \d+: job of (\S+) is done$`

func TestEachDueTimeHasOneRunThroughKillsAndStops(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	for name, flags := range map[string][]string{"at most once": nil, "at least once": {"--repeat"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it takes seconds, because cron counts them
			s := newSchedule(t, "@every 1s", "echo $DUE >>$FOLDER/journal", flags...)
			s.start(1, 2, 3)
			leader, _ := s.next(doneLine)
			s.kill(leader)
			s.next(doneLine)
			s.start(leader)
			leader, _ = s.next(doneLine)
			s.stop(leader)
			for id := leader; id == leader; {
				id, _ = s.next(doneLine)
			}
			s.kill(leader)
			s.start(leader)
			s.next(doneLine)
			s.end()
			journal, rows := s.journal(), s.rows()
			for i, r := range rows {
				if i > 0 && r.due.Sub(rows[i-1].due) != time.Second {
					t.Errorf("%v follows %v", r, rows[i-1])
				}
				times := 0
				for _, due := range journal {
					if due == r.due.Format(time.RFC3339) {
						times++
					}
				}
				switch most := len(flags) == 0; {
				case r.state == "done" && times == 0, most && times > 1:
					t.Errorf("%v ran %d times", r, times)
				case !most && i < len(rows)-1 && r.state != "done":
					t.Errorf("%v is not done", r)
				}
			}
			if len(rows) < 4 {
				t.Errorf("the ledger has %v", rows)
			}
		})
	}
}

func TestARunWhoseLeaderDiesIsAbandonedOrRepeated(t *testing.T) {
	t.Parallel()
	const command = "echo begins $DUE >>$FOLDER/journal; echo waits; while [ -e $FOLDER/hold ]; do sleep 0.02; done; echo ends $DUE >>$FOLDER/journal"
	for name, c := range map[string]struct {
		flags        []string
		what         string
		begins, ends int
	}{
		"at most once":  {nil, "abandoned", 1, 0},
		"at least once": {[]string{"--repeat"}, "running", 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSchedule(t, "@every 1s", command, c.flags...)
			hold := filepath.Join(s.folder, "hold")
			if err := os.WriteFile(hold, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s.start(1, 2, 3)
			leader, _ := s.next(`^waits$`)
			runs, parts := s.next(`^term \d+: job of (\S+) is running$`)
			for runs != leader { // a machine that stood still has ended a run before
				leader, _ = s.next(`^waits$`)
				runs, parts = s.next(`^term \d+: job of (\S+) is running$`)
			}
			s.kill(leader)
			id, again := s.next(`^term \d+: job of ` + regexp.QuoteMeta(parts[1]) + ` is ` + c.what + `$`)
			if id == leader {
				t.Errorf("process %d writes %q after it was killed in that run", id, again[0])
			}
			if err := os.Remove(hold); err != nil {
				t.Fatal(err)
			}
			s.next(doneLine)
			s.next(doneLine)
			most := c.begins + len(s.latest(`^term \d+: job of `+regexp.QuoteMeta(parts[1])+` is running$`)) // a stalled machine abandons a run once more
			journal := strings.Join(s.journal(), " ")
			if b, e := strings.Count(journal, "begins "+parts[1]), strings.Count(journal, "ends "+parts[1]); b < c.begins || b > most || e != c.ends {
				t.Errorf("the run of %s begins %d times and ends %d times: %s", parts[1], b, e, journal)
			}
		})
	}
}

func TestWhatWasMissedWithoutALeaderIsCaughtUpOrSkipped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ late, state string }{
		"caught up": {"24h", "done"},
		"skipped":   {"1m", "skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSchedule(t, "@every 10m", "echo $DUE >>$FOLDER/journal", "--late", c.late)
			last := time.Now().Add(-35 * time.Minute).Truncate(time.Second).UTC()
			_, err := s.ledger.Run(s.t.Context(), fmt.Sprintf("CREATE TABLE runs (job TEXT, due INTEGER, state TEXT, term INTEGER, PRIMARY KEY (job, due)); INSERT INTO runs VALUES ('job', %d, 'first', 0)", last.Unix()))
			if err != nil {
				t.Fatal(err)
			}
			s.start(1, 2)
			rows, others := s.settled(3), 0
			for i, r := range rows {
				if r.state == "abandoned" && c.state == "done" { // a machine that stood still has ended its leader
					others++
					r.state = c.state
				}
				if want := (recorded{last.Add(time.Duration(i+1) * 10 * time.Minute), c.state}); r != want {
					t.Errorf("the ledger has %v, not %v", r, want)
				}
			}
			if len(rows) != 3 || others == 3 {
				t.Errorf("the ledger has %v", rows)
			}
			if _, err := os.Stat(filepath.Join(s.folder, "journal")); os.IsNotExist(err) != (c.state == "skipped") {
				t.Errorf("the commands of runs that are %s: %v", c.state, err)
			}
		})
	}
}
