// Package needs ends a test on a machine that lacks what it needs: it is skipped with a line that says what to install, and fails in CI, where
// nothing may be missing.
package needs

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program, which packages of Debian have.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is missing, so this test is left out; on Debian: apt-get install %s", name, debian)
	}
	return path
}

// Missing ends a test with a line that says what this machine lacks.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("with CI=true all tests run: "+format, args...)
	}
	t.Skipf(format, args...)
}
