package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

// Names beside the processes of a tree cover no process, no other name and no variable.
func TestLongIdentifiersInATreeCoverNothing(t *testing.T) {
	page := laboratory(t)
	p := open(t, page+"#/live", 1280)
	for n, topology := range map[int]string{7: "binary", 6: "star", 5: "path", 15: "binary", 40: "random-tree"} {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprint(uint64(18446744073709551615) - uint64(i))
		}
		for _, width := range []int64{390, 768, 1280} {
			p.look(width, "light")
			p.leave(of("", n, "preference-tree", "--ids="+strings.Join(ids, ","), "--topology="+topology)[len("#/"):])
			p.at(n)
			p.until(fmt.Sprintf(`document.querySelectorAll(".process").length === %d && document.querySelector("svg.processes").getBoundingClientRect().width < innerWidth`, n))
			wrong := eval[[]string](p, `(() => {
				const all = [...document.querySelectorAll(".process .body, .process .name, .processes .variables")].filter((e) => e.matches(".body") || e.textContent !== "");
				const boxes = all.map((e) => e.getBoundingClientRect());
				const covers = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
				return all.flatMap((e, i) => all.slice(i + 1).filter((_, k) => covers(boxes[i], boxes[i + 1 + k])).map((other) => (e.textContent || "a process") + " and " + (other.textContent || "a process")));
			})()`)
			if len(wrong) > 0 {
				t.Errorf("%s of %d at %d pixels: %q", topology, n, width, wrong)
			}
			if shown := eval[int](p, `[...document.querySelectorAll(".process .name")].filter((e) => e.textContent !== "").length`); shown < min(n, 15) {
				t.Errorf("%s of %d at %d pixels: %d have names", topology, n, width, shown)
			}
		}
	}
	p.well(page)
}
