package rig

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// obeyed reports whether a variable is for a member, or its command.
func obeyed(name string) bool {
	return strings.HasPrefix(name, "RINGLEADER_") || strings.HasPrefix(name, "NOTIFY_") || strings.HasPrefix(name, "WATCHDOG_")
}

// Inherited returns the environment of this process without what is for members of other groups, such as the path of a lease file.
func Inherited() []string {
	return slices.DeleteFunc(os.Environ(), obeyed) // which looks at beginnings
}

// Environment makes that of this process fit for tests of members. It removes the variables that members and their commands obey: those of the shell,
// or of the supervisor, in which tests run are not for the programs that they start. It removes the width of the terminal, which breaks lines. And it makes
// the path of temporary files short: with the name of a test, and that of a socket, a longer one is too long for a socket.
func Environment() {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); obeyed(name) || name == "COLUMNS" {
			_ = os.Unsetenv(name)
		}
	}
	const short = "/tmp"
	if runtime.GOOS != "windows" && len(os.TempDir()) > len(short) {
		_ = os.Setenv("TMPDIR", short)
	}
}
