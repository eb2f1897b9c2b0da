package rig

import (
	"os"
	"strings"
)

// Unset removes the variables from the environment that members and their commands obey: those of the shell, or of the supervisor, in which a test
// runs are not meant for the programs that the test starts.
func Unset() {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		for _, prefix := range []string{"RINGLEADER_", "NOTIFY_", "WATCHDOG_"} {
			if strings.HasPrefix(name, prefix) {
				_ = os.Unsetenv(name)
			}
		}
	}
}
