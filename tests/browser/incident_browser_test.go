package browser_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"

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
	eval[bool](p, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
		return document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: d, bubbles: true, cancelable: true})); })()`, base64.StdEncoding.EncodeToString(content), name))
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
	p.drop("hostile.rec", append([]byte("<script>alert(1)</script>\xf5\x9d\x01"), content[:8]...))
	p.has(".error", "cannot open this record: the file: it is no record")
	p.until(`document.querySelector("iframe.incident") === null`)
	p.until(`document.documentElement.scrollWidth <= innerWidth`)
	p.well(at)
	incident(t, page, at)
}

// incident tests the page of an incident, on its own.
func incident(t *testing.T, page, at string) {
	t.Helper()
	q := open(t, page, 1280)
	for _, width := range []int64{1280, 390} {
		q.do(chromedp.EmulateViewport(width, 900))
		q.has("h1", "Changes of the leader of “shop”")
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
