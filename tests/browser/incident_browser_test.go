package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
)

// archive returns the records of a group in which member 3 hands over to member 1, which is killed.
func archive(t *testing.T) []byte {
	t.Helper()
	records, err := record.Open(t.Context(), explaintest.Records(t, "shop"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, l := range records.Logs {
		for _, s := range l.Segments {
			content, err := s.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			b.Write(content)
		}
	}
	return b.Bytes()
}

// drop drops a file on the page.
func (p *tab) drop(name string, content []byte) {
	p.Helper()
	p.dropAll(dropped{name, content})
}

type dropped struct {
	Name    string `json:"name"`
	Content []byte `json:"content"`
}

// dropAll drops files on the page at once.
func (p *tab) dropAll(files ...dropped) {
	p.Helper()
	all, err := json.Marshal(files)
	if err != nil {
		p.Fatal(err)
	}
	eval[bool](p, fmt.Sprintf(`(() => { const d = new DataTransfer(); for (const f of %s) d.items.add(new File([Uint8Array.from(atob(f.content), (c) => c.charCodeAt(0))], f.name));
		return document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: d, bubbles: true, cancelable: true})); })()`, all))
}

// drag has the browser drag files of this machine over a place of the page, and drop them there.
func (p *tab) drag(x, y float64, files ...string) {
	p.Helper()
	does := func(kind input.DispatchDragEventType) {
		p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, input.DispatchDragEvent, input.DispatchDragEventParams{
				Type: kind, X: x, Y: y, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
			})
			return err
		}))
	}
	does(input.DispatchDragEventTypeDragEnter)
	for !eval[bool](p, `document.body.classList.contains("dropping")`) {
		does(input.DispatchDragEventTypeDragOver) // a browser does so all the time; a frame that has just opened hears the later ones
	}
	does(input.DispatchDragEventTypeDragOver)
	does(input.DispatchDragEventTypeDrop)
}

func TestASavedRunOpensByAnyName(t *testing.T) {
	at := laboratory(t)
	if *exported {
		t.Skip("a site without a server opens no files")
	}
	p := open(t, at+"#/gallery", 1280)
	p.has("h1", "Broken on purpose")
	p.drop("too-short", []byte(`{"ringleader":"","run":["lcr","--ids=3,1,2"],"choices":["s0","s1"]}`+"\n"))
	p.has("h1", "LCR")
	p.until(`location.hash.includes("walk=s0s1")`)
	run := []byte(`{"run":["lcr"]}`)
	for name, files := range map[string][]dropped{
		"no.json is neither a record nor a saved run.":                  {{"no.json", []byte(`{"run":[{}],"choices":{}}`)}},
		"walk.json is neither a record nor a saved run.":                {{"walk.json", []byte(`{"run":["lcr"],"choices":"s0"}`)}},
		"lines.jsonl is neither a record nor a saved run.":              {{"lines.jsonl", []byte("{\"format\":1}\n{}\n")}},
		"two.json is a saved run, and opens alone.":                     {{"one.rec", []byte("\xf5\x9d")}, {"two.json", run}},
		"long.json is too long for the address of a page.":              {{"long.json", fmt.Appendf(nil, `{"run":["lcr","--ids=%s"]}`, strings.Repeat("1", 1_000_000))}},
		"cannot open this record: the file: it is no record: it has no": {{"list.json", []byte("[1,2]")}},
	} {
		p.dropAll(files...)
		p.has(".view-incident .error", name)
	}
	p.well(at)
}

// The frame of an incident takes most of the view, and is a page of its own.
func TestARecordIsDroppedOnAnother(t *testing.T) {
	content := archive(t)
	at := laboratory(t)
	if *exported {
		t.Skip("a site without a server opens no files")
	}
	p := open(t, at+"#/incident", 1280)
	p.has("h1", "Why the leader changed")
	p.drop("first.rec", content)
	p.until(`document.querySelector("iframe.incident")?.title.endsWith("first.rec")`)
	folder := t.TempDir()
	second := filepath.Join(folder, "second.rec")
	if err := os.WriteFile(second, content, 0o600); err != nil {
		t.Fatal(err)
	}
	p.drag(640, 700, second)
	p.until(`document.querySelector("iframe.incident")?.title.endsWith("second.rec") && !document.body.classList.contains("dropping")`)
	p.drag(640, 700, folder)
	p.has(".error", filepath.Base(folder)+" cannot be read. If it is a directory")
	p.well(at)
}

func TestARecordThatIsDroppedOnTheLabPlays(t *testing.T) {
	content := archive(t)
	at := laboratory(t)
	p := open(t, at+"#/gallery", 1280)
	p.has("h1", "Broken on purpose") // any view takes a drop
	if *exported {
		p.goTo("incident")
		p.has(".view .lead", "This site has no server")
		return
	}
	p.drop("incident.rec", content)
	p.until(`document.querySelector("iframe.incident") !== null`)
	if sandbox := eval[string](p, `document.querySelector("iframe.incident").getAttribute("sandbox")`); sandbox != "allow-scripts" {
		t.Errorf("the frame of a record may: %s", sandbox)
	}
	page := eval[string](p, `document.querySelector("iframe.incident").src`)
	p.accessible("html")
	p.dropAll(dropped{"incident.rec", content}, dropped{"foreign.txt", []byte("no record")})
	p.until(fmt.Sprintf(`![null, undefined, %q].includes(document.querySelector("iframe.incident")?.src)`, page))
	partly := open(t, eval[string](p, `document.querySelector("iframe.incident").src`), 390)
	partly.click(".damages summary", "A part of the records could not be read")
	partly.has(".damages li", "9 bytes cannot be read")
	partly.until(`document.documentElement.scrollWidth <= innerWidth`)
	partly.accessible("html")
	p.drop("hostile.rec", append([]byte("<script>alert(1)</script>\xf5\x9d\x01"), content[:8]...))
	p.has(".error", "cannot open this record: the file: it is no record")
	p.until(`document.querySelector("iframe.incident") === null`)
	p.until(`document.documentElement.scrollWidth <= innerWidth`)
	p.well(at)
	incident(t, page, at)
}

// apart tells whether no mark of a change lies on another one.
const apart = `(() => { const all = [...document.querySelectorAll(".overview .marks button")].map((e) => e.getBoundingClientRect());
	return all.length > 1 && all.every((a, i) => all.every((b, k) => i === k || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top)); })()`

// incident tests the page of an incident, on its own.
func incident(t *testing.T, page, at string) {
	t.Helper()
	q := open(t, page, 1280)
	for _, width := range []int64{1280, 390} {
		q.do(chromedp.EmulateViewport(width, 900))
		q.has("h1", "Changes of the leader of “shop”")
		q.until(apart)
		q.click(".overview .marks button", "3")
		q.has(".change h2", "3. killed")
		q.until(`document.querySelector(".picture ` + map[int64]string{1280: ".wide", 390: ".narrow"}[width] + ` svg").getBoundingClientRect().width > 300`)
		q.until(`document.documentElement.scrollWidth <= innerWidth`)
		q.click(".controls button", "|◀") // the last event, with the rest covered
		q.until(`document.querySelector(".happens li.now") !== null`)
		q.accessible("html")
		q.well(at)
	}
}
