package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What only tests need has a module of its own, so that no program that imports this one gets a browser's protocol with it, and so has the
// server that --nats embed starts. Their tests are part of go test ./... all the same.
func TestOtherModulesPass(t *testing.T) {
	t.Parallel()
	for _, module := range []string{"cluster", "tests"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.Abs(filepath.Join(root, module))
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
			if out, err := run("list", "-deps", "-test", "./..."); err != nil {
				if os.Getenv("CI") != "true" {
					t.Skipf("what the module %s needs cannot be loaded, so its tests are left out: %v\n%s", module, err, out)
				}
				t.Fatalf("%v\n%s", err, out)
			}
			test := []string{"test", "-vet=off", "-timeout=20m", "./..."}
			if testing.Short() {
				test = append(test, "-short")
			}
			out, err := run(test...)
			if err != nil {
				t.Errorf("go -C %s %s: %v", module, strings.Join(test, " "), err)
			}
			t.Logf("%s", out)
		})
	}
}
