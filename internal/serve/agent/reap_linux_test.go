package agent

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
)

// reaping is the environment variable that makes the test binary a process of which all children are those of a tree.
const reaping = "AGENT_TEST_REAPING"

// A thread that runs before others and reaps an ordinary process may keep its processor from that for a second.
func TestAKeeperReapsACommandAsAnOrdinaryProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv(reaping) != "" {
		reapOne()
	}
	kerneltest.NeedPriority(t)
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), reaping+"=set")
	if out, err := child.CombinedOutput(); err != nil || string(out) != "[0] 2\n[] 2\n" {
		t.Errorf("policies of scheduling as it reaps, and afterwards: %q, %v; want SCHED_OTHER and then SCHED_RR, and no change for a process that hurries, too", out, err)
	}
}

// reapOne reaps a process that runs as others do, and one that does not, and tells the policies of the thread that reaps.
func reapOne() {
	runtime.LockOSThread()
	policy := func() uintptr {
		is, _, _ := syscall.Syscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
		return is &^ (1 << 30) // without the flag SCHED_RESET_ON_FORK
	}
	for _, hurries := range []bool{false, true} {
		if err := kernel.HurryAlone(); err != nil {
			panic(err)
		}
		pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "exit 0"}, nil)
		if err != nil {
			panic(err)
		}
		var during []uintptr
		all := tree{first: pid, hurries: hurries, reaps: func() { during = append(during, policy()) }}
		for !all.collect(true) {
		}
		fmt.Println(during, policy())
	}
	os.Exit(0)
}
