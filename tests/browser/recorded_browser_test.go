package browser_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

func TestAPageOnDiskPlaysItsRun(t *testing.T) {
	words := []string{"bully", "--n=5", "--fault=crash 5 at 10"}
	want, steps := result(t, words...)
	file := filepath.Join(t.TempDir(), "run.html")
	drawn := answer[struct{ Base64 []byte }](t, "draw", map[string]any{"run": words, "what": "diagram", "format": "html"})
	if err := os.WriteFile(file, drawn.Base64, 0o600); err != nil {
		t.Fatal(err)
	}
	address := (&url.URL{Scheme: "file", Path: file}).String()
	p := open(t, address+"#/run?at=3", 1280)
	p.at(3)
	p.has("h1", "Bully")
	p.has(".rule", "package bully")
	p.until(`document.querySelector("code.fires") !== null`)
	p.key(kb.End)
	p.at(steps)
	if got := p.counts(); got["total"] != want.Messages.Total || got["total"] == 0 {
		t.Errorf("the page counts %d messages, run --json %d", got["total"], want.Messages.Total)
	}
	p.key(kb.ArrowLeft)
	p.at(steps - 1)
	p.key(kb.Home)
	p.at(0)
	if got := p.counts(); got["total"] != 0 {
		t.Errorf("back at the beginning %d messages are counted", got["total"])
	}
	if buttons := eval[int](p, `[...document.querySelectorAll("button, a")].filter((e) => /Export|Walk|Run|Race|Verify/.test(e.textContent)).length`); buttons != 0 {
		t.Errorf("%d controls need an engine", buttons)
	}
	p.accessible("html")
	p.well(address)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) > 1 {
		t.Errorf("it asks for %s", p.requests)
	}
}
