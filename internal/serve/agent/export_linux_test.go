package agent

import (
	"os"
	"testing"
)

// NeedNamespaces skips a test where a command gets no namespace of processes of its own, as in many containers, or fails it where CI is true.
func NeedNamespaces(t *testing.T) {
	t.Helper()
	if err := (post{means: Namespace}).try(); err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip("no namespace of processes: ", err)
	}
}
