package trials

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/rig"
)

// The service manager has started the warden, and names its process as that of the watchdog.
func TestAMemberWithAWardenSpeaksForItToTheServiceManagerAndItsCommandDoesNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	socket, environment := filepath.Join(dir, "notify"), filepath.Join(dir, "environment")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", "-c", `WATCHDOG_PID=$$ exec "$@"`, "sh", "ringleader", "exec", "--id", "1", "--member", "1="+addresses[0],
		"--data", newStore(t, 1), "--", "sh", "-c", `env >"$0.new" && mv "$0.new" "$0" && exec cat`, environment)
	command.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=200000")
	command.Stderr = t.Output()
	hold, err := command.StdinPipe() // of the command
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		command.Process.Kill()
		command.Wait()
	}()
	if err := manager.SetReadDeadline(time.Now().Add(clitest.Limit)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1<<10)
	until := func(notice string) {
		t.Helper()
		for {
			n, err := manager.Read(buffer)
			if err != nil {
				t.Fatalf("no %s: %v", notice, err)
			}
			if string(buffer[:n]) == notice {
				return
			}
		}
	}
	until("READY=1")
	var text []byte
	for text == nil {
		until("WATCHDOG=1")
		text, _ = os.ReadFile(environment)
	}
	if i := slices.IndexFunc(strings.Split(string(text), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "NOTIFY_") || strings.HasPrefix(line, "WATCHDOG_")
	}); i >= 0 {
		t.Errorf("the command has the variables of its manager:\n%s", text)
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	until("STOPPING=1")
}
