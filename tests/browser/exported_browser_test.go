package browser_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// exported makes all tests of pages use the site without a server.
var exported = flag.Bool("exported", false, "test the pages on the site that ringleader lab --export writes")

// mine is a story that is exported with the site.
const mine = "---\ntitle: Of my own\n---\n\n# One\n\n```\nringleader run lcr --ids 1\n```\n\n## start\n\nIt begins.\n\n## end\n\nIt ends.\n"

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
		stories := t.TempDir()
		if site.err = os.WriteFile(filepath.Join(stories, "mine.md"), []byte(mine), 0o600); site.err != nil {
			return
		}
		export := exec.Command("go", "run", "./cmd/ringleader", "lab", "--export", site.folder, "--stories", stories)
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

// One tab goes through all views, so that the engines are compiled once. With -exported, each test of a page uses the site.
func TestEachViewWorksWithoutAServer(t *testing.T) {
	if os.Getenv("CI") != "true" && !*exported {
		t.Skip("the program is not compiled for WebAssembly, which takes minutes: CI=true and -exported do that")
	}
	browser(t)
	address := exportedSite(t)
	words := []string{"lcr", "--ids=5,4,3,2,1"}
	want, steps := result(t, words...)
	p := open(t, of(address, steps, words...), 1280)

	p.at(steps) // a run, and back
	if got := p.counts(); got["total"] != want.Messages.Total {
		t.Errorf("the page counts %v, and run --json %+v", got, want)
	}
	p.until(`document.querySelector("code.fires") !== null`)
	p.key(kb.Home)
	p.at(0)
	p.click(".adversary button", "Take over here")
	p.click(".adversary button", "Worst from here")
	p.until(`document.querySelector(".search").textContent.includes("more messages")`)

	p.goTo("costs?a=lcr&to=1024")
	p.has(".readout tbody tr", "lcr")
	p.goTo("race?a=lcr&a=peterson&n=4")
	p.until(`document.querySelectorAll(".lane").length === 2`)

	p.goTo("verify")
	p.click(".examples a", "Bully that waits too little")
	p.has(".verdict.violated", "wrong leader")
	p.click(".verdict a", "Play these 3 steps")
	p.until(`location.hash.startsWith("#/run") && document.querySelector(".player") !== null`)
	p.end(3)

	p.goTo("gallery/lcr-equal-identifiers")
	p.has(".exhibit .lead", "Two leaders")
	p.until(`document.querySelector(".player .network") !== null`)

	p.goTo("proofs/lcr?without=passed")
	p.drawn(".induced text.new", "+ (sent 2 2)")

	p.goTo("stories")
	if cards := eval[int](p, `document.querySelectorAll(".cards a").length`); cards != len(answer[[]told](t, "stories", struct{}{}))+1 {
		t.Errorf("%d stories are told: those of the program, and one that was exported with it, are not all", cards)
	}
	p.click(".cards a", "Of my own")
	p.has(".narration .words", "It begins.")
	p.has(".player .unseen", "The beginning") // before it is drawn, the page hears no key
	p.key(kb.ArrowRight)
	p.has(".narration .words", "It ends.")
	p.has(".player .unseen", "Step 3:")
	p.well(address)

	disk := "file://" + filepath.ToSlash(site.folder) + "/index.html" // a browser fetches nothing beside it, and starts no worker
	q := open(t, of(disk, steps, words...), 1280)
	q.at(steps)
	if got := q.counts(); got["total"] != want.Messages.Total {
		t.Errorf("from disk the page counts %v, and run --json %+v", got, want)
	}
	q.goTo("stories/mine")
	q.has(".narration .words", "It begins.")
	q.well(disk)
}
