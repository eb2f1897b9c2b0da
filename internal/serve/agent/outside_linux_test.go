package agent_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/serve/agent"
)

// What a command without a namespace needs is tried among the processes of the host, where nothing may be mounted.
func TestNothingIsMountedOnTheHost(t *testing.T) {
	t.Parallel()
	mounted := func() int {
		all, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(all), " /proc ")
	}
	before := mounted()
	for _, namespace := range []bool{true, false} {
		means, first := agent.Try(namespace)
		out, err := exec.Command(os.Args[0], first...).CombinedOutput()
		if refused := strings.Contains(string(out), "this is not the first process of a namespace"); refused != (means == agent.Namespace) || refused != (err != nil) {
			t.Errorf("%s: a trial outside of a namespace: %v, %s", means, err, out)
		}
		_, first = agent.Try(namespace, "true")
		if out, err := exec.Command(os.Args[0], first...).CombinedOutput(); err == nil || !strings.Contains(string(out), "this is not the first process of a namespace") {
			t.Errorf("%s: a command outside of a namespace: %v, %s", means, err, out)
		}
	}
	if after := mounted(); after != before {
		t.Errorf("the host has %d mounts at /proc, and had %d", after, before)
	}
}
