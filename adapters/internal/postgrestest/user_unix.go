//go:build unix

package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// temporary is where the directories of servers are: a socket's path is short, another user reaches it, and it has no space. The user's own directory
// for temporary files need not be so.
const temporary = "/tmp"

// unprivileged returns a function that sets the user of a command. PostgreSQL refuses to start as root. If the test runs as root, its commands run as the
// user nobody, who gets the directory; otherwise they run as the user of the test.
func unprivileged(t testing.TB, dir string) func(*exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return func(c *exec.Cmd) *exec.Cmd { return c }
	}
	owner, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(owner.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(owner.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	return func(c *exec.Cmd) *exec.Cmd {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return c
	}
}
