package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
)

// With -long, the extremes of all orders are computed again at each size. It takes half an hour of a core, so also -timeout 1h.
func TestTheExtremesOfAllOrdersAreComputedAgain(t *testing.T) {
	if !*long {
		t.Skip("-long -timeout 1h: it takes half an hour of a core")
	}
	for _, f := range manifest(t) {
		command, cut := strings.CutSuffix(f.Command, cutColumns)
		if !strings.HasPrefix(f.File, "all-") || !cut {
			continue
		}
		code, stdout, stderr := clitest.Call(strings.Fields(command)[1:]...)
		if code != 0 {
			t.Fatalf("%s: exit status %d, %s", command, code, stderr)
		}
		if computed := withoutTimes(stdout); computed != string(clitest.Contents(t, filepath.Join(resultsFolder, f.File))) {
			t.Errorf("%s is not what its command prints: %s", f.File, computed)
		}
	}
}
