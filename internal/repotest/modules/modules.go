// Package modules runs the tests of the modules that only tests need, and of the server that --nats embed starts. They are modules of their own, so that
// no program that imports this one gets a browser's protocol or a message broker with it. Their tests are part of go test ./... all the same,
// in several packages: each ends in the time that go test gives one, also beside other work.
package modules

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
)

// Pass fails unless the tests of packages in the folder of a module pass.
func Pass(t *testing.T, folder string, packages ...string) {
	t.Helper()
	dir, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "go.work")
	if _, err := os.Stat(work); err != nil {
		work = "off"
	}
	run := func(arguments ...string) ([]byte, error) {
		command := exec.CommandContext(t.Context(), "go", arguments...)
		command.Dir, command.Env = dir, append(os.Environ(), "GOWORK="+work)
		return command.CombinedOutput()
	}
	if out, err := run(append([]string{"list", "-deps", "-test"}, packages...)...); err != nil {
		needs.Missing(t, "what the module in %s needs cannot be loaded, so its tests are left out: %v\n%s", folder, err, out)
	}
	test := []string{"test", "-vet=off", "-timeout=20m"}
	if testing.Short() {
		test = append(test, "-short")
	}
	test = slices.Concat(test, packages)
	out, err := run(test...)
	if err != nil {
		t.Errorf("go -C %s %s: %v", folder, strings.Join(test, " "), err)
	}
	t.Logf("%s", out)
}
