package clock

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/needs"
)

// child is the variable with which the test starts itself again: the reading of Boottime outside the namespace.
const child = "RINGLEADER_TEST_BOOTTIME"

// A suspension moves CLOCK_BOOTTIME and not CLOCK_MONOTONIC. No test suspends its machine; a namespace moves the clocks likewise.
func TestBoottimeGoesOnDuringSuspension(t *testing.T) {
	const offset = 100_000 * time.Second
	if os.Getenv(child) != "" {
		c := System()
		before, _ := strconv.ParseInt(os.Getenv(child), 10, 64)
		if moved := c.Boottime() - time.Duration(before); moved < offset {
			t.Errorf("Boottime has moved by %v while the machine was suspended for %v", moved, offset)
		}
		if c.Monotonic() > offset/2 {
			t.Error("Monotonic has moved, too")
		}
		return
	}
	// The clocks of a namespace are set before its first process begins, so another program makes it.
	unshare := needs.Program(t, "unshare", "util-linux")
	arguments := []string{"--time", "--boottime", strconv.Itoa(int(offset / time.Second)), "--fork", os.Args[0], "-test.run=^TestBoottimeGoesOnDuringSuspension$", "-test.v"}
	if os.Getuid() != 0 {
		arguments = append([]string{"--user", "--map-root-user"}, arguments...)
	}
	c := exec.Command(unshare, arguments...)
	c.Env = append(os.Environ(), child+"="+strconv.FormatInt(int64(System().Boottime()), 10))
	out, err := c.CombinedOutput()
	switch {
	case strings.Contains(string(out), "=== RUN"):
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	case err != nil:
		t.Skipf("no namespace of time: %v, %s", err, out)
	default:
		t.Errorf("it did not run: %s", out)
	}
}

func TestBoottimeAdvancesAsMonotonicDoes(t *testing.T) {
	c := System()
	boot, begun := c.Boottime(), c.Monotonic()
	for c.Monotonic()-begun < time.Millisecond {
	}
	advanced := c.Monotonic() - begun
	if now := c.Boottime(); now-boot < advanced {
		t.Errorf("it has advanced by %v, and Monotonic by %v", now-boot, advanced)
	}
}
