//go:build unix

package cli_test

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// A port of the member itself takes connections before the command runs.
func TestAPortOfTheMemberShowsNotThatItsCommandIsReady(t *testing.T) {
	for flags, want := range map[string]string{
		"--http :9000 --ready-port 9000":                           "by --http:",
		"--http 0.0.0.0:9000 --ready-port 10.0.0.1:9000":           "by --http:",
		"--http 127.0.0.1:9000 --ready-port localhost:9000":        "by --http:",
		"--ready-port 7001":                                        "by --member:",
		"--listen 0.0.0.0:7002 --ready-port 7002":                  "by --listen:",
		"--http 127.0.0.1:9000 --ready-port 127.0.0.1:9001":        "",
		"--insecure --listen 10.0.0.1:7002 --ready-port :7002":     "",
		"--insecure --http 10.0.0.1:9000 --ready-port [::1]:9000":  "",
		"--insecure --http 10.0.0.1:9000 --ready-port 10.0.0.2:90": "",
	} {
		arguments := append([]string{"exec", "--check", "--id", "1", "--data", "d", "--member", "1=127.0.0.1:7001"}, strings.Fields(flags)...)
		code, _, stderr := clitest.Call(append(arguments, "--", "true")...)
		if want == "" && code == report.ExitFine {
			continue
		}
		if want == "" || code != report.ExitUsage || !strings.Contains(stderr, "where this member listens itself "+want) {
			t.Errorf("%s: exit status %d, %q, want %q", flags, code, stderr, want)
		}
	}
}
