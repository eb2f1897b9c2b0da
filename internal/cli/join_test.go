//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/demo"
	"ringleader.example/ringleader/internal/report"
)

// startJoin starts member 1 of a group of its own, or what other flags make of it, and waits until it knows its leader.
func startJoin(t *testing.T, address string, flags ...string) (*exec.Cmd, *json.Decoder) {
	t.Helper()
	command := exec.Command("ringleader", append([]string{
		"join", "--json", "--id", "1", "--member", "1=" + address, "--data", filepath.Join(t.TempDir(), "new"),
	}, flags...)...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(limit, func() { command.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		command.Process.Kill()
		command.Wait()
	})
	lines := json.NewDecoder(stdout)
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

func freeAddress(t *testing.T) string {
	t.Helper()
	addresses, err := demo.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	return addresses[0]
}

func TestSignalsEndAMemberInGoodOrder(t *testing.T) {
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

// wrongJoin runs a member that must not come to run, and returns the line it says.
func wrongJoin(t *testing.T, flags ...string) string {
	t.Helper()
	command := exec.Command("ringleader", append([]string{"join"}, flags...)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(limit, func() { command.Process.Kill() })
	defer overdue.Stop()
	command.Wait()
	var text string // without warnings
	for line := range strings.Lines(stderr.String()) {
		if !strings.Contains(line, "warning: ") && !strings.Contains(line, "level=WARN") {
			text += line
		}
	}
	if code := command.ProcessState.ExitCode(); code != report.ExitUsage || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "ringleader: ") {
		t.Errorf("join %q: exit status %d, stderr %q", flags, code, stderr.String())
	}
	return text
}

func TestAStateThatCannotBeWrittenIsNoWrongCall(t *testing.T) {
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "state.new"), 0o700); err != nil { // where a file should be
		t.Fatal(err)
	}
	command := exec.Command("ringleader", "join", "--id", "1", "--member", "1="+freeAddress(t), "--data", data)
	overdue := time.AfterFunc(limit, func() { command.Process.Kill() })
	defer overdue.Stop()
	stderr, _ := command.CombinedOutput()
	if code := command.ProcessState.ExitCode(); code != report.ExitNo || !strings.Contains(string(stderr), "cannot be written") {
		t.Errorf("exit status %d, %q", code, stderr)
	}
}

func TestAPortThatIsTakenIsAWrongCall(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address, free := taken.Addr().String(), freeAddress(t)
	for _, flags := range [][]string{{"--member", "1=" + address}, {"--member", "1=" + free, "--http", address}} {
		if says := wrongJoin(t, append(flags, "--id", "1", "--data", t.TempDir())...); !strings.Contains(says, address) {
			t.Errorf("%q does not name %s", says, address)
		}
	}
}

func TestAFolderBelongsToOneMemberAtATime(t *testing.T) {
	address, data := freeAddress(t), filepath.Join(t.TempDir(), "data")
	startJoin(t, address, "--data", data)
	const want = "in use by another"
	if says := wrongJoin(t, "--id", "1", "--member", "1="+freeAddress(t), "--data", data); !strings.Contains(says, want) {
		t.Errorf("it says %q, want %q", says, want)
	}
}

// Its own address leads to the first.
func TestASecondMemberWithTheSameIdentifierWaitsAndReportsTheReason(t *testing.T) {
	one, two, three := freeAddress(t), freeAddress(t), freeAddress(t)
	startJoin(t, one, "--member", "2="+two, "--id", "2")
	startJoin(t, one, "--member", "2="+two)
	command := exec.Command("ringleader", "join", "--id", "1", "--member", "1="+one, "--member", "2="+two,
		"--listen", three, "--data", t.TempDir())
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(limit, func() { command.Process.Kill() })
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
