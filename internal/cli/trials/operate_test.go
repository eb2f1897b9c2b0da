//go:build unix

package trials

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/certificates"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
)

// trio is a group of three members, each a process of its own.
type trio struct {
	t         *testing.T
	data      [3]string
	http      [3]string
	https     [3]string
	members   []string // flags
	certified [][]string
	operator  []string
	authority string // its directory
}

func newTrio(t *testing.T) *trio {
	t.Helper()
	addresses, err := rig.FreeAddresses(9)
	if err != nil {
		t.Fatal(err)
	}
	g := &trio{t: t, authority: t.TempDir()}
	if _, err := certificates.Make(certificates.Order{Directory: g.authority, Group: "jobs", IDs: []uint64{1, 2, 3}, Operator: true, Lasts: time.Hour}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		id := uint64(i + 1)
		g.data[i] = filepath.Join(t.TempDir(), strconv.Itoa(i+1))
		if err := ringleader.Init(g.data[i], "jobs", id); err != nil {
			t.Fatal(err)
		}
		g.members = append(g.members, "--member", fmt.Sprintf("%d=%s", id, addresses[i]))
		g.http[i], g.https[i] = addresses[3+i], addresses[6+i]
		g.certified = append(g.certified, g.files(fmt.Sprint(id)))
	}
	g.operator = g.files("operator")
	return g
}

// files are the flags with the files of a certificate.
func (g *trio) files(name string) []string {
	return []string{"--cert", filepath.Join(g.authority, name+".pem"), "--key", filepath.Join(g.authority, name+".key"), "--ca", filepath.Join(g.authority, "ca.pem")}
}

// flags are those of a member, for join and doctor.
func (g *trio) flags(id int) []string {
	flags := append([]string{"--group", "jobs", "--id", strconv.Itoa(id), "--data", g.data[id-1], "--http", g.http[id-1], "--https", g.https[id-1]}, g.members...)
	return append(flags, g.certified[id-1]...)
}

// join starts a member, with a lease that no slow machine lets lapse and no busy disk gives up, and which no warden takes for one that hangs.
func (g *trio) join(id int, flags ...string) *exec.Cmd {
	g.t.Helper()
	command, _ := launch(g.t, append(append([]string{"join", "--lease", "1m", "--stall", "1m", "--hang", "0"}, g.flags(id)...), flags...)...)
	return command
}

// joined is join, and waits until the member answers.
func (g *trio) joined(id int, flags ...string) *exec.Cmd {
	g.t.Helper()
	command := g.join(id, flags...)
	clitest.Await(g.t, fmt.Sprintf("member %d does not answer", id), func() bool {
		code, _, _ := clitest.Call("status", "--data", g.data[id-1])
		return code != report.ExitIncomplete
	})
	return command
}

// unwrapped is a text without its breaks of lines.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// until calls a command line until its exit status is as wanted and it prints a text.
func (g *trio) until(code int, text string, arguments ...string) (printed string) {
	g.t.Helper()
	return prints(g.t, code, text, arguments...)
}

// prints is until, for any members.
func prints(t *testing.T, code int, text string, arguments ...string) (printed string) {
	t.Helper()
	clitest.Eventually(t, func() error {
		got, stdout, stderr := clitest.Call(arguments...)
		if printed = unwrapped(stdout + stderr); got != code || !strings.Contains(printed, text) {
			return fmt.Errorf("ringleader %q: exit status %d, and prints\n%s\nwant %d and %q", arguments, got, printed, code, text)
		}
		return nil
	})
	return printed
}

// leads waits until a member leads, and returns which.
func (g *trio) leads() (leader int) {
	g.t.Helper()
	clitest.Await(g.t, "none leads", func() bool {
		leader = 1 + slices.IndexFunc(g.data[:], func(data string) bool {
			code, _, _ := clitest.Call("status", "--data", data)
			return code == report.ExitFine
		})
		return leader > 0
	})
	return leader
}

