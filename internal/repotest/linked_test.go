package repotest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A member and a page of the lab do without the modules of NATS, which make up a third of the command.
func TestOnlyTheCommandLinksNATS(t *testing.T) {
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
