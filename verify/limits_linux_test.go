package verify

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
)

// inChild is set in the process that the next test starts, so that nothing else takes memory there.
const inChild = "RINGLEADER_VERIFY_MEMORY"

func TestMemoryStaysBelowTheLimit(t *testing.T) {
	const limit = leastMemory
	if os.Getenv(inChild) != "" {
		r, err := Run(lcr.Algorithm, Options{Instance: decreasing(14), Memory: limit, MaxStates: 5_000_000})
		if err != nil {
			t.Fatal(err)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("limit %d complete %t %s\n", r.Limit, r.Complete, regexp.MustCompile(`VmHWM:.*kB`).Find(status))
		return
	}
	if testing.Short() {
		t.Skip("the race detector, which runs the short tests, takes memory of its own")
	}
	child := exec.Command(os.Args[0], "-test.run=^TestMemoryStaysBelowTheLimit$")
	child.Env = append(os.Environ(), inChild+"=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := regexp.MustCompile(`limit 2 complete false VmHWM:\s*(\d+) kB`).FindSubmatch(bytes.TrimSpace(out))
	if found == nil {
		t.Fatalf("%s", out)
	}
	if peak, err := strconv.Atoi(string(found[1])); err != nil || peak<<10 > limit {
		t.Errorf("%d KiB of memory, %v; the limit is %d KiB", peak, err, limit>>10)
	} else {
		t.Logf("%d KiB", peak)
	}
}
