package lab_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// exported makes all tests of pages use the site without a server.
var exported = flag.Bool("exported", false, "test the pages on the site that ringleader lab --export writes")

// site is an exported site for all tests of the package.
var site struct {
	once   sync.Once
	folder string
	err    error
}

// exportedSite serves an exported site under a path of a plain web host, and returns its address.
func exportedSite(t testing.TB) string {
	t.Helper()
	site.once.Do(func() {
		if site.folder, site.err = os.MkdirTemp("", "ringleader-site-*"); site.err != nil {
			return
		}
		export := exec.Command("go", "run", "./cmd/ringleader", "lab", "--export", site.folder)
		export.Dir, export.Stderr = filepath.Join("..", ".."), t.Output()
		site.err = export.Run()
	})
	if site.err != nil {
		t.Fatalf("no site is exported: %v", site.err)
	}
	const path = "/some/where/"
	host := httptest.NewServer(http.StripPrefix(path, http.FileServer(http.Dir(site.folder))))
	t.Cleanup(host.Close)
	return host.URL + path
}

func TestTheExportedSiteAnswersAsTheServerDoes(t *testing.T) {
	browser(t)
	address := exportedSite(t)
	words := []string{"lcr", "--ids=5,4,3,2,1"}
	want, steps := result(t, words...)
	p := open(t, of(address, steps, words...), 1200)
	p.at(steps)
	if got := p.counts(); got["total"] != want.Messages.Total {
		t.Errorf("the page counts %v, and run --json %+v", got, want)
	}
	p.well(address)
}
