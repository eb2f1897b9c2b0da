package electiontest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

// TestBelied runs the suite over an algorithm with a correct worst-case bound, one that is too low, and a best-case bound
// that is too high. It runs in a process of its own, since it fails.
func TestBelied(t *testing.T) {
	if os.Getenv("ELECTIONTEST_BELIED") == "" {
		t.Skip("run by TestABrokenBoundFailsItsOwnTestOnly")
	}
	a := hirschbergSinclair
	a.Bounds = append(slices.Clone(a.Bounds),
		election.Bound{Of: "election", Case: election.Worst, Formula: "3", Value: func(uint64) uint64 { return 3 }},
		election.Bound{Of: "election", Case: election.Best, Formula: "2^40", Value: func(uint64) uint64 { return 1 << 40 }},
	)
	Conform(t, a, Options{Sizes: []int{1, 2, 5}, Runs: 3, Verify: 2})
}

func TestABrokenBoundFailsItsOwnTestOnly(t *testing.T) {
	run := exec.Command(os.Args[0], "-test.run=^TestBelied$", "-test.v")
	run.Env = append(os.Environ(), "ELECTIONTEST_BELIED=1")
	out, err := run.CombinedOutput()
	if err == nil {
		t.Fatalf("the suite holds:\n%s", out)
	}
	var failed []string
	for line := range strings.Lines(string(out)) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: TestBelied/parameters_map[]/"); is {
			name, _, _ = strings.Cut(name, " (")
			failed = append(failed, name)
		}
	}
	if want := []string{"worst_case_of_election_messages_is_3", "best_case_of_election_messages_is_2^40"}; !slices.Equal(failed, want) {
		t.Errorf("%q fail; want %q\n%s", failed, want, out)
	}
}

// The checker finds runs that simulations miss, and reports them.
func TestABoundThatOnlyTheCheckerSeesBrokenIsReportedWithItsRun(t *testing.T) {
	if os.Getenv("ELECTIONTEST_BELIED") == "" {
		run := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		run.Env = append(os.Environ(), "ELECTIONTEST_BELIED=1")
		if out, err := run.CombinedOutput(); err == nil || !strings.Contains(string(out), "bound broken: 12 election messages") || !strings.Contains(string(out), "initiates") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	a := hirschbergSinclair
	a.Bounds = []election.Bound{{Of: "election", Case: election.Worst, Formula: "3", Value: func(uint64) uint64 { return 3 }}}
	Conform(t, a, Options{Sizes: []int{1}, Runs: 1, Verify: 2})
}

func TestARunBreaksTheBoundsThatItsMessagesPass(t *testing.T) {
	r, err := simulate.New(small(t, hirschbergSinclair)).Run(simulate.Options{Setup: Setup(&hirschbergSinclair.Declaration, 8, 1)})
	if err != nil {
		t.Fatal(err)
	}
	bound := func(c election.Case, value uint64) *election.Bound {
		return &election.Bound{Of: "election", Case: c, Formula: "b", Value: func(uint64) uint64 { return value }}
	}
	sent := r.Messages.Election
	alone := bound(election.Worst, 0)
	alone.OneStart = true
	for b, broken := range map[*election.Bound]bool{
		bound(election.Worst, sent): false, bound(election.Worst, sent-1): true,
		bound(election.Best, sent): false, bound(election.Best, sent+1): true, alone: false,
	} {
		if got := breaks(b, r) != ""; got != broken {
			t.Errorf("%s %d, with %d sent: broken %v", b.Case, b.Value(8), sent, got)
		}
	}
}