// Two of three members vote. The third gets a vote, and then one of the others can be killed.
func TestOperatorsChangeTheVoters(t *testing.T) {
	t.Parallel()
	g := newTrio(t)
	g.members[5] += ",standby"
	processes := map[int]*exec.Cmd{}
	for id := range 3 {
		processes[id+1] = g.join(id + 1)
	}
	g.until(0, "voters 1, 2, as configured", "members", "--data", g.data[2])
	leader := g.leads()
	if leader == 3 {
		t.Fatal("a member without a vote leads")
	}
	data, other := g.data[leader-1], g.data[2-leader]
	g.until(1, fmt.Sprintf("member %d leads, and changes the voters", leader), "members", "add", "3", "--data", other)
	g.until(1, "there is no member 4", "members", "add", "4", "--data", data)
	g.until(1, "it hands over first", "members", "remove", strconv.Itoa(leader), "--data", data)
	g.until(0, "voters 1, 2, 3, version 1 of term", "members", "add", "3", "--data", data)
	g.until(0, "voters 1, 2, 3, version 1 of term", "members", "--data", g.data[2])
	g.until(0, `"voters":{"version":2,`, "members", "remove", strconv.Itoa(3-leader), "--json", "--data", data)

	// The leader hands over to the third, which removes it, and then leads alone.
	g.until(1, "has no vote", "transfer", strconv.Itoa(3-leader), "--data", data)
	g.handsOver(func(now int) bool { return now == 3 }, func(now int) []string { return []string{"transfer", "3", "--data", g.data[now-1]} })
	g.until(0, "voters 3, version 3 of term", "members", "remove", strconv.Itoa(leader), "--data", g.data[2])
	for _, id := range []int{1, 2} {
		if err := processes[id].Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	g.until(0, "leader in term", "status", "--data", g.data[2])
}

// agreed waits until the members know one leader and hear from all, and returns what the leader knows.
func (g *trio) agreed() (leader ringleader.Status) {
	g.t.Helper()
	clitest.Await(g.t, "the members do not agree", func() bool {
		leader = ringleader.Status{}
		terms, heard := map[uint64]int{}, 0
		for _, data := range g.data {
			_, stdout, _ := clitest.Call("status", "--json", "--data", data)
			var s ringleader.Status
			if json.Unmarshal([]byte(stdout), &s) != nil || s.Leader == nil {
				continue
			}
			for _, m := range s.Members {
				if m.Reachable {
					heard++
				}
			}
			if terms[s.Term]++; s.Role == ringleader.Leader {
				leader = s
			}
		}
		return heard == 9 && leader.Leader != nil && terms[leader.Term] == 3
	})
	return leader
}

// handsOver calls an order at the leader until a member leads that is as wanted. On a slow machine the successor may be late: then the leader leads
// again, or the third does.
func (g *trio) handsOver(wanted func(leader int) bool, order func(leader int) []string) {
	g.t.Helper()
	clitest.Eventually(g.t, func() error {
		leader := g.leads()
		if wanted(leader) {
			return nil
		}
		code, stdout, stderr := clitest.Call(order(leader)...)
		return fmt.Errorf("ringleader %q: exit status %d, and prints %s%s", order(leader), code, stdout, stderr)
	})
}

func TestOperatorsSeeAndCommandMembers(t *testing.T) {
	t.Parallel()
	g := newTrio(t)
	g.until(3, "no member answers at "+g.data[0], "status", "--data", g.data[0])
	g.until(3, "is it running? ringleader join", "status", "--data", g.data[0])
	g.join(1)
	for _, reason := range []string{"certificate expires on ", "No leader is known, because", "member 2 at ", "member 3 at ", "connection refused", "a leader needs the votes of 2"} {
		g.until(1, reason, "status", "--data", g.data[0])
	}
	g.join(2)
	third := g.join(3)

	// One of them leads, and it alone exits with 0.
	leader := g.leads()
	other := leader%3 + 1
	g.until(1, fmt.Sprintf("follower of %d", leader), "status", "--data", g.data[other-1])
	g.until(0, "leader in term", "status", "--http", g.http[leader-1])
	g.until(1, fmt.Sprintf(`"leader":%d`, leader), "status", "--json", "--http", g.http[other-1])

	// Watch has a line for each change.
	watch, lines := start(t, "watch", "--json", "--data", g.data[other-1])
	event := func(want int) {
		t.Helper()
		for {
			var e report.JoinEvent
			if err := lines.Decode(&e); err != nil {
				t.Fatal(err)
			}
			if e.Leader == uint64(want) {
				return
			}
		}
	}
	event(leader)
	g.until(1, fmt.Sprintf("member %d does not lead: member %d leads", other, leader), "resign", "--data", g.data[other-1])
	g.until(1, "member 9 is not another member", "transfer", "9", "--data", g.data[leader-1])
	g.handsOver(func(now int) bool { return now == other }, func(now int) []string { return []string{"transfer", strconv.Itoa(other), "--data", g.data[now-1]} })
	event(other)
	if err := watch.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := watch.Wait(); err != nil {
		t.Errorf("watch ends with %v", err)
	}
	_, ids, _ := clitest.Call("__complete", "transfer", "--data", g.data[other-1], "")
	if !strings.Contains(ids, fmt.Sprintf("%d\n", leader)) || strings.Contains(ids, fmt.Sprintf("%d\n", other)) {
		t.Errorf("the shell completes %q", ids)
	}

	// Over HTTPS an operator commands with a certificate of the authority, and with no other one.
	foreign := certified(t, "jobs", 1)[0]
	https := func(certificate []string, arguments ...string) []string {
		return append(append(arguments, "--https", g.https[other-1]), certificate...)
	}
	g.until(3, "certificate", https(foreign, "resign")...)
	mixed := append(append([]string{}, foreign[:4]...), g.operator[4:]...) // it trusts the member, which does not trust it
	g.until(3, "certificate", https(mixed, "resign")...)
	g.until(0, "leader in term", https(g.operator, "status")...)
	g.handsOver(func(now int) bool { return now != other }, func(int) []string { return https(g.operator, "resign") })

	g.givesRecords(leader, other)

	// Doctor asks the member that runs.
	kill(third)
	clitest.Eventually(t, func() error {
		if _, status, _ := clitest.Call("status", "--json", "--data", g.data[0]); !strings.Contains(status, `"reachable":false,"problem":"`) {
			return fmt.Errorf("the first member does not miss the third: %s", status)
		}
		return nil
	})
	ill := g.until(1, "WRONG: member 3 cannot be reached", append([]string{"doctor"}, g.flags(1)...)...)
	for _, text := range []string{"round trip to member 2", "flush of the disk", "timer late", "recommended timing", "as the running member 1 knows it", "expires on"} {
		if !strings.Contains(ill, text) {
			t.Errorf("doctor does not print %q:\n%s", text, ill)
		}
	}
}

// givesRecords lets members give their records over a socket and over HTTPS, and to no client of HTTP in clear text. One of them has led first, and
// another one after it.
func (g *trio) givesRecords(leader, other int) {
	g.t.Helper()
	file := filepath.Join(g.t.TempDir(), "incident.rec")
	socket, secure, clear := filepath.Join(g.data[leader-1], "control.sock"), "https://"+g.https[other-1], "http://"+g.http[5-leader-other]
	gathers := func(code int, want string, places ...string) {
		g.t.Helper()
		got, stdout, stderr := clitest.Call(append(append([]string{"record", "--out", file}, places...), g.operator...)...)
		if got != code || !strings.Contains(stdout+stderr, want) {
			g.t.Errorf("records of %q: %d\n%s%s", places, got, stdout, stderr)
		}
	}
	gathers(1, "over HTTPS with a client certificate", socket, secure, clear)
	_, explained, _ := clitest.Call("explain", file)
	for _, text := range []string{fmt.Sprintf("missing     member %d", 6-leader-other), "transferred (certain)", "resigned (certain)"} {
		if !strings.Contains(explained, text) {
			g.t.Errorf("explain does not print %q:\n%s", text, explained)
		}
	}
	gathers(64, "has a URL such as", secure+"/explain")
	gathers(64, "are for https URLs", socket)
}

// kill kills the warden of a member, and so the member.
func kill(warden *exec.Cmd) {
	warden.Process.Kill()
	warden.Wait()
}

func TestTheStatusNamesTheCauseOfHavingNoLeaderAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		begin func(g *trio)
		at    int
		want  string
	}{
		{
			"a majority is missing", func(g *trio) { g.join(1) }, 1,
			"No leader is known, because 1 of 3 members can communicate with this one, itself included, and a leader needs the votes of 2: start the others, or repair the way to them",
		},
		{"a member does not run", func(g *trio) { g.join(1) }, 1, "is missing: connection refused: no process listens there"},
		{
			"a member is stopped", func(g *trio) {
				l, err := net.Listen("tcp", strings.TrimPrefix(g.members[3], "2=")) // the system answers for a process that is stopped
				if err != nil {
					g.t.Fatal(err)
				}
				g.t.Cleanup(func() { l.Close() })
				g.join(1)
			}, 1,
			"is missing: no answer within 400ms: its process is stopped, its machine is down, or the network is cut",
		},
		{
			"another authority", func(g *trio) {
				g.join(1)
				g.join(2, certified(g.t, "jobs", 2)[0]...) // the last of several flags counts
			}, 1,
			"is missing: its certificate is refused: it is signed by an unknown authority: give all members certificates of one authority",
		},
		{
			"this member's authority is unknown to the other", func(g *trio) {
				foreign := certified(g.t, "jobs", 1)[0]
				both := filepath.Join(g.t.TempDir(), "both.pem")
				bundle := slices.Concat(clitest.Contents(g.t, foreign[5]), clitest.Contents(g.t, g.certified[0][5]))
				if err := os.WriteFile(both, bundle, 0o600); err != nil {
					g.t.Fatal(err)
				}
				g.join(1, append(foreign, "--ca", both)...)
				g.join(2)
			}, 1,
			"refused: the certificate of this member: tls: unknown certificate authority",
		},
		{
			"the certificate of another group", func(g *trio) {
				data := filepath.Join(g.t.TempDir(), "others")
				if err := ringleader.Init(data, "others", 2); err != nil {
					g.t.Fatal(err)
				}
				if _, err := certificates.Make(certificates.Order{Directory: g.authority, Group: "others", IDs: []uint64{2}, Lasts: time.Hour}); err != nil {
					g.t.Fatal(err)
				}
				g.join(1)
				g.join(2, "--group", "others", "--data", data)
			}, 1,
			"its certificate is refused: it names ringleader:others/2, not ringleader:jobs/2: make one for that member",
		},
		{
			"the lists differ", func(g *trio) {
				g.join(1)
				g.join(2, "--member", "4="+freeAddress(g.t))
			}, 1,
			"the lists of members differ in 4",
		},
		{
			"a member has lost its store", func(g *trio) {
				short := []string{"--lease", "1s"} // soon no leader is known
				g.join(1, short...)
				second, third := g.joined(2, short...), g.joined(3, short...)
				g.agreed()
				kill(second)
				kill(third)
				g.data[1] = filepath.Join(g.t.TempDir(), "new")
				if err := ringleader.Init(g.data[1], "jobs", 2); err != nil {
					g.t.Fatal(err)
				}
				g.join(2, short...)
			}, 1,
			"is missing: this member refuses it: member 2 has another store than before; if its state is lost, a member with a new id takes its place",
		},
		{
			"all have restarted", func(g *trio) {
				first, second, third := g.joined(1), g.joined(2), g.joined(3)
				g.agreed()
				kill(first)
				kill(second)
				kill(third)
				g.join(1)
				g.join(2)
			}, 2,
			"this member has restarted, and takes part in ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newTrio(t)
			test.begin(g)
			g.until(1, test.want, "status", "--data", g.data[test.at-1])
		})
	}
}

