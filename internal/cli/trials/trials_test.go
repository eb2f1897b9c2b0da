// Package trials tests the commands that start processes: members of groups, workers and their server.
package trials

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ringleader.example/ringleader/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, map[string]func(){"doomed": doom}) }

// long lets tests take minutes.
var long = flag.Bool("long", false, "besiege members by 10 000 idle and 1000 busy clients and 1 GB of noise, with the usual lease; let a worker give up a long piece")

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, clitest.Scripts("testdata/live", nil))
}
