package browser_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	answers "ringleader.example/ringleader/internal/cli/lab"
	"ringleader.example/ringleader/internal/show/lab"
)

// engines answer all questions.
var engines = sync.OnceValue(func() lab.Engine { return answers.New("ringleader", all.Algorithms) })

// shared is one server with all engines for all tests of the package: it keeps nothing of a question.
var shared struct {
	once    sync.Once
	address string
	err     error
	stop    func()
}

// laboratory returns the address of a page with all engines. Tests that use it run at the same time, since most of them wait for a
// process of the browser.
func laboratory(t testing.TB) string {
	t.Helper()
	if t, is := t.(*testing.T); is {
		t.Parallel()
	}
	if *exported {
		browser(t) // else there is nothing to export for
		return exportedSite(t)
	}
	shared.once.Do(func() {
		var listener net.Listener
		if listener, shared.err = lab.Listen("127.0.0.1:0"); shared.err != nil {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- lab.Serve(ctx, listener, engines(), nil) }()
		shared.address = "http://" + listener.Addr().String() + "/"
		shared.stop = func() { cancel(); <-served }
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.address
}

// of returns the address of a run, at a step.
func of(page string, at int, words ...string) string {
	query := url.Values{"run": words}
	if at > 0 {
		query.Set("at", fmt.Sprint(at))
	}
	return page + "#/run?" + query.Encode()
}

// counts returns what the page shows of the counts.
func (p *tab) counts() map[string]int {
	p.Helper()
	return eval[map[string]int](p, `Object.fromEntries([...document.querySelectorAll(".costs td")].map((e) => [e.dataset.kind, Number(e.textContent.replaceAll(",", ""))]))`)
}

// at waits until the player rests at a step.
func (p *tab) at(step int) {
	p.Helper()
	p.until(fmt.Sprintf(`document.querySelector(".controls input")?.value === "%d" && document.querySelector(".controls [aria-label=Play]") !== null`, step))
}

// counted is a part of the object of run --json.
type counted struct {
	Messages struct {
		Total  int            `json:"total"`
		ByKind map[string]int `json:"by_kind"`
	} `json:"messages"`
}

// result returns what a run counts, and the number of its steps.
func result(t testing.TB, words ...string) (c counted, steps int) {
	t.Helper()
	run := answer[struct {
		Result counted
		Steps  []json.RawMessage
	}](t, "run", map[string]any{"run": words})
	return run.Result, len(run.Steps)
}

func TestAPlayedRunHasTheCountsOfRunJSON(t *testing.T) {
	page := laboratory(t)
	p := open(t, page+"#/live", 1280)
	for _, words := range [][]string{
		{"lcr", "--ids=5,4,3,2,1"},
		{"bully", "--n=5", "--fault=crash 5 at 10", "--fault=partition 1,2 | 3,4 from 30 until 90"},
		{"preference-tree", "--n=7", "--topology=binary"},
		{"itai-rodeh-synchronous", "--n=6"},
		{"lcr", "--n=1"},
		{"hirschberg-sinclair", "--n=2"},
		{"invitation", "--n=3", "--until=30"}, // most of its messages are overhead, which is in no total
	} {
		t.Run(words[0]+words[1], func(t *testing.T) {
			p := p.in(t)
			want, steps := result(t, words...)
			p.leave(of("", 0, words...)[len("#/"):])
			p.at(0)
			if got := p.counts(); got["total"] != 0 {
				t.Errorf("before the first step %d messages are counted", got["total"])
			}
			p.motion("no-preference")
			eval[int](p, `(() => { const s = document.querySelector(".speed select"); s.value = "512"; s.dispatchEvent(new Event("change", {bubbles: true})); return 0; })()`)
			p.click(".controls .play", "")
			p.at(steps)
			p.motion("reduce") // steps that glide are in TestAnAddressReproducesAMoment
			got := p.counts()
			for kind, count := range want.Messages.ByKind {
				if got[kind] != count {
					t.Errorf("the page counts %d of %s, run --json %d", got[kind], kind, count)
				}
			}
			if got["total"] != want.Messages.Total {
				t.Errorf("the page counts %d messages, run --json %d", got["total"], want.Messages.Total)
			}
			for step := steps; step > max(0, steps-3); step-- {
				p.key(kb.ArrowLeft)
				p.at(step - 1)
			}
			p.key(kb.Home)
			p.at(0)
			if got := p.counts(); got["total"] != 0 {
				t.Errorf("back at the beginning %d messages are counted", got["total"])
			}
			p.well(page)
		})
	}
}

func TestAnAddressReproducesAMoment(t *testing.T) {
	page := laboratory(t)
	p := moving(t, of(page, 12, "lcr", "--ids=5,4,3,2,1"), 1280)
	p.at(12)
	p.key(kb.ArrowRight)
	p.at(13)
	p.until(`location.hash.endsWith("at=13")`)
	p.well(page)
}

func TestNoFrameIsAskedForAtRest(t *testing.T) {
	page := laboratory(t)
	p := moving(t, of(page, 12, "lcr", "--n=16"), 1280)
	p.at(12)
	p.until(`location.hash.endsWith("at=12")`)
	p.rests()
}

func TestAnAdversaryReachesAWorseCount(t *testing.T) {
	page := laboratory(t)
	words := []string{"bully", "--n=4"}
	scheduled, steps := result(t, words...)
	p := open(t, of(page, 6, words...), 1280)
	p.at(6)
	p.click(".adversary button", "Take over here")
	p.until(`document.querySelector(".offers") !== null`)
	p.at(6)
	p.click(".offers button", "deliver")
	p.at(7)
	p.click(".adversary button", "Undo")
	p.at(6)
	p.click(".adversary button", "Redo")
	p.at(7)
	p.click(".adversary button", "To the end")
	p.until(`Number(document.querySelector(".controls input").max) > 7`)
	p.key(kb.End)
	p.until(`document.querySelector(".adversary .faults") !== null`)
	p.click(".faults button", "process 1 suspects process 4")
	p.until(`document.querySelector(".happened").textContent.includes("suspects 4") && document.querySelector(".adversary .offers") !== null`)
	p.click(".adversary button", "To the end")
	p.until(fmt.Sprintf(`Number(document.querySelector(".controls input").max) > %d`, steps+1))
	p.key(kb.End)
	p.until(fmt.Sprintf(`Number(document.querySelector(".costs td[data-kind=total]").textContent) > %d`, scheduled.Messages.Total))
	repeated(p)
	if hash := eval[string](p, `location.hash`); len(hash) > 100+6*eval[int](p, `Number(document.querySelector(".controls input").max)`) {
		t.Errorf("the address has %d bytes: %s", len(hash), hash)
	}
	reopened := open(t, eval[string](p, `location.href`), 1280)
	reopened.until(fmt.Sprintf(`document.querySelector(".controls input")?.max === %q`, eval[string](p, `document.querySelector(".controls input").max`)))
	reopened.well(page)
	p.well(page)
}

// repeated fails if the command on the page counts other messages than the page.
func repeated(p *tab) {
	p.Helper()
	call := strings.Fields(strings.TrimPrefix(p.text(".command code"), "$ "))
	var stdout, stderr bytes.Buffer
	cli.Run(p.Context(), call[0], all.Algorithms, append(call[1:], "--json"), strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
	var made counted
	if err := json.Unmarshal(stdout.Bytes(), &made); err != nil || made.Messages.Total != p.counts()["total"] || made.Messages.Total == 0 {
		p.Errorf("%q counts %+v, and the page %v: %v %s", call, made.Messages, p.counts(), err, stderr.String())
	}
}

func TestMessagesThatWaitHaveAReason(t *testing.T) {
	page := laboratory(t)
	p := open(t, page+"#/live", 1280)
	for run, reason := range map[string]string{
		"run=lcr&run=--n%3D6&walk=s0s1s2s3":               "Initiators begin before any message arrives; with “any” as initiators, you choose when. Waiting: election 1 from 1 to 2",
		"run=lelann&run=--n%3D3&walk=s0s1s2d1":            "(FIFO), and an earlier message is on the same link. Waiting: identifier 1 from 2 to 3",
		"run=bully&run=--n%3D3&walk=s0s1s2":               "A message takes at least one unit of time, and no time has passed since it was sent. Waiting: election from 1 to 2",
		"run=lcr-synchronous&run=--n%3D4&walk=s0s1s2s3p1": "A synchronous run delivers the messages of one unit in a fixed order",
	} {
		p.leave("run?" + run + "&at=99")
		p.has(".held", reason)
	}
	p.leave("run?run=lcr&run=--n%3D3&run=--start%3Dany&walk=s0s1s2&at=3")
	p.until(`document.querySelectorAll(".adversary > .offers button").length === 3 && document.querySelector(".held") === null`)
	p.well(page)
}

// The first view is the beginning of a run.
func TestANewcomerIsToldWhereToStart(t *testing.T) {
	page := laboratory(t)
	p := open(t, page, 1280)
	p.at(0)
	p.has(".title b", "nothing is decided yet")
	p.until(`document.querySelector(".rule pre")?.scrollTop > 0`)
	first := eval[string](p, `(() => { const pre = document.querySelector(".rule pre"); return [...pre.querySelectorAll("code")].find((c) => c.offsetTop >= pre.scrollTop).textContent; })()`)
	if !strings.Contains(first, "// Start ") {
		t.Errorf("the rule opens at %q", first)
	}
	p.click(".starthere button", "One step")
	p.at(1)
	p.has(".title b", "no leader yet")
	p.key(kb.End)
	p.has(".title b", "leader 8, agreed")
	p.accessible(".starthere") // TestARunIsAccessible looks at the rest
	p.click(".starthere button", "×")
	p.until(`document.querySelector(".starthere") === null`)
	eval[chromedp.Void](p, `localStorage.removeItem("started")`)
	p.well(page)
}

func TestTheCheckerContinuesAWalk(t *testing.T) {
	page := laboratory(t)
	p := open(t, of(page, 3, "bully", "--n=3"), 1280)
	p.at(3)
	p.click(".adversary button", "Take over here")
	p.click(".adversary button", "Worst from here")
	p.until(`document.querySelector(".search").textContent.includes("more messages")`)
	p.click(".search button", "Show it")
	p.until(`Number(document.querySelector(".controls input").max) > 3`)
	p.at(3)
	p.well(page)
}

func TestTheDiagramShowsCausality(t *testing.T) {
	page := laboratory(t)
	p := open(t, page+"#/live", 1280)
	for _, words := range [][]string{
		{"hirschberg-sinclair", "--n=8", "--order=random", "--seed=3"},
		{"bully", "--n=4", "--fault=crash 4 at 1"}, // a message that is lost causes nothing
	} {
		t.Run(words[0], func(t *testing.T) {
			steps := answer[struct{ Steps []event }](t, "run", map[string]any{"run": words}).Steps
			step := 21
			if lost := slices.IndexFunc(steps, func(e event) bool { return e.Event == "lost" }); lost > 0 {
				step = lost + 1
			}
			p := p.in(t)
			p.leave(of("", step-1, words...)[len("#/"):])
			p.at(step - 1)
			p.key(kb.ArrowRight)
			p.at(step)
			eval[int](p, `(document.querySelector(".plane").focus(), 0)`)
			before, after, concurrent := causality(steps, step-1)
			want := fmt.Sprintf("step %d: %d events before it, %d after it, %d concurrent", step, before, after, concurrent)
			p.until(fmt.Sprintf(`document.querySelector(".spacetime .hint").textContent === %q`, want))
			p.well(page)
		})
	}
}

// event is a step of a run.
type event struct {
	Process int
	Event   string
	Message int
	Sent    []struct{ Message int }
}

// causality counts the events before and after an event, and those concurrent with it, by following each event.
func causality(steps []event, e int) (before, after, concurrent int) {
	causes := make([][]int, len(steps))
	last, sent := map[int]int{}, map[int]int{}
	for i, s := range steps {
		if before, is := last[s.Process]; is {
			causes[i] = append(causes[i], before)
		}
		if s.Event == "receive" {
			causes[i] = append(causes[i], sent[s.Message])
		}
		last[s.Process] = i
		for _, m := range s.Sent {
			sent[m.Message] = i
		}
	}
	past, future := map[int]bool{e: true}, map[int]bool{e: true}
	for i := e; i >= 0; i-- {
		for _, cause := range causes[i] {
			past[cause] = past[cause] || past[i]
		}
	}
	for i := range steps {
		future[i] = future[i] || slices.ContainsFunc(causes[i], func(cause int) bool { return future[cause] })
		switch {
		case i == e:
		case past[i]:
			before++
		case future[i]:
			after++
		default:
			concurrent++
		}
	}
	return before, after, concurrent
}

func TestThePageIsSmall(t *testing.T) {
	size := int64(0)
	for _, name := range []string{"lab.js.gz", "lab-style.css.gz"} {
		file, err := os.Stat("../../internal/show/lab/static/" + name)
		if err != nil {
			t.Fatal(err)
		}
		size += file.Size()
	}
	if size > 300_000 {
		t.Errorf("script and style have %d bytes compressed", size)
	}
}

// look gives the page a width and a theme.
func (p *tab) look(width int64, theme string) {
	p.Helper()
	p.do(chromedp.EmulateViewport(width, 900))
	p.until(fmt.Sprintf(`innerWidth === %d`, width))
	eval[string](p, fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
}

// fits fails if the page stays wider than its window: it draws again when it has heard of its width.
func (p *tab) fits() {
	p.Helper()
	p.until(`document.documentElement.scrollWidth <= innerWidth`)
}

// Each theme and each width is seen: the page fits in all, and axe, which takes seconds, looks once at each run.
func TestARunIsAccessible(t *testing.T) {
	page := laboratory(t)
	themes := []string{"light", "dark"}
	p := open(t, page+"#/live", 1280)
	for i, words := range [][]string{{"lcr", "--ids=5,4,3,2,1"}, {"bully", "--n=5", "--fault=crash 5 at 10"}, {"peterson", "--n=8"}} {
		t.Run(words[0], func(t *testing.T) {
			p := p.in(t)
			p.leave(of("", 14, words...)[len("#/"):])
			p.at(14)
			p.until(`document.querySelector(".rule pre") !== null`)
			p.click(".adversary button", "Take over here")
			p.until(`document.querySelector(".divide") !== null || document.querySelector(".faults") === null && document.querySelector(".offers") !== null`)
			eval[int](p, `(document.querySelectorAll("details:not(.menu)").forEach((d) => d.open = true), 0)`)
			for j, width := range []int64{360, 1280, 2560} {
				p.look(width, themes[(i+j)%2])
				p.fits()
				if j == i {
					p.accessible("html")
				}
			}
			p.well(page)
		})
	}
}

// The address of a run follows its player a moment later. The page may have left by then.
func TestAPlayerDoesNotCallThePageBack(t *testing.T) {
	page := laboratory(t)
	p := open(t, of(page, 3, "lcr", "--n=4"), 1280)
	p.at(3)
	eval[chromedp.Void](p, `(() => { const real = setTimeout; window.setTimeout = (f, ms) => ms === 300 ? (window.late_ = f, 0) : real(f, ms); })()`)
	p.until(`(dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"})), window.late_ !== undefined)`)
	eval[chromedp.Void](p, `void (location.hash = "#/live", late_())`)
	p.until(`document.querySelector(".live-absent") !== null`)
	if hash := eval[string](p, `location.hash`); hash != "#/live" {
		t.Errorf("the page is at %s", hash)
	}
	p.well(page)
}

// Identifiers beside processes are whole where there is room, and where there is none, their ends are there.
func TestLongIdentifiersAreReadable(t *testing.T) {
	for width, want := range map[int64]string{
		1280: `^(9007199254740992|9007199254740993|18446744073709551614|18446744073709551615)$`,
		390:  `^(9007199254740992|…\d*40993|18446744073709551614|…\d*51615)$`,
	} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			page := laboratory(t)
			p := open(t, of(page, 4, "bully", "--ids=18446744073709551614,18446744073709551615,9007199254740993,9007199254740992"), width)
			p.at(4)
			p.until(`document.querySelectorAll(".process .name").length === 4`)
			wrong := eval[[]string](p, fmt.Sprintf(`(() => {
				const drawing = document.querySelector("svg.processes").getBoundingClientRect();
				const names = [...document.querySelectorAll(".process .name")];
				const whole = (e) => { const box = e.getBoundingClientRect(); return drawing.left <= box.left && box.right <= drawing.right; };
				return names.filter((e) => !whole(e) || !/%s/.test(e.textContent)).map((e) => e.textContent);
			})()`, want))
			if len(wrong) > 0 {
				t.Errorf("at %d pixels: %q", width, wrong)
			}
			p.well(page)
		})
	}
}

// Who goes to another run meanwhile, or back, comes to the run and the step of that address.
func TestAPlayerDoesNotCallARunBack(t *testing.T) {
	for name, late := range map[string]string{
		"before the page has heard of it": `late_()`,
		"while the new run is asked for": `new MutationObserver((_, busy) => {
			if (document.querySelector(".shown[aria-busy=true]") === null) return;
			busy.disconnect();
			late();
		}).observe(document, { subtree: true, attributes: true })`,
	} {
		t.Run(name, func(t *testing.T) {
			page := laboratory(t)
			p := open(t, of(page, 3, "lcr", "--n=4"), 1280)
			p.at(3)
			eval[chromedp.Void](p, `(() => { const real = setTimeout; window.setTimeout = (f, ms) => ms === 300 ? (window.late_ = f, 0) : real(f, ms); })()`)
			p.until(`(dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"})), window.late_ !== undefined)`)
			eval[chromedp.Void](p, fmt.Sprintf(`(() => { const late = late_; location.hash = %q; %s })()`, of("", 2, "lcr", "--ids=5,2,1"), late))
			p.until(`document.querySelector(".title p").textContent.includes("ring of 3")`)
			p.at(2)
			if hash := eval[string](p, `location.hash`); hash != of("", 2, "lcr", "--ids=5,2,1") {
				t.Errorf("the page is at %s", hash)
			}
			p.well(page)
		})
	}
}

// Who changes the address as soon as something is drawn gets what the new one has.
func TestAnAddressThatChangesAtOnceIsFollowed(t *testing.T) {
	at := laboratory(t)
	p := open(t, at, 1280)
	p.begin(`new MutationObserver((_, drawn) => {
		if (document.querySelector("header.frame") === null) return;
		drawn.disconnect();
		location.hash = "#/live";
	}).observe(document, { subtree: true, childList: true })`)
	p.do(chromedp.Reload())
	p.until(`document.querySelector(".live-absent") !== null`)
	p.well(at)
}

func TestDialoguesAreAccessible(t *testing.T) {
	page := laboratory(t)
	p := open(t, of(page, 3, "lcr", "--n=4"), 1280)
	p.at(3)
	for _, theme := range []string{"light", "dark"} {
		p.look(1280, theme)
		p.click("button[title^=Keys]", "?")
		p.until(`document.querySelector("dialog").open`)
		p.accessible("dialog")
		p.click("dialog button", "Close")
		p.until(`!document.querySelector("dialog").open`)
		eval[chromedp.Void](p, `document.querySelector(".menu").open = true`)
		p.accessible(".menu")
	}
	p.well(page)
}

func TestAnErrorIsOneLine(t *testing.T) {
	page := laboratory(t)
	p := open(t, page+"#/live", 1280)
	for _, words := range [][]string{{"nonsense"}, {"lcr", "--ids=1,1"}, {"lcr", "--n=0"}, {"lcr", "--n=999999999"}, {"lcr", "--draw=/tmp/x.svg"}, {"lcr", "--ids=<img src=x onerror=alert(1)>"}} {
		p.leave(of("", 0, words...)[len("#/"):])
		p.until(`document.querySelector(".banner") !== null`)
		if text := eval[string](p, `document.querySelector(".banner").innerText`); text == "" || strings.Contains(text, "\n") {
			t.Errorf("%q has the error %q", words, text)
		}
		if text := eval[string](p, `document.querySelector("p.ways").innerText`); strings.Contains(text, "\n") {
			t.Errorf("below the error of %q is %q", words, text)
		}
	}
}

// BenchmarkFrames reports the time from frame to frame while 64 processes have more than 500 messages under way, and the part of it
// that the page's thread works: scripts, style and layout.
func BenchmarkFrames(b *testing.B) {
	page := laboratory(b)
	p := moving(b, of(page, 3400, "preference", "--n=64"), 1280)
	p.at(3400)
	p.until(`document.querySelector(".rule pre") !== null`)
	frames := eval[[][2]float64](p, `new Promise((done) => {
		const s = document.querySelector(".speed select");
		s.value = "16";
		s.dispatchEvent(new Event("change", {bubbles: true}));
		document.querySelector(".controls .play").click();
		const frames = [];
		const painted = new MessageChannel();
		let last = 0;
		painted.port1.onmessage = () => {
			frames.push([last - (frames.last ?? last), performance.now() - last]);
			frames.last = last;
			if (frames.length < 240) requestAnimationFrame(next); else done(frames.slice(1));
		};
		const next = (now) => { last = now; painted.port2.postMessage(0); };
		requestAnimationFrame(next);
	})`)
	for i, name := range []string{"ms/frame", "ms-of-work/frame"} {
		slices.SortFunc(frames, func(f, g [2]float64) int { return cmp.Compare(f[i], g[i]) })
		b.ReportMetric(frames[len(frames)/2][i], name)
		b.ReportMetric(frames[len(frames)*95/100][i], name+"-95%")
	}
	b.ReportMetric(0, "ns/op")
	p.well(page)
}

// BenchmarkFirstPaint reports when a page that opens for the first time has painted its first content.
func BenchmarkFirstPaint(b *testing.B) {
	page := laboratory(b)
	var painted []float64
	for b.Loop() {
		p := moving(b, of(page, 0, "lcr", "--n=5"), 1280)
		p.until(`performance.getEntriesByName("first-contentful-paint").length > 0`)
		painted = append(painted, eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	}
	slices.Sort(painted)
	b.ReportMetric(painted[len(painted)/2], "ms/paint")
	b.ReportMetric(painted[len(painted)-1], "ms/paint-most")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLongRun reports how long a run of 10⁵ events takes to open, a step back in it, and a leap of some steps.
func BenchmarkLongRun(b *testing.B) {
	page := laboratory(b)
	p := moving(b, of(page, 0, "lcr", "--n=5"), 1280)
	p.at(0)
	words := []string{"lelann", "--n=315", "--order=random"}
	opened := eval[float64](p, fmt.Sprintf(`new Promise((done) => {
		const from = performance.now();
		location.hash = %q;
		const seen = () => { if (Number(document.querySelector(".controls input")?.max) > 90000) requestAnimationFrame(() => done(performance.now() - from)); else setTimeout(seen); };
		seen();
	})`, of("", 50_000, words...)))
	b.ReportMetric(opened, "ms/open")
	p.motion("reduce") // else a step glides
	for name, act := range map[string]string{
		"step-back": `document.querySelector("[aria-label='Step back']").click()`,
		"leap":      `const input = document.querySelector(".controls input"); input.value = String(90000 - 37 * i); input.dispatchEvent(new Event("input", {bubbles: true}))`,
	} {
		times := eval[[]float64](p, fmt.Sprintf(`(async () => {
			const times = [];
			for (let i = 0; i < 50; i++) {
				const from = performance.now();
				%s;
				await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
				times.push(performance.now() - from);
			}
			return times;
		})()`, act))
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2], "ms/"+name)
		b.ReportMetric(times[len(times)-1], "ms/"+name+"-most")
	}
	b.ReportMetric(0, "ns/op")
	p.well(page)
}

func TestDraggingAProcessReordersTheRing(t *testing.T) {
	page := laboratory(t)
	p := moving(t, of(page, 0, "lcr", "--ids=5,4,3,2,1"), 1280)
	p.at(0)
	p.until(`document.querySelector("[data-process='2']") !== null`)
	places := eval[[]float64](p, `[0, 2].flatMap((i) => { const r = document.querySelector("[data-process='" + i + "'] .body").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })`)
	p.do(chromedp.DragAndDropXY(places[0], places[1], places[2], places[3], 8))
	p.until(`decodeURIComponent(location.hash).includes("--ids=4,3,5,2,1")`)
	p.until(`[...document.querySelectorAll(".process")].map((e) => e.textContent.slice(0, 1)).join("") === "43521"`)
	p.well(page)
}

func TestTheFormMakesTheCommand(t *testing.T) {
	page := laboratory(t)
	p := open(t, page, 1600)
	p.at(0)
	p.until(`document.querySelector(".runform [role=combobox]") !== null`)
	eval[int](p, `(document.querySelector(".runform [role=combobox]").focus(), 0)`)
	p.key("bully" + kb.Enter) // several have the word, and one has the name
	p.until(`document.querySelector(".runform [role=combobox]").value.startsWith("Bully (Garcia-Molina")`)
	p.until(`document.querySelector(".command code")?.textContent === "$ ringleader run bully --n 8"`) // the key sends the form, which then is the run's
	eval[int](p, `(document.activeElement.blur(), document.querySelector(".runform [role=combobox]").focus(), 0)`)
	p.key("franklin" + kb.Enter)
	p.until(`document.querySelector(".runform [role=combobox]").value.startsWith("Franklin")`)
	p.click(".runform .orders button", "bit-reversal")
	p.until(`document.querySelector(".command code")?.textContent === "$ ringleader run franklin --n 8 --order bit-reversal"`)
	p.click(".scenarios button", "S2 figures 2.7 and 2.8")
	p.until(`document.querySelector("h1").textContent.startsWith("Bully")`)
	p.well(page)
}

// TestTheFormKeepsWhatIsTypedAtOnce: a key may come before the effects of the form's first drawing have run.
func TestTheFormKeepsWhatIsTypedAtOnce(t *testing.T) {
	page := laboratory(t)
	p := open(t, page+"#/costs", 1280)
	p.until(`document.querySelector(".view-costs") !== null`)
	eval[int](p, `new Promise((sent) => {
		new MutationObserver((_, observer) => {
			const field = document.querySelector(".runform input[type=number]");
			if (field === null) return;
			observer.disconnect();
			field.value = "5";
			field.dispatchEvent(new InputEvent("input", { bubbles: true }));
			setTimeout(() => { document.querySelector(".runform").requestSubmit(); sent(0); });
		}).observe(document.body, { childList: true, subtree: true });
		location.hash = "#/run?run=lcr";
	})`)
	p.until(`document.querySelector(".command code")?.textContent === "$ ringleader run lcr --n 5"`)
	p.well(page)
}

func TestExportsAreFiles(t *testing.T) {
	page := laboratory(t)
	p := open(t, of(page, 0, "lcr", "--ids=3,2,1"), 1280)
	p.at(0)
	eval[int](p, `(() => { window.made_ = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((text) => made_.push([blob.type, text.slice(0, 60)])); return make.call(URL, blob); }; HTMLAnchorElement.prototype.click = () => {}; return 0; })()`)
	for i, file := range []struct{ button, media, begins string }{
		{"Space–time diagram, SVG", "image/svg+xml", "<svg "},
		{"Network, PNG", "image/png", "\ufffdPNG"},
		{"The record", "", `{"format":1,"algorithm":"lcr"`},
	} {
		p.click(".menu button", file.button)
		p.until(fmt.Sprintf(`made_.length === %d`, i+1))
		made := eval[[]string](p, `made_.at(-1)`)
		if file.media != "" && made[0] != file.media || !strings.HasPrefix(made[1], file.begins) {
			t.Errorf("%s is %q", file.button, made)
		}
	}
	p.well(page)
}
