//go:build unix

package cli_test

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// An operator knows no fields of a Timing.
func TestATimerThatDoesNotFitIsNamedAsASetting(t *testing.T) {
	for flags, want := range map[string]string{
		"--lease 50ms":                         "the wait for votes of --preset lan (40ms) must be at most half of --lease, but --lease is 50ms",
		"--lease 1s --preset wan":              "the wait for votes of --preset wan (1s) must be at most half of --lease",
		"--renewal 400ms":                      "--renewal (400ms) must be at most a third of what --lease leaves without the allowance for clocks, the margin (a tenth of --lease) and --stop-grace",
		"--stop-grace 1s":                      "--renewal (85ms) must be at most",
		"--preempt --preempt-delay 100ms":      "--preempt-delay (100ms) must be at least --lease, but --lease is 500ms",
		"--suspicion 200ms":                    "--suspicion (200ms) must be at least three times --heartbeat, but --heartbeat is 100ms",
		"--heartbeat 200ms":                    "--suspicion (400ms) must be at least three times --heartbeat, but --heartbeat is 200ms",
		"--lease 2h":                           "ringleader: --lease is from 1ms to 1h0m0s, not 2h0m0s; --preempt-delay is from",
		"--lease 1ms":                          "the margin (a tenth of --lease) is from 1ms",
		"--renewal 100us":                      "--renewal is from 1ms",
		"--stop-grace 2h":                      "--stop-grace is from 1ms",
		"--heartbeat 2h":                       "--heartbeat is from 1ms",
		"--suspicion 2h":                       "--suspicion is from 1ms",
		"--preempt --preempt-delay 2h":         "--preempt-delay is from 1ms",
		"--lease 50ms --renewal 100us":         "--renewal is from 1ms",
		"--preset wan --lease 100ms":           "the wait for votes of --preset wan (1s)",
		"--lease 400ms --suspicion 150ms":      "--suspicion (150ms)",
		"--lease 3s --preset wan --renewal 2s": "--renewal (2s)",
		"--shortest-lease 50ms":                "--shortest-lease (50ms) must be at least 167ms: a third of --lease, and what bears two lost renewals",
		"--shortest-lease 1s":                  "--shortest-lease (1s) must be at most --lease (500ms)",
		"--shortest-lease -1s":                 "--shortest-lease is a time above 0",
	} {
		arguments := append([]string{"exec", "--check", "--id", "1", "--data", "d", "--member", "1=127.0.0.1:7001"}, strings.Fields(flags)...)
		code, _, stderr := clitest.Call(append(arguments, "--", "true")...)
		field := strings.ContainsAny(strings.ReplaceAll(stderr, "Ctrl", ""), "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		if code != report.ExitUsage || !strings.Contains(stderr, want) || field {
			t.Errorf("%s: exit status %d, %q, want %q", flags, code, stderr, want)
		}
	}
	for flags, want := range map[string]string{
		"--lease 2s":                     "# shortest-lease = \"2s\"",
		"--lease 2s --shortest-lease 1s": "# renewal = \"333.333333ms\"",
		"--preset fast":                  "# hang = \"36ms\"",
		"--preset shared --hang 0":       "hang = \"0s\"",
		"--stop-grace 100ms":             "# shortest-lease = \"341ms\"",
		"--renewal 120ms":                "# shortest-lease = \"435ms\"",
	} {
		arguments := append([]string{"exec", "--check", "--id", "1", "--data", "d", "--member", "1=127.0.0.1:7001"}, strings.Fields(flags)...)
		if code, stdout, stderr := clitest.Call(append(arguments, "--", "true")...); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit status %d, %q%q, want %q", flags, code, stdout, stderr, want)
		}
	}
	for flags, want := range map[string]string{
		"--renewal 400ms": "the margin (a tenth of --lease) and the grace (a tenth of --lease)", // join has no --stop-grace
		"--algorithm bully --unsafe-no-quorum --delay 2h": "--delay is from 1ms",
	} {
		code, _, stderr := clitest.Call(append([]string{"join", "--check", "--id", "1", "--data", "d", "--member", "1=127.0.0.1:7001"}, strings.Fields(flags)...)...)
		if code != report.ExitUsage || !strings.Contains(stderr, want) || strings.Contains(stderr, "Timing") {
			t.Errorf("join %s: exit status %d, %q, want %q", flags, code, stderr, want)
		}
	}
}
