package agent

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// outside is the environment variable that makes the test binary a process with mounts of its own, which those of no other change.
const outside = "AGENT_TEST_OUTSIDE"

// What a command without a namespace needs is tried among the processes of the host, where nothing may be mounted.
func TestNothingIsMountedOnTheHost(t *testing.T) {
	t.Parallel()
	if os.Getenv(outside) != "" {
		beOutside(t)
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), outside+"=set")
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if os.Getuid() == 0 {
		child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	out, err := child.CombinedOutput()
	if child.Process == nil {
		t.Skip("no namespace of mounts: ", err)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// beOutside tries all means, and begins first processes where they must not be.
func beOutside(t *testing.T) {
	t.Helper()
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skip("no namespace of mounts: ", err)
	}
	mounted := func() int {
		all, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(all), " /proc ")
	}
	before := mounted()
	for _, namespace := range []bool{true, false} {
		means, _ := try(namespace)
		for _, command := range [][]string{nil, {"true"}} {
			out, err := exec.Command(os.Args[0], post{means: means}.arguments(firstRole, command)[1:]...).CombinedOutput()
			refused := strings.Contains(string(out), "this is not the first process of a namespace")
			if trial := command == nil && means != Namespace; refused == trial || trial != (err == nil) {
				t.Errorf("%s: %q outside of a namespace: %v, %s", means, command, err, out)
			}
		}
	}
	if after := mounted(); after != before {
		t.Errorf("%d mounts at /proc; there were %d", after, before)
	}
}
