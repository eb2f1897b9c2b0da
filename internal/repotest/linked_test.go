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
	for pkg, links := range map[string]bool{"": false, "/cmd/ringleader": true} {
		if slices.ContainsFunc(needs(t, pkg), ofNATS) != links {
			t.Errorf(".%s links NATS: %t, want %t", pkg, !links, links)
		}
	}
	list := exec.Command("go", "list", "-deps", "./cmd/ringleader")
	list.Dir, list.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	if page := strings.Fields(string(out)); len(page) < 100 || slices.ContainsFunc(page, ofNATS) {
		t.Errorf("a page links NATS, or only %d packages", len(page))
	}
}

func ofNATS(path string) bool { return strings.HasPrefix(path, "github.com/nats-io/") }

// needs returns what a package of this module needs to be compiled.
func needs(t *testing.T, pkg string) []string {
	t.Helper()
	all, path := everything(t), tree(t).name+pkg
	i := slices.IndexFunc(all, func(b unit) bool { return b.path == path })
	if i < 0 {
		t.Fatalf("there is no package %s", path)
	}
	return all[i].needs
}

// Who imports the root package gets no line of another module into go.sum. go mod tidy writes those of the tests of all packages that are imported,
// too, so these tests do without other modules.
func TestTheRootPackageAndItsTestsNeedNoOtherModule(t *testing.T) {
	t.Parallel()
	own := tree(t).name
	list := exec.Command("go", "list", "-deps", "-test", "-f={{with .Module}}{{.Path}}{{end}}", own)
	for _, p := range needs(t, "") {
		if strings.HasPrefix(p, own+"/") {
			list.Args = append(list.Args, p)
		}
	}
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	if modules := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out))))); !slices.Equal(modules, []string{own}) {
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
