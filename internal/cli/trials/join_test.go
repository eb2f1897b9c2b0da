//go:build unix

package trials

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
)

// startJoin starts member 1 of a group of its own, or what other flags make of it, and waits until it knows its leader.
func startJoin(t *testing.T, address string, flags ...string) (*exec.Cmd, *json.Decoder) {
	t.Helper()
	command, lines := start(t, append([]string{
		"join", "--json", "--id", "1", "--member", "1=" + address, "--data", newStore(t, 1),
	}, flags...)...)
	for {
		var e report.JoinEvent
		if err := lines.Decode(&e); err != nil {
			t.Fatalf("it knows no leader: %v", err)
		}
		if e.Leader != 0 {
			return command, lines
		}
	}
}

// start starts a member, which ends with the test, or after the limit, so that no read of its lines waits for ever.
func start(t *testing.T, arguments ...string) (*exec.Cmd, *json.Decoder) {
	t.Helper()
	command, lines := launch(t, arguments...)
	overdue := time.AfterFunc(clitest.Limit, func() { command.Process.Kill() })
	t.Cleanup(func() { overdue.Stop() })
	return command, lines
}

// launch starts a member, which ends with the test. A test that waits for several things, each for the limit, needs it for longer. Wait returns when
// all its processes have ended, which have its standard error: what is killed may write in a directory of the test until then.
func launch(t *testing.T, arguments ...string) (*exec.Cmd, *json.Decoder) {
	t.Helper()
	return launchTo(t, t.Output(), arguments...)
}

// launchTo is launch, with the place of the standard error.
func launchTo(t *testing.T, log io.Writer, arguments ...string) (*exec.Cmd, *json.Decoder) {
	t.Helper()
	command := exec.Command("ringleader", arguments...)
	// The Go tool may run tests in the foreground of a terminal, where a warden does not pass on what the terminal sends.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Stderr, command.WaitDelay = log, clitest.Limit
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	return command, json.NewDecoder(stdout)
}

// newStore returns the directory of a new member.
func newStore(t *testing.T, id uint64) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "new")
	if err := ringleader.Init(data, "", id); err != nil {
		t.Fatal(err)
	}
	return data
}

func freeAddress(t *testing.T) string {
	t.Helper()
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	return addresses[0]
}

func TestSignalsEndAMemberInGoodOrder(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		command, lines := startJoin(t, freeAddress(t))
		if err := command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		var last report.JoinEvent
		for more := true; more; {
			more = lines.Decode(&last) == nil
		}
		if err := command.Wait(); err != nil || last.Event != "stopped" {
			t.Errorf("%s: %v, the last line is %+v", signal, err, last)
		}
	}
}

// A service manager may send SIGTERM to all processes of a service, and the command timeout SIGINT to those of its group. The warden passes on its own.
func TestASecondSignalCutsNothingShort(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		hook := filepath.Join(t.TempDir(), "hook")
		command, lines := startJoin(t, freeAddress(t), "--on-follower", fmt.Sprintf("touch %[1]s.begun; until test -e %[1]s.goes-on; do sleep 0.01; done; touch %[1]s.ended", hook))
		exists := func(file string) bool {
			_, err := os.Stat(file)
			return err == nil
		}
		command.Process.Signal(signal)
		clitest.Await(t, "the hook begins", func() bool { return exists(hook + ".begun") })
		command.Process.Signal(signal)
		if err := os.WriteFile(hook+".goes-on", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for lines.Decode(new(report.JoinEvent)) == nil {
		}
		if err := command.Wait(); err != nil || !exists(hook+".ended") {
			t.Errorf("%v: %v; the hook has ended: %t", signal, err, exists(hook+".ended"))
		}
	}
}

// wrongJoin runs a member whose call is wrong, and returns the line that it prints.
func wrongJoin(t *testing.T, flags ...string) string {
	t.Helper()
	return endedJoin(t, report.ExitUsage, flags...)
}

// endedJoin runs a member that must not come to run, and ends with this exit status. It returns the line that it prints.
func endedJoin(t *testing.T, status int, flags ...string) string {
	t.Helper()
	command := exec.Command("ringleader", append([]string{"join"}, flags...)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(clitest.Limit, func() { command.Process.Kill() })
	defer overdue.Stop()
	command.Wait()
	var text string // without warnings
	for line := range strings.Lines(stderr.String()) {
		if !strings.Contains(line, "warning: ") {
			text += line
		}
	}
	if code := command.ProcessState.ExitCode(); code != status || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "ringleader: ") {
		t.Errorf("join %q: exit status %d, stderr %q", flags, code, stderr.String())
	}
	return text
}

