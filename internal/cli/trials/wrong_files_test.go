//go:build unix

package trials

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// withoutDeaths are flags with which doctor does not measure how fast commands die, which keeps two cores busy for a second.
var withoutDeaths = []string{"--algorithm", "bully", "--unsafe-no-quorum"}

// doctor expects that doctor finds something wrong with a member that runs.
func (g *trio) doctor(id int, wants ...string) {
	g.t.Helper()
	code, stdout, stderr := clitest.Call(slices.Concat([]string{"doctor"}, g.flags(id), withoutDeaths)...)
	for _, want := range wants {
		if text := unwrapped(stdout); code != report.ExitNo || !strings.Contains(text, want) {
			g.t.Errorf("doctor: exit status %d, and no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
}

func TestStatusAndDoctorTellOfACertificateThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	g := newTrio(t)
	g.join(1)
	g.until(1, "electing", "status", "--data", g.data[0])
	own := filepath.Join(g.authority, "1.pem")
	if err := os.WriteFile(own, clitest.Contents(t, filepath.Join(g.authority, "2.pem")), 0o600); err != nil {
		t.Fatal(err)
	}
	g.until(1, "the latest one cannot be used: ", "status", "--data", g.data[0])
	g.until(1, `"certificate_problem":"`, "status", "--json", "--data", g.data[0])
	response, err := http.Get("http://" + g.http[0] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(text), "\nringleader_certificate_wrong 1\n") {
		t.Errorf("%v, and the metrics are\n%s", err, text)
	}
	g.doctor(1, "--cert, --key, --ca: "+own+" and ", "the latest certificate of the running member 1 cannot be used: ")
}

func TestStatusAndDoctorTellOfADirectoryThatWasRenamed(t *testing.T) {
	t.Parallel()
	g := newTrio(t)
	g.join(1)
	g.until(1, "electing", "status", "--data", g.data[0])
	renamed := g.data[0] + ".old"
	if err := os.Rename(g.data[0], renamed); err != nil {
		t.Fatal(err)
	}
	g.data[0] = renamed
	g.until(1, "fails, so this member keeps no promise: ", "status", "--data", renamed)
	g.until(1, `"storage_problem":"`, "status", "--json", "--data", renamed)
	g.doctor(1, "the storage of the running member 1 fails: ")
}
