//go:build !unix

package postgrestest

import (
	"os/exec"
	"testing"
)

const temporary = "" // that of the user

// unprivileged changes nothing where there is no root.
func unprivileged(testing.TB, string) func(*exec.Cmd) *exec.Cmd {
	return func(c *exec.Cmd) *exec.Cmd { return c }
}
