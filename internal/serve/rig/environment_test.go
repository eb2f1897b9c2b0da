package rig

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestProgramsOfTestsObeyNoSettingsOfTheShell(t *testing.T) {
	variables := []string{"RINGLEADER_LEASE", "RINGLEADER_NATS_TOKEN", "NOTIFY_SOCKET", "WATCHDOG_USEC"}
	for _, name := range variables {
		t.Setenv(name, "2h")
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "long"))
	for _, variable := range Inherited() {
		if strings.HasSuffix(variable, "=2h") {
			t.Errorf("a process inherits %s", variable)
		}
	}
	Environment()
	for _, name := range variables {
		if value, there := os.LookupEnv(name); there {
			t.Errorf("%s is %q", name, value)
		}
	}
	if folder := os.TempDir(); runtime.GOOS != "windows" && folder != "/tmp" {
		t.Errorf("temporary files are in %s", folder)
	}
}
