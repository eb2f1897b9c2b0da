//go:build unix

package trials

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/show/report"
)

// settingsFile writes a file of settings.
func settingsFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "settings.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const memberOne = "id = 1\ndata = \"d\"\nmember = [\n  \"1=127.0.0.1:7001\", # itself\n]\n"

func TestAFlagWinsOverAVariableAndAVariableOverTheFile(t *testing.T) {
	file := settingsFile(t, memberOne+"group = \"file\"\nlease = \"1s\"\nheartbeat = \"110ms\"\n")
	variables := map[string]string{"RINGLEADER_LEASE": "2s", "RINGLEADER_HEARTBEAT": "120ms"}
	code, out, stderr := clitest.CallWith(variables, "join", "--config", file, "--check", "--heartbeat", "130ms")
	if code != report.ExitFine || stderr != "" {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	lines := strings.Fields(strings.ReplaceAll(out, "\n", " \n "))
	text := strings.Join(lines, " ")
	for _, want := range []string{
		`group = "file" # ` + file + `, line 6`, `lease = "2s" # RINGLEADER_LEASE`, `heartbeat = "130ms" # --heartbeat`,
		`# suspicion = "400ms" # default`, `member = ["1=127.0.0.1:7001"] # ` + file + `, line 3`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	// What is printed is a file with the same settings.
	_, again, stderr := clitest.Call("join", "--config", settingsFile(t, out), "--check")
	if !strings.Contains(again, `heartbeat = "130ms"`) || !strings.Contains(again, `lease = "2s"`) {
		t.Errorf("%s\n%s", again, stderr)
	}
}

func TestWhatIsPrintedOfSettingsIsAFileWithTheSame(t *testing.T) {
	largest := "18446744073709551615" // TOML has no such number
	group := "a\"\\\a\v\x1b\x7f\n\té\u2028😀"
	flags := []string{"--id", largest, "--data", "d", "--member", largest + "=127.0.0.1:7001", "--group", group, "--on-leader", group, "--http-host", group}
	code, out, stderr := clitest.Call(append([]string{"join", "--check"}, flags...)...)
	if code != report.ExitFine {
		t.Fatal(stderr)
	}
	all, err := agent.ParseSettings([]byte(out))
	if err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	var values []string
	for _, setting := range all { // in the order of the names
		values = append(values, setting.Values...)
	}
	if want := []string{"d", group, group, largest, largest + "=127.0.0.1:7001", group}; !slices.Equal(values, want) {
		t.Errorf("%q, want %q", values, want)
	}
}

// A file may have no end.
func TestAFileOfSettingsOrOfACertificateIsNotReadForEver(t *testing.T) {
	file := settingsFile(t, strings.Repeat("#", 1<<20)+"\n")
	for _, flags := range [][]string{
		{"--config", file},
		{"--id", "1", "--data", "d", "--member", "1=127.0.0.1:7001", "--cert", file, "--key", file, "--ca", file},
	} {
		code, _, stderr := clitest.Call(append([]string{"join", "--check"}, flags...)...)
		if code != report.ExitUsage || !strings.Contains(stderr, "1048576 bytes\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit status %d, %q", flags, code, stderr)
		}
	}
}

// A command that exec runs may be a member of another group.
func TestTheLeaseFileOfExecIsNoLengthOfALease(t *testing.T) {
	variables := map[string]string{"RINGLEADER_LEASE": filepath.Join(t.TempDir(), "lease")}
	code, out, stderr := clitest.CallWith(variables, "join", "--config", settingsFile(t, memberOne), "--check")
	if code != report.ExitFine || !strings.Contains(out, `lease = "500ms"`) {
		t.Errorf("exit status %d: %s%s", code, out, stderr)
	}
}

func TestAWrongSettingIsNamedWithItsLine(t *testing.T) {
	for line, want := range map[string]string{
		`leese = "1s"`:                 "line 6: there is no setting leese; did you mean lease?",
		`check = true`:                 "line 6: there is no setting check",
		`report-leases = 1`:            "line 6: there is no setting report-leases",
		`[x]`:                          "line 6: x: settings have no tables",
		`a.b = 1`:                      "line 6: a.b: settings have no tables",
		`http = 8001`:                  "line 6: --http wants HOST:PORT",
		`cert = "none.pem"`:            "line 6: --cert",
		`lease = 1.5`:                  "line 6: lease is a text in quotes",
		`lease = "soon"`:               "line 6: --lease wants a duration such as 250ms or 20s",
		`preempt = "no"`:               "line 6: --preempt wants true or false",
		`group = ["a", "b"]`:           "line 6: group has one value, not a list",
		`group = ""`:                   "line 6: group is empty",
		`group`:                        "line 6: expected",
		`suspicion = "1ms"`:            "line 6: --suspicion (1ms) must be at least three times --heartbeat",
		`id = 2`:                       "line 6: ",
		`health-http = "f"`:            "line 6: --health-http: ",
		`weight = 9223372036854775808`: "line 6: a whole number above 2⁶³ - 1 is written in quotes",
	} {
		file := settingsFile(t, memberOne+line+"\n")
		code, out, stderr := clitest.Call("join", "--config", file, "--check")
		if code != report.ExitUsage || out != "" || !strings.Contains(stderr, file+": "+want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit status %d, %q, want %q", line, code, stderr, want)
		}
	}
	if _, _, stderr := clitest.CallWith(map[string]string{"RINGLEADER_LEASE": "soon"}, "join", "--config", settingsFile(t, memberOne), "--check"); !strings.Contains(stderr, "RINGLEADER_LEASE: --lease wants a duration") {
		t.Errorf("%q", stderr)
	}
	if _, _, stderr := clitest.Call("join", "--config", settingsFile(t, memberOne), "--http", "8001", "--check"); !strings.HasPrefix(stderr, "ringleader: --http wants HOST:PORT") {
		t.Errorf("%q", stderr)
	}
}

// The lease would lapse, and the term rise, in an election.
func TestAHangupReloadsWhatCanBeReloadedAndCausesNoElection(t *testing.T) {
	t.Parallel()
	hooks := filepath.Join(t.TempDir(), "hooks")
	data := newStore(t, 1)
	base := "id = 1\ndata = '" + data + "'\nstall = '1m'\nmember = [\"1=" + freeAddress(t) + "\"]\nlease = '1m'\nhang = '0s'\n"
	file := settingsFile(t, base)
	command := exec.Command("ringleader", "join", "--json", "--stop-with-stdin", "--config", file)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, _ := command.StdinPipe()
	stdout, _ := command.StdoutPipe()
	stderr, _ := command.StderrPipe()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(clitest.Limit, func() { command.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		command.Process.Kill()
		io.Copy(io.Discard, stderr) // until all that have it have ended
		command.Wait()
	})
	events, log := json.NewDecoder(stdout), bufio.NewScanner(stderr)
	var e report.JoinEvent
	for e.Leader != 1 {
		if err := events.Decode(&e); err != nil {
			t.Fatal(err)
		}
	}
	reload := func(text string, want ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		command.Process.Signal(syscall.SIGHUP) // to the warden, which passes it on
		var said []string
		for _, part := range want {
			for !strings.Contains(log.Text(), part) {
				if said = append(said, log.Text()); !log.Scan() {
					t.Fatalf("it does not log %q, and logs %q (%v)", part, said, log.Err())
				}
			}
		}
	}
	reload("group = 'g'\n", `stay as they were error="configuration: ID is missing; identifiers begin with 1; configuration: `)
	reload(base+"renewal = true\n", "the settings are wrong, and stay as they were", "line 7")
	reload(strings.Replace(base, "\"]", ",priority=4\"]", 1), ` 1 the settings were read again `, `changed=member`)
	reload(strings.Replace(base, "\"]", ",priority=4\"]", 1)+"weight = 3\n", `changed=weight`)
	clitest.Eventually(t, func() error {
		if _, out, _ := clitest.Call("status", "--json", "--data", data); !strings.Contains(out, `"weight":3`) {
			return fmt.Errorf("the weight is not 3 in %s", out)
		}
		return nil
	})
	// What concerns the health and the rank of a member is named, each setting: the weight is taken, and all else needs a restart.
	reload(base+"weight = 4\nhealth-command = 'true'\nhealth-interval = '2s'\nhealth-timeout = '500ms'\nhealth-rise = 3\nhealth-fall = 4\npreempt = true\npreempt-delay = '2m'\n",
		`settings="health-command health-fall health-interval health-rise health-timeout preempt preempt-delay"`, `changed="member weight"`)
	reload(base+"weight = 4\nhealth-http = 'http://127.0.0.1:1/'\n", `settings="health-command health-fall health-http health-interval health-rise health-timeout preempt preempt-delay"`)
	reload(base, "settings=health-http", `changed=weight`)
	// A list that the member takes now, and not when it starts, is named; one that it does not take changes nothing.
	reload(strings.Replace(base, "\"]", "\", \"2=127.0.0.1:1\"]", 1), `would not start again`, `by_the_list="[1 2]" vote=[1]`, `changed=member`)
	reload(strings.NewReplacer("1=127.0.0.1", "1=127.0.0.2", "\"]", ",priority=9\"]").Replace(base), "the list of members stays as it was", `changed=nothing`)
	if _, out, _ := clitest.Call("status", "--json", "--data", data); strings.Contains(out, `"weight":9`) {
		t.Errorf("the priority is of a list that was refused: %s", out)
	}
	reload(base, `changed=member`)
	reload(strings.Replace(base, "lease = '1m'", "lease = '59s'", 1)+"on-follower = 'echo stopped > "+hooks+"'\nverbose = true\n",
		`settings="lease preempt-delay renewal shortest-lease"`, `changed="on-follower verbose"`)
	stdin.Close()
	for events.Decode(&e) == nil {
		if e.Event == "role" && e.Role == "leader" {
			t.Errorf("another election: %+v", e)
		}
	}
	for log.Scan() {
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(hooks); string(got) != "stopped\n" {
		t.Errorf("the hook that was reloaded has written %q", got)
	}
}