func TestDoctorFindsAWrongConfiguration(t *testing.T) {
	t.Parallel()
	free := freeAddress(t)
	made := certified(t, "jobs", 1, 2)
	initialised := func() (data string) {
		data = filepath.Join(t.TempDir(), "data")
		if err := ringleader.Init(data, "jobs", 1); err != nil {
			t.Fatal(err)
		}
		return data
	}
	member := []string{"doctor", "--group", "jobs", "--id", "1", "--member", "1=" + free}
	var wrong sync.WaitGroup // each measures the disk; a directory is for one at a time
	for _, c := range []struct{ flags, wants []string }{
		{[]string{"--data", filepath.Join(t.TempDir(), "missing")}, []string{"does not exist"}},
		{[]string{"--data", initialised(), "--group", "others"}, []string{"belongs to member 1 of group"}},
		{
			[]string{"--data", initialised(), "--listen", "0.0.0.0:7001", "--member", "2=" + free, "--clock", free},
			[]string{"connections are in clear text", "cannot be reached", "--clock " + free + ": no member"},
		},
		{append([]string{"--data", initialised()}, made[1]...), []string{"it names ringleader:jobs/2, not"}},
	} {
		line := slices.Concat(member, c.flags, withoutDeaths)
		wrong.Go(func() {
			code, stdout, stderr := clitest.Call(line...)
			for _, want := range c.wants {
				if code != report.ExitNo || !strings.Contains(unwrapped(stdout), want) {
					t.Errorf("doctor %q: exit status %d, and prints\n%s%s\nwant %q", c.flags, code, stdout, stderr, want)
				}
			}
		})
	}
	wrong.Wait()
	data, ofExec := initialised(), filepath.Join(t.TempDir(), "jobs.toml")
	if err := os.WriteFile(ofExec, []byte("stop-grace = \"1s\"\non-exit = \"restart\"\nready-port = \"9000\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := clitest.Call(append(member, "--data", data, "--lease", "1m", "--stall", "1m", "--hang", "0", "--config", ofExec)...); code != report.ExitFine || !strings.Contains(stdout, "Nothing is wrong") {
		t.Errorf("with nothing wrong: exit status %d, and prints\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr := clitest.Call(append(member, "--data", data, "--clock", "x")...); code != report.ExitUsage || !strings.Contains(stderr, "--clock wants HOST:PORT") {
		t.Errorf("with a wrong flag: exit status %d, and prints %s", code, stderr)
	}
}

func TestCertKeepsTheAuthorityAndRenewsCertificates(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	read := func(name string) string { return string(clitest.Contents(t, filepath.Join(directory, name))) }
	if code, _, stderr := clitest.Call("cert", "--directory", directory, "--group", "jobs", "--id", "1"); code != 0 {
		t.Fatal(stderr)
	}
	authority, certificate := read("ca.pem"), read("1.pem")
	if code, _, stderr := clitest.Call("cert", "--directory", directory, "--group", "jobs", "--id", "1", "--id", "2", "--host", "db1.example", "--host", "10.0.0.1"); code != 0 {
		t.Fatal(stderr)
	}
	if read("ca.pem") != authority || read("1.pem") == certificate {
		t.Error("the second call makes another authority, or keeps the certificate")
	}
	files, err := filepath.Glob(directory + "/*")
	if err != nil || len(files) != 6 {
		t.Errorf("%v: %q", err, files)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, err, info.Mode())
		}
	}
	if err := os.WriteFile(filepath.Join(directory, "ca.key"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := clitest.Call("cert", "--directory", directory, "--group", "jobs", "--id", "1"); code != 1 || !strings.Contains(stderr, "ca.key is not in PEM format") {
		t.Errorf("with a broken key: exit status %d, %s", code, stderr)
	}
}

func TestStatusAndDoctorAreAsInTheSchema(t *testing.T) {
	t.Parallel()
	g := newTrio(t)
	g.join(1)
	g.until(1, "missing", "status", "--data", g.data[0])
	for definition, arguments := range map[string][]string{
		"status": {"status", "--json", "--data", g.data[0]},
		"doctor": append([]string{"doctor", "--json", "--clock", g.http[0], "--renewal", "400ms"}, g.flags(1)...),
		"cert":   {"cert", "--json", "--directory", t.TempDir(), "--group", "jobs", "--operator"},
	} {
		_, stdout, stderr := clitest.Call(arguments...)
		if err := clitest.Valid(clitest.SchemaOf(t, "../../..", definition), stdout); err != nil {
			t.Errorf("ringleader %q: %v\n%s%s", arguments, err, stdout, stderr)
		}
		if definition == "doctor" && !strings.Contains(stdout, "--renewal (400ms) must be") {
			t.Errorf("doctor takes a wrong timing: %s", stdout)
		}
	}
	command := exec.Command("ringleader", "status", "--watch", "--json", "--data", g.data[0])
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !json.Valid([]byte(line)) || clitest.Valid(clitest.SchemaOf(t, "../../..", "status"), line) != nil {
		t.Errorf("status --watch --json prints %s: %v", line, err)
	}
	command.Process.Signal(os.Interrupt)
	if err := command.Wait(); err != nil {
		t.Errorf("status --watch ends with %v", err)
	}
}