func TestAStateThatCannotBeWrittenIsNoWrongCall(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")                                   // of its user alone, whatever the umask
	if err := os.MkdirAll(filepath.Join(data, "state.new"), 0o700); err != nil { // where a file should be
		t.Fatal(err)
	}
	command := exec.Command("ringleader", "join", "--id", "1", "--member", "1="+freeAddress(t), "--data", data, "--algorithm", "bully", "--unsafe-no-quorum")
	overdue := time.AfterFunc(clitest.Limit, func() { command.Process.Kill() })
	defer overdue.Stop()
	stderr, _ := command.CombinedOutput()
	if code := command.ProcessState.ExitCode(); code != report.ExitNo || !strings.Contains(string(stderr), "cannot be written") {
		t.Errorf("exit status %d, %q", code, stderr)
	}
}

func TestAPortThatIsTakenIsNoWrongCall(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address, free := taken.Addr().String(), freeAddress(t)
	for _, flags := range [][]string{{"--member", "1=" + address}, {"--member", "1=" + free, "--http", address}} {
		if says := endedJoin(t, report.ExitNo, append(flags, "--id", "1", "--data", newStore(t, 1))...); !strings.Contains(says, address) {
			t.Errorf("%q does not name %s", says, address)
		}
	}
}

func TestAFolderBelongsToOneMemberAtATime(t *testing.T) {
	t.Parallel()
	address, data := freeAddress(t), newStore(t, 1)
	startJoin(t, address, "--data", data)
	const want = "in use by another"
	if says := endedJoin(t, report.ExitNo, "--id", "1", "--member", "1="+freeAddress(t), "--data", data); !strings.Contains(says, want) {
		t.Errorf("it says %q, want %q", says, want)
	}
}

// Its own address leads to the first.
func TestASecondMemberWithTheSameIdentifierWaitsAndReportsTheReason(t *testing.T) {
	t.Parallel()
	one, two, three := freeAddress(t), freeAddress(t), freeAddress(t)
	bully := []string{"--member", "2=" + two, "--algorithm", "bully", "--unsafe-no-quorum"}
	startJoin(t, one, append(bully, "--id", "2", "--data", filepath.Join(t.TempDir(), "data"))...)
	startJoin(t, one, bully...)
	command := exec.Command("ringleader", append([]string{
		"join", "--id", "1", "--member", "1=" + one, "--listen", three, "--data", filepath.Join(t.TempDir(), "data"),
	}, bully...)...)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(clitest.Limit, func() { command.Process.Kill() })
	defer overdue.Stop()
	const want = "this is another process with id 1"
	for said := bufio.NewScanner(stderr); ; {
		if !said.Scan() {
			t.Fatalf("it ended without a word of %q", want)
		}
		if strings.Contains(said.Text(), want) {
			break
		}
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("after it had waited it ended with %v", err)
	}
}

// The lease would run for minutes.
func TestAMemberThatIsToldToStopReleasesItsLease(t *testing.T) {
	t.Parallel()
	addresses, err := rig.FreeAddresses(3)
	if err != nil {
		t.Fatal(err)
	}
	var all []*exec.Cmd
	var lines []*json.Decoder
	for i := range addresses {
		id := strconv.Itoa(i + 1)
		flags := []string{"join", "--json", "--id", id, "--data", newStore(t, uint64(i+1)), "--lease", "10m", "--stall", "10m", "--hang", "0"}
		for j, address := range addresses {
			flags = append(flags, "--member", fmt.Sprintf("%d=%s", j+1, address))
		}
		command, decoder := start(t, flags...)
		all, lines = append(all, command), append(lines, decoder)
	}
	leader := func(of int, before uint64) uint64 {
		for {
			var e report.JoinEvent
			if err := lines[of].Decode(&e); err != nil {
				t.Fatal(err)
			}
			if e.Leader != 0 && e.Leader != before {
				return e.Leader
			}
		}
	}
	first := leader(0, 0)
	if err := all[first-1].Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	other := 0
	if first == 1 {
		other = 1
	}
	leader(other, first)
}
