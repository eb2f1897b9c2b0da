//go:build unix

package trials

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

func TestFlagsOfHealthAndPreferenceThatDoNotGoTogetherAreNamed(t *testing.T) {
	for flags, want := range map[string]string{
		"--weight 0":                                      "--weight is a number from 1 to 65535, not 0",
		"--weight 65536":                                  "--weight is a number from 1 to 65535, not 65536",
		"--preempt-delay 5s":                              "--preempt-delay is for --preempt",
		"--health-interval 5s":                            "--health-interval is for --health-command or --health-http",
		"--health-rise 1":                                 "--health-rise is for --health-command or --health-http",
		"--health-http tcp://x":                           `--health-http: "tcp://x" is not a URL`,
		"--health-http http:/x":                           `--health-http: "http:/x" is not a URL`,
		"--health-http http://x --health-command true":    "a member has one check",
		"--health-command true --health-fall 0":           "--health-fall (0) are at least 1",
		"--health-command true --health-timeout 0s":       "--health-timeout is a time above 0",
		"--health-command true --preempt --lease 1m":      "",
		"--preempt --preempt-delay 1s --lease 2s":         "--preempt-delay (1s) must be at least --lease",
		"--weight 7 --health-http https://[::1]:8/health": "",
		"--algorithm bully --unsafe-no-quorum --weight 7": "--weight is not for --algorithm bully",
		"--algorithm bully --unsafe-no-quorum --health-command true --warden=false": "is not for --algorithm bully",
	} {
		arguments := append([]string{"join", "--check", "--id", "1", "--data", "d", "--member", "1=127.0.0.1:7001"}, strings.Fields(flags)...)
		code, _, stderr := clitest.Call(arguments...)
		if wrong := want != ""; wrong != (code == report.ExitUsage) || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit status %d, %q, want %q", flags, code, stderr, want)
		}
	}
}

func TestDefaultsOfHealthAreShown(t *testing.T) {
	_, out, stderr := clitest.Call("exec", "--check", "--id", "1", "--data", "d", "--member", "1=127.0.0.1:7001", "--health-command", "true", "--health-interval", "250ms", "--preempt")
	text := unwrapped(out)
	for _, want := range []string{
		`health-interval = "250ms" # --health-interval`, `# health-timeout = "250ms" # default`, `# health-rise = 2 # default`, `# preempt-delay = "10s" # default`, `health-command = "true" # --health-command`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s%s", want, out, stderr)
		}
	}
}

func TestAnOperatorSeesHealthAndPausesPreemption(t *testing.T) {
	t.Parallel()
	well := filepath.Join(t.TempDir(), "well")
	data := newStore(t, 1)
	start(t, "join", "--id", "1", "--data", data, "--member", "1="+freeAddress(t), "--lease", "1m", "--stall", "1m", "--hang", "0", "--preempt", "--preempt-delay", "2m",
		"--weight", "5", "--health-command", "test -e "+well, "--health-interval", "20ms", "--health-timeout", "1m")
	until := func(code int, text string, arguments ...string) {
		t.Helper()
		prints(t, code, text, append(arguments, "--data", data)...)
	}
	until(1, "member 1 may not lead: the health check fails: exit status 1", "status")
	until(1, "health this member may not lead: exit status 1", "status")
	if err := os.WriteFile(well, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(0, "health the check passes", "status")
	until(0, " 5 this member, leader", "status")
	until(0, "UTC, from none to 1: elected: no leader was known before", "status")
	until(0, `"last_change":{"cause":"elected","detail":"no leader was known before","time":"`, "status", "--json")
	until(0, "preemption paused, until ringleader resume-preemption", "pause-preemption")
	until(0, "preemption paused for 59m5", "pause-preemption", "1h")
	until(0, `"preemption":{"paused":true,"left":3`, "status", "--json")
	until(0, "leader in term", "resume-preemption")
	until(0, `"preemption":{"paused":false,"left":null}`, "status", "--json")
	until(report.ExitUsage, "takes one argument at most, a time above 0", "pause-preemption", "soon")
	until(report.ExitUsage, "takes one argument at most, a time above 0", "pause-preemption", "--", "-1s")
}
