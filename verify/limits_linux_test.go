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

// inChild is set in the processes that the next test starts, to a reduction, so that nothing else takes memory there.
const inChild = "RINGLEADER_VERIFY_MEMORY"

func TestMemoryStaysBelowTheLimit(t *testing.T) {
	const limit = leastMemory
	if text := os.Getenv(inChild); text != "" {
		reduce, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(lcr.Algorithm, Options{Instance: decreasing(14), Starts: AnyTime, Memory: limit, MaxStates: 5_000_000, Reduce: Reduction(reduce)})
		if err != nil {
			t.Fatal(err)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("limit %d complete %t partial %d %s\n", r.Limit, r.Complete, r.Partial, regexp.MustCompile(`VmHWM:.*kB`).Find(status))
		return
	}
	if testing.Short() {
		t.Skip("the race detector, which runs the short tests, takes memory of its own")
	}
	for reduce, partial := range map[Reduction]int{NoReduction: 0, PartialOrder: 1} {
		child := exec.Command(os.Args[0], "-test.run=^TestMemoryStaysBelowTheLimit$")
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%d", inChild, reduce))
		out, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		found := regexp.MustCompile(fmt.Sprintf(`limit 2 complete false partial %d VmHWM:\s*(\d+) kB`, partial)).FindSubmatch(bytes.TrimSpace(out))
		if found == nil {
			t.Fatalf("%s: %s", reduce, out)
		}
		if peak, err := strconv.Atoi(string(found[1])); err != nil || peak<<10 > limit {
			t.Errorf("%s: %d KiB of memory, %v; the limit is %d KiB", reduce, peak, err, limit>>10)
		} else {
			t.Logf("%s: %d KiB", reduce, peak)
		}
	}
}
