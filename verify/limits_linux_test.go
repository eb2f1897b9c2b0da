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
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// inChild is set in the processes that the next test starts, to what each explores, so that nothing else takes memory there.
const inChild = "RINGLEADER_VERIFY_MEMORY"

// explored reaches a limit of memory in an exploration.
func explored(what string, limit uint64) (*Report, error) {
	o := Options{Setup: decreasing(14), Starts: AnyTime, Memory: limit, MaxStates: 5_000_000}
	switch what {
	case "partial order":
		o.Reduce = PartialOrder
	case "a complete graph": // a state has hundreds of moves, each to a large configuration
		a := forwarding(election.UnknownNeighbours, 0, 0)
		a.Start = func(p *made, out *election.Out[token]) {
			if uint8(p.ID) == p.Last {
				out.Lead(0)
			}
			for port := range election.Port(p.Last - 1) {
				out.Send(port, 0, token{Type: uint8(p.ID)})
			}
		}
		return Run(a, Options{Setup: network.Setup{IDs: (&Options{Size: 24}).rising()}, Memory: limit, Cores: 2})
	}
	return Run(lcr.Algorithm, o)
}

func TestMemoryStaysBelowTheLimit(t *testing.T) {
	const limit = leastMemory
	if what := os.Getenv(inChild); what != "" {
		r, err := explored(what, limit)
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
	for what, partial := range map[string]int{"all": 0, "partial order": 1, "a complete graph": 0} {
		child := exec.Command(os.Args[0], "-test.run=^TestMemoryStaysBelowTheLimit$")
		child.Env = append(os.Environ(), inChild+"="+what)
		out, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		found := regexp.MustCompile(fmt.Sprintf(`limit 2 complete false partial %d VmHWM:\s*(\d+) kB`, partial)).FindSubmatch(bytes.TrimSpace(out))
		if found == nil {
			t.Fatalf("%s: %s", what, out)
		}
		if peak, err := strconv.Atoi(string(found[1])); err != nil || peak<<10 > limit {
			t.Errorf("%s: %d KiB of memory, %v; the limit is %d KiB", what, peak, err, limit>>10)
		} else {
			t.Logf("%s: %d KiB", what, peak)
		}
	}
}
