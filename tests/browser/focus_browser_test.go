package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// What has the focus is seen: the frame at the top and the bars at the bottom do not cover it.
func TestNothingCoversTheFocus(t *testing.T) {
	page := laboratory(t)
	p := open(t, page+"#/live", 390)
	for _, view := range []string{"stories/1-swallowing/3", of("", 3, "bully", "--n=4")[len("#/"):]} {
		p.leave(view)
		p.until(`document.querySelector("main h1") !== null && document.querySelector(".process") !== null`)
		eval[int](p, `(document.getElementById("main").focus(), 0)`)
		for range 35 {
			p.key(kb.Tab)
			if covered := eval[string](p, `(() => {
				const e = document.activeElement, box = e.getBoundingClientRect();
				const bar = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.closest("header, .turn, .controls");
				return bar && !bar.contains(e) ? (e.ariaLabel ?? e.textContent) + " is below " + bar.className : "";
			})()`); covered != "" {
				t.Errorf("%s: %s", view, covered)
			}
		}
	}
	p.well(page)
}
