package rig

import (
	"os"
	"runtime"
	"strings"
)

// Environment makes that of this process fit for tests of members. It removes the variables that members and their commands obey: those of the shell,
// or of the supervisor, in which tests run are not for the programs that they start. And it makes the path of temporary files short: with the name of a
// test, and that of a socket, a longer one is too long for a socket.
func Environment() {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		for _, prefix := range []string{"RINGLEADER_", "NOTIFY_", "WATCHDOG_"} {
			if strings.HasPrefix(name, prefix) {
				_ = os.Unsetenv(name)
			}
		}
	}
	const short = "/tmp"
	if runtime.GOOS != "windows" && len(os.TempDir()) > len(short) {
		_ = os.Setenv("TMPDIR", short)
	}
}
