// Package needs skips a test if a program is not installed, and says which Debian package has it. With CI=true the test fails, since CI installs all
// programs.
package needs

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program. If the program is missing, Program skips or fails the test, and names the Debian packages that have it.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is missing, so this test is left out; on Debian: apt-get install %s", name, debian)
	}
	return path
}

// Missing skips a test for a reason. With CI=true it fails the test.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("with CI=true all tests run: "+format, args...)
	}
	t.Skipf(format, args...)
}
