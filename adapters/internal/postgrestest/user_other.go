//go:build !unix

package postgrestest

import (
	"os/exec"
	"testing"
)

// unprivileged changes nothing where there is no root.
func unprivileged(testing.TB, string) func(*exec.Cmd) *exec.Cmd {
	return func(c *exec.Cmd) *exec.Cmd { return c }
}
