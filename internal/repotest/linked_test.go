package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A member and a page of the lab do without the modules of NATS.
func TestOnlyTheCommandLinksNATS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pkg, os, arch string
		links         bool
	}{
		{".", "linux", "amd64", false},
		{"./cmd/ringleader", "js", "wasm", false},
		{"./cmd/ringleader", "linux", "amd64", true},
	} {
		list := exec.Command("go", "list", "-deps", c.pkg)
		list.Dir, list.Env = root, append(os.Environ(), "GOOS="+c.os, "GOARCH="+c.arch)
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		if links := strings.Contains(string(out), "github.com/nats-io/"); links != c.links {
			t.Errorf("%s for %s links NATS: %t, want %t", c.pkg, c.os, links, c.links)
		}
	}
}

// Who imports the root package gets no line of another module into go.sum. go mod tidy writes those of the tests of all packages that are imported,
// too, so these tests do without other modules.
func TestTheRootPackageAndItsTestsNeedNoOtherModule(t *testing.T) {
	t.Parallel()
	deps := func(arguments ...string) []string {
		list := exec.Command("go", append([]string{"list", "-deps"}, arguments...)...)
		list.Dir = root
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		return strings.Fields(string(out))
	}
	own := tree(t).name
	all := []string{"-test", "-f={{with .Module}}{{.Path}}{{end}}"}
	for _, p := range deps(".") {
		if p == own || strings.HasPrefix(p, own+"/") {
			all = append(all, p)
		}
	}
	if modules := slices.Compact(slices.Sorted(slices.Values(deps(all...)))); !slices.Equal(modules, []string{own}) {
		t.Errorf("the root package and the tests of what it imports need the modules %q", modules)
	}
}

// A server of NATS takes a fifth of the time of a first build, and what only tests need no program shall list. They are in modules of their
// own.
func TestThisModuleNeedsNeitherServerNorBrowser(t *testing.T) {
	text := read(t, filepath.Join(root, "go.mod"))
	for _, module := range []string{"github.com/nats-io/nats-server", "github.com/nats-io/jwt", "github.com/chromedp", "porcupine"} {
		if strings.Contains(text, module) {
			t.Errorf("go.mod needs %s", module)
		}
	}
}
