package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// answer asks the engine of the lab.
func answer[T any](t testing.TB, question string, body any) T {
	t.Helper()
	words, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := engines().Ask(t.Context(), question, words, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	var found T
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// motion tells the page whether motion is wanted: reduce, or no-preference.
func (p *tab) motion(wanted string) {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: wanted}},
		})
		return err
	}))
}

// text returns what an element shows, without thin spaces.
func (p *tab) text(selector string) string {
	p.Helper()
	p.until(fmt.Sprintf(`document.querySelector(%q) !== null`, selector))
	return eval[string](p, fmt.Sprintf(`document.querySelector(%q).innerText.replaceAll("\u2009", "")`, selector))
}

// has waits until an element shows a text. Thin spaces do not count.
func (p *tab) has(selector, text string) {
	p.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.replaceAll("\u2009", "").includes(%q))`, selector, text))
}

// drawn waits until an element of a drawing is such a text.
func (p *tab) drawn(selector, text string) {
	p.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.textContent === %q)`, selector, text))
}

// fill types a value into a control.
func (p *tab) fill(selector, value string) {
	p.Helper()
	p.until(fmt.Sprintf(`document.querySelector(%q) !== null`, selector))
	eval[chromedp.Void](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), "value").set.call(e, %q); for (const kind of ["input", "change"]) e.dispatchEvent(new Event(kind, {bubbles: true})); })()`, selector, value))
}

// end presses the key End until the player is at its last step: the page may not listen yet.
func (p *tab) end(step int) {
	p.Helper()
	p.until(fmt.Sprintf(`(dispatchEvent(new KeyboardEvent("keydown", {key: "End"})), document.querySelector(".player .unseen")?.innerText.startsWith("Step %d:"))`, step))
}

// idle waits until no question is under way.
func (p *tab) idle() {
	p.Helper()
	p.until(`document.querySelector(".spinner") === null`)
}

// keeping notes the files that the page hands over.
const keeping = `window.kept = []; { const make = URL.createObjectURL; URL.createObjectURL = (b) => { kept.push(b); return make.call(URL, b); }; HTMLAnchorElement.prototype.click = ((click) => function () { if (!this.download) click.call(this); })(HTMLAnchorElement.prototype.click); }`

func TestCostsAreThoseOfTheEngine(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/costs?a=lcr&a=ring-bully&to=1048576&order=random", 1280)
	p.until(`document.querySelectorAll(".readout tbody tr").length === 2 && document.querySelector(".chart canvas") !== null`)
	p.idle()
	p.has(".slide", "n = 1048576")
	type counted struct {
		Result struct {
			Messages struct{ Election, Total int }
			Bound    struct{ Messages int }
		}
	}
	for i, name := range []string{"lcr", "ring-bully"} {
		want := answer[counted](t, "call", map[string]any{"args": []string{"count", name, "--n=1048576", "--order=random"}}).Result
		row := p.text(fmt.Sprintf(".readout tbody tr:nth-child(%d)", i+1))
		for _, number := range []int{want.Messages.Election, want.Bound.Messages} {
			if !strings.Contains(row, fmt.Sprint(number)) {
				t.Errorf("%s costs %d, and the row has %q", name, number, row)
			}
		}
	}
	p.fill(`.slide input`, "0")
	p.has(".slide", "n = 8")
	p.accessible("html")

	eval[chromedp.Void](p, keeping)
	for _, format := range []string{"CSV", "SVG", "PNG"} {
		p.click(".exports button", format)
	}
	p.until(`["text/csv", "image/svg+xml", "image/png"].every((type) => kept.some((b) => b.type === type && b.size > 500))`)
	if lines := eval[int](p, `kept.find((b) => b.type === "text/csv").text().then((t) => t.trim().split("\r\n").length)`); lines != 1+2*18 {
		t.Errorf("the table has %d lines, want one for the names and one for each of 18 sizes of two algorithms", lines)
	}

	p.click(".tabs a", "Phase by phase")
	p.has(".readout tbody tr", "ring-bully")
	p.idle()
	phases := answer[struct {
		Result struct {
			ByPhase []int `json:"by_phase"`
			Entered []int `json:"entered_by_phase"`
		}
	}](t, "call", map[string]any{"args": []string{"count", "ring-bully", "--n=1024", "--order=random"}}).Result
	for selector, numbers := range map[string][]int{".readout tbody tr": phases.ByPhase, ".readout tbody tr.candidates": phases.Entered} {
		row := p.text(selector)
		for _, number := range numbers {
			if !strings.Contains(row, fmt.Sprint(number)) {
				t.Errorf("a phase has %d, and the row has %q", number, row)
			}
		}
	}
	if n := phases.Entered[0]; n != 1024 {
		t.Errorf("%d candidates begin the first phase", n)
	}
	p.accessible("html")

	p.click(".tabs a", "Against time")
	p.has(".readout tbody tr", "stop-and-go-p3")
	p.idle()
	p.until(`document.querySelector(".chart canvas") !== null`)
	p.accessible("html")
	p.well(at)
}

func TestAnUnknownAlgorithmIsOneLine(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/live", 1280)
	for _, c := range [][2]string{
		{"costs?a=nothing", `unknown algorithm "nothing"`},
		{"race?a=lcr&a=nothing", `unknown algorithm "nothing"`},
		{"verify?algorithm=lcr&n=0&param=flag%3Dx&go=1", "flag"},
		{"gallery/nothing", "no nothing"},
		{"proofs/nothing", "There is no model nothing"},
		{"proofs/lcr?without=nothing", `lcr has no invariant "nothing"`},
		{"stories/nothing", "no story nothing"},
		{"nothing/x", "no page “nothing/x”"},
		{"costs/nothing", "no page “costs/nothing”"},
		{"%E0%A4", "no page “%E0%A4”"}, // which is no text
		{"verify?algorithm=nothing", "no algorithm nothing"},
		{"run?run=nothing", `unknown algorithm "nothing"`},
		{"run?run=lcr&run=--n%3D3&walk=s0s1%20s2", "is no event of a walk"},
		{"run?run=lcr&run=--n%3D3&choices=%5B", "is no event of a walk"}, // of an earlier version, and cut off
	} {
		p.leave(c[0])
		p.has("[role=alert]", c[1])
	}
	p.well(at)
}

func TestARaceEndsWithTheCountsOfItsRuns(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/race?a=lcr&a=peterson&n=9&order=decreasing", 1280)
	p.until(`document.querySelectorAll(".lane").length === 2`)
	p.accessible("html")
	p.click(".clock button", "+")
	p.has(".clock output", "t = 1")
	p.until(`location.hash.includes("at=1")`)
	eval[chromedp.Void](p, `(() => { const e = document.querySelector(".clock input"); e.value = e.max; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	for i, name := range []string{"lcr", "peterson"} {
		run := answer[struct {
			Result struct{ Messages struct{ Total, Election int } }
		}](t, "run", map[string]any{"run": []string{name, "--n=9", "--order=decreasing"}}).Result.Messages
		lane := fmt.Sprintf(".lane:nth-child(%d)", i+1)
		p.has(lane, fmt.Sprintf("%d of %[1]d messages", run.Total))
		p.has(lane, fmt.Sprintf("9 leads, %d election messages", run.Election))
	}
	p.until(`location.hash.endsWith("at=" + document.querySelector(".clock input").max)`)
	place := eval[string](p, `location.hash`)
	again := open(t, at+place, 1280)
	again.has(".lane", "Done first")
	again.well(at)
	p.well(at)
}

func TestARaceRunsAgainstTheClock(t *testing.T) {
	at := laboratory(t)
	p := moving(t, at+"#/race?a=lcr&a=ring-bully&a=peterson&n=6&order=random", 1280)
	p.until(`document.querySelectorAll(".lane").length === 3`)
	p.fill(".clock select", "4") // a frame, however late it is, is a quarter of a second of play: no lane ends with all others
	apart := p.watch(`document.querySelectorAll(".lane.done").length > 0 && document.querySelectorAll(".lane.done").length < 3`)
	p.click(".clock button", "▶")
	p.until(`document.querySelectorAll(".lane.done").length === 3`)
	if !eval[bool](p, apart) {
		t.Error("all lanes end at once")
	}
	p.well(at)
}

func TestTheCheckerFindsARunThatThePagePlays(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/verify", 1280)
	p.click(".examples a", "LCR on every ring of 4")
	p.has(".verdict.holds", "Holds")
	p.click(".examples a", "Bully that waits too little")
	p.has(".verdict.violated", "wrong leader")
	p.accessible("html")
	p.click(".verdict a", "Play these 3 steps")
	p.until(`location.hash.startsWith("#/run") && document.querySelector(".player") !== null`)
	p.end(3)
	p.has(".player .unseen", "Step 3: 2 answer timer expires")
	p.well(at)
}

func TestEachFieldOfTheCheckerHasANameOfItsOwnAndAnExplanation(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/verify?algorithm=bully&n=3", 390)
	p.until(`document.querySelector(".view-verify details") !== null`)
	p.click(".view-verify summary", "Parameters")
	names := eval[[]string](p, `[...document.querySelectorAll(".view-verify label")].map((e) => e.innerText)`)
	for _, name := range []string{"longest delay", "parameter delay", "lazy time", "parameter known-dead", "random walks", "fewer states"} {
		if !slices.Contains(names, name) {
			t.Errorf("no field is called %s: %q", name, names)
		}
		help := fmt.Sprintf("[aria-label='What is “%s”?']", name)
		eval[chromedp.Void](p, fmt.Sprintf(`document.querySelector(%q).focus()`, help))
		p.key(kb.Enter)
		p.until(fmt.Sprintf(`document.getElementById(document.querySelector(%q).getAttribute("aria-controls")).innerText.length > 20`, help))
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("two fields have one name: %q", names)
	}
	p.accessible("html")
	p.fits()
	p.well(at)
}

func TestACheckCanBeCancelled(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/verify?algorithm=bully&n=6&crash=3&recover=3&start=every-set&go=1", 1280)
	p.has(".going", "states")
	p.click(".actions button", "Cancel")
	p.idle()
	p.until(`document.querySelector(".verdict") === null && document.querySelector("[role=alert]") === null`)
	p.well(at)
}

func TestExhibitsArePlayed(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/gallery", 1280)
	p.has(".cards", "lcr-equal-identifiers")
	p.accessible("html")
	for i, c := range [][3]string{
		{"lcr-equal-identifiers", "Identifiers are distinct", "Two leaders"},
		{"bully-under-a-cut", "Messages between live processes arrive", "Two leaders"},
		{"quorum-bully-no-wait", "Rule 4: a restarted member waits", "Two running leases"},
	} {
		p.goTo("gallery/" + c[0])
		p.has(".exhibit h1", c[1])
		p.has(".exhibit .lead", c[2])
		p.until(`document.querySelector(".player .network") !== null`)
		steps := eval[int](p, `Number(document.querySelector(".player .controls input[type=range]").max)`)
		p.end(steps)
		p.until(fmt.Sprintf(`location.hash.endsWith("at=%d")`, steps))
		if i == 0 { // the others have the same view
			p.accessible("html")
		}
		p.click("a", "Take over this run")
		p.until(`location.hash.startsWith("#/run") && document.querySelector(".player") !== null`)
	}
	p.well(at)
}

// told is a story, as the engine tells it.
type told struct {
	Name, Title string
	Chapters    []struct {
		Run   struct{ Run []string }
		Stops []struct {
			Moment string
			Step   int
			Text   []string
		}
	}
}

// An invariant that is switched off gives the smallest state that it excludes, drawn on its ring, under an address of its own.
func TestAnInvariantThatIsLeftOutIsDrawnAsACounterexampleToInduction(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/proofs", 1280)
	p.has(".induction", "All invariants are here")
	p.click(".formulas label", "All processes that an identifier has passed are smaller.")
	p.drawn(".induced text.new", "+ (sent 2 2)")
	p.drawn(".induced .process", "1(sent 2 1)")
	p.has(".story-of .new", "An identifier that has come home is the largest.")
	p.has(".induction .command", "ringleader prove lcr --drop passed --solver none")
	p.click(".why summary", "Why can that state not be?")
	p.has(".why li", "All processes that an identifier has passed are smaller.")
	p.until(`location.hash === "#/proofs/lcr?without=passed"`)
	p.accessible("html")

	p.goTo("proofs/franklin?without=leader-alone&n=2") // a link to another model
	p.drawn(".induced text.new", "+ (leads 1)")
	p.fill(".field input", "3")
	p.until(`location.hash === "#/proofs/franklin?without=leader-alone"`)
	p.drawn(".induced text.new", "+ (leads 1)")
	p.goTo("proofs/franklin?without=leaders")
	p.has(".induction .none", "No step is at fault: one-leader does not follow")
	p.goTo("proofs/quorum-bully")
	p.has(".induction", "only solvers search it")
	p.until(`document.querySelectorAll(".formulas input").length === 0 && document.querySelectorAll(".formulas li").length > 20`)
	p.well(at)
}

// One story is followed stop by stop. Of the others, without -long, the first two stops and the last one of each chapter are shown: that each
// stop has its step is a test of internal/cli/lab.
func TestEveryStoryIsFollowedToItsEnd(t *testing.T) {
	at := laboratory(t)
	stories := answer[[]told](t, "stories", struct{}{})
	if len(stories) < 6 {
		t.Fatalf("%d stories", len(stories))
	}
	p := open(t, at, 1280)
	for i, story := range stories {
		if !t.Run(story.Name, func(t *testing.T) {
			p := p.in(t)
			p.goTo("stories")
			p.click(".cards a", story.Title)
			number, shown := 0, 0
			for _, chapter := range story.Chapters {
				for j, stop := range chapter.Stops {
					if number++; i > 0 && !*long && number > 2 && j < len(chapter.Stops)-1 {
						continue
					}
					switch {
					case number == 1:
					case number == shown+1:
						p.key(kb.ArrowRight)
					default:
						eval[chromedp.Void](p, fmt.Sprintf(`void (location.hash = "#/stories/%s/%d")`, story.Name, number))
					}
					shown = number
					p.has(".narration .words", plain(stop.Text[0]))
					if stop.Step == 0 {
						p.has(".player .unseen", "The beginning")
					} else {
						p.has(".player .unseen", fmt.Sprintf("Step %d:", stop.Step))
					}
				}
			}
			if i == 0 { // the others have the same view
				p.accessible("html")
			}
			last := story.Chapters[len(story.Chapters)-1]
			p.click(".turn a", "Take over from here")
			p.until(`location.hash.startsWith("#/run") && document.querySelector(".player .controls") !== null`)
			p.has(".player .unseen", fmt.Sprintf("Step %d:", last.Stops[len(last.Stops)-1].Step))
			p.well(at)
		}) {
			break // the page may be one that does nothing any more
		}
	}
}

// plain is the beginning of a text without its marks.
func plain(text string) string {
	text = strings.NewReplacer("*", "", "`", "").Replace(text)
	if cut := strings.IndexAny(text, "[\u2009"); cut >= 0 {
		text = text[:cut]
	}
	if len(text) > 40 {
		text = text[:strings.LastIndex(text[:40], " ")]
	}
	return text
}

func TestAStoryPlaysTheWayToAStop(t *testing.T) {
	at := laboratory(t)
	p := moving(t, at+"#/stories/2-example-2.1/2", 1280)
	p.has(".player .unseen", "Step 5:")
	p.do(chromedp.EmulateViewport(390, 700))
	p.until(`innerWidth === 390 && [...document.querySelectorAll(".turn > *")].every((e) => { const r = e.getBoundingClientRect(); return r.top > 500 && r.bottom <= innerHeight; })`)
	p.do(chromedp.EmulateViewport(1280, 900))
	played := p.watch(`document.querySelector(".player .unseen")?.innerText.includes("Playing")`)
	p.click(".turn button", "Next")
	p.has(".player .unseen", "Step 10:")
	if !eval[bool](p, played) {
		t.Error("the page leaps to the next stop")
	}
	p.key("b")
	p.until(`document.querySelector(".black") !== null`)
	p.accessible(".black")
	p.key("b")
	p.until(`document.querySelector(".black") === null`)
	p.key("l")
	p.until(`document.documentElement.classList.contains("presenting")`)
	p.key(kb.End)
	p.until(`location.hash.endsWith("/11")`)
	p.key(kb.Home)
	p.until(`location.hash.endsWith("/1")`)
	p.well(at)
}

func TestAStoryPrintsAsAHandout(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/stories/2-example-2.1/handout", 1280)
	story := answer[[]told](t, "stories", struct{}{})[1]
	stops := 0
	for _, chapter := range story.Chapters {
		stops += len(chapter.Stops)
	}
	p.until(fmt.Sprintf(`document.querySelectorAll(".sheet .network canvas").length === %d`, stops))
	p.accessible("html")
	pdf, err := chromedp.Run(p.ctx, chromedp.PrintToPDF())
	if err != nil || !strings.HasPrefix(string(pdf), "%PDF") {
		t.Errorf("%d bytes, %v", len(pdf), err)
	}
	p.well(at)
}

// The tests of each view look at the light one in a wide window.
func TestViewsAreAccessibleInTheDarkAndInNarrowWindows(t *testing.T) {
	at := laboratory(t)
	p := open(t, at+"#/live", 360)
	p.look(360, "dark")
	for _, view := range []string{
		"costs", "costs/phases", "costs/time", "race", "verify?algorithm=bully&n=3&start=every-set&param=answer-timeout%3D2&go=1",
		"gallery", "gallery/lcr-equal-identifiers", "stories", "stories/1-swallowing/4", "stories/7-leases/handout",
		"proofs/lcr?without=passed", "proofs/peterson?without=second-home", "proofs/quorum-bully", "incident",
	} {
		p.goTo(view)
		p.until(`document.documentElement.scrollWidth <= innerWidth`)
		p.accessible("html")
	}
	p.well(at)
}

// goTo goes to another view in the same page, and waits until it is there.
func (p *tab) goTo(view string) {
	p.Helper()
	p.leave(view)
	p.until(`document.querySelector(".view h1") !== null`)
	p.idle()
}

// leave goes to another view in the same page, by way of the one without a group, so that nothing of the view before is there.
func (p *tab) leave(view string) {
	p.Helper()
	eval[chromedp.Void](p, `void (location.hash = "#/live")`)
	p.until(`document.querySelector(".live-absent") !== null`)
	eval[chromedp.Void](p, fmt.Sprintf(`void (location.hash = %q)`, "#/"+view))
}
