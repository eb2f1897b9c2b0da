package trials

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
)

// statusUntil waits until status --json of a member contains all of these texts.
func statusUntil(t *testing.T, data string, texts ...string) {
	t.Helper()
	clitest.Eventually(t, func() error {
		_, stdout, stderr := clitest.Call("status", "--json", "--data", data)
		for _, text := range texts {
			if !strings.Contains(stdout, text) {
				return fmt.Errorf("status --json lacks %s in\n%s%s", text, stdout, stderr)
			}
		}
		if err := clitest.Valid(clitest.SchemaOf(t, "../../..", "status"), stdout); err != nil {
			t.Errorf("%v: %s", err, stdout)
		}
		return nil
	})
}

func TestACommandThatTellsNoProgressLosesTheLead(t *testing.T) {
	t.Parallel()
	data, path, log := newStore(t, 1), t.TempDir(), new(rig.Text)
	command := exec.Command("ringleader", "exec", "--id", "1", "--data", data, "--member", "1="+freeAddress(t), "--lease", "1m", "--stall", "1m", "--hang", "0",
		"--progress", "500ms", "--progress-path", path, "--", "sleep", "1000")
	command.Stderr = log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	statusUntil(t, data, `"work_problem":"`, `has told none for `, `"leader":null`, fmt.Sprintf(`"progress_paths":[{"path":%q}]`, path))
	// By SIGTERM, which is 15. A busy machine may notice it late, and has then no more time for that than a keeper that kills.
	told := regexp.MustCompile(`the command has stopped term=\d+ status=(143|137) because="the work makes no progress: it has told none for \d+\.\d s"`)
	clitest.Eventually(t, func() error {
		if text := log.String(); !told.MatchString(text) {
			return fmt.Errorf("the command was not told to stop:\n%s", text)
		}
		return nil
	})
	if err := os.Rename(path, filepath.Join(t.TempDir(), "elsewhere")); err != nil { // while it may be written to
		t.Fatal(err)
	}
	statusUntil(t, data, fmt.Sprintf(`"progress_paths":[{"path":%q,"problem":"it was removed or renamed","failing":`, path))
}

// The test touches the file, as a command could be late on a busy machine.
func TestACommandThatTellsItsProgressByAFileGoesOn(t *testing.T) {
	t.Parallel()
	const promise = 3 * time.Second
	sign, data := filepath.Join(t.TempDir(), "sign"), newStore(t, 1)
	_, lines := start(t, "exec", "--id", "1", "--data", data, "--member", "1="+freeAddress(t), "--lease", "6s", "--stall", "1m", "--hang", "0", "--progress", promise.String(),
		"--progress-file", sign, "--", "sh", "-c", "echo true; exec sleep 1000")
	begins := make(chan bool, 100)
	go func() {
		defer close(begins)
		for began := false; lines.Decode(&began) == nil; {
			begins <- began
		}
	}()
	ticker := time.NewTicker(promise / 20)
	defer ticker.Stop()
	for since := time.Now(); time.Since(since) < promise*3/2; {
		select {
		case began := <-begins:
			if since = time.Now(); !began {
				t.Fatal("no command has run for longer than it may be silent")
			}
		case <-ticker.C:
			if err := os.WriteFile(sign, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if code, _, _ := clitest.Call("status", "--data", data); code != report.ExitFine { // it leads again if this process or the member was late
				since = time.Now()
			}
		}
	}
}

// began is a line of a command that has begun: of which member it is, and where it tells its progress.
type began struct {
	Member int
	Socket string
}

// The test tells the progress, as a command that had to start could be late on a busy machine. The lease would run for ten minutes, and a command that
// is told to stop gives it back.
func TestACommandThatTellsNoMoreProgressLosesTheLeadToAnotherMember(t *testing.T) {
	t.Parallel()
	const promise = 3 * time.Second
	folder, members := t.TempDir(), []string(nil)
	addresses, err := rig.FreeAddresses(3)
	if err != nil {
		t.Fatal(err)
	}
	for i, address := range addresses {
		members = append(members, "--member", fmt.Sprintf("%d=%s", i+1, address))
	}
	begins, log := make(chan began, 100), new(rig.Text)
	for id := uint64(1); id <= 3; id++ {
		flags := []string{"exec", "--id", fmt.Sprint(id), "--data", newStore(t, id), "--lease", "10m", "--stall", "10m", "--hang", "0", "--progress", promise.String()}
		_, lines := launchTo(t, io.MultiWriter(log, t.Output()), append(append(flags, members...), "--", "sh", "-c", `trap 'touch "$0/stopped-$RINGLEADER_MEMBER"; exit' TERM
			printf '{"member":%s,"socket":"%s"}' "$RINGLEADER_MEMBER" "$NOTIFY_SOCKET"; while :; do sleep 0.1; done`, folder)...)
		go func() {
			for b := new(began); lines.Decode(b) == nil; {
				begins <- *b
			}
		}()
	}
	next := func() began {
		select {
		case b := <-begins:
			return b
		case <-time.After(clitest.Limit):
			t.Fatal("no command begins")
			return began{}
		}
	}
	ticker := time.NewTicker(promise / 20)
	defer ticker.Stop()
	first, since := next(), time.Now()
	for time.Since(since) < promise*3/2 {
		select {
		case first = <-begins: // the one before was not told in time
			since = time.Now()
		case <-ticker.C:
			if socket, err := net.Dial("unixgram", first.Socket); err == nil { // else the command has ended
				_, _ = socket.Write([]byte("WATCHDOG=1"))
				socket.Close()
			}
		}
	}
	late := time.Now().Add(clitest.Limit)
	for next().Member == first.Member { // it had begun again before
		if time.Now().After(late) {
			t.Fatalf("after member %d comes it again, and again", first.Member)
		}
	}
	clitest.Eventually(t, func() error { // on a machine that stalls the member is late, too, and then kills the command
		_, err := os.Stat(filepath.Join(folder, fmt.Sprintf("stopped-%d", first.Member)))
		if err == nil || strings.Contains(log.String(), "status=137") {
			return nil
		}
		return fmt.Errorf("another member leads, and the command of the first one was not told to stop: %w\n%s", err, log)
	})
}
