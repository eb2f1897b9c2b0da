package browser_test

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/rogpeppe/go-internal/testscript"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/rig"
)

// long has stories followed to each stop.
var long = flag.Bool("long", false, "show each stop of each story")

// chromium is one browser for all tests of the package.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop context.CancelFunc
}

// suite runs the tests, and then ends the browser.
type suite struct{ *testing.M }

func (s suite) Run() int {
	rig.Environment()
	defer func() {
		if chromium.stop != nil {
			chromium.stop()
		}
		if shared.stop != nil {
			shared.stop()
		}
		if site.folder != "" {
			_ = os.RemoveAll(site.folder)
		}
	}()
	return s.M.Run()
}

// TestMain lets this test binary be the command ringleader, too: a demo's members are processes of it.
func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"ringleader": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Run(ctx, "ringleader", all.Algorithms, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
		stop()
		os.Exit(code)
	}})
}

// browser returns the context of the browser.
func browser(t testing.TB) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser is not for -short")
	}
	path, err := exec.LookPath("chromium-headless-shell") // half the work: the other draws its own windows, too
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		needs.Missing(t, "Chromium is missing, so the page is not tested; on Debian: apt-get install chromium-headless-shell, or chromium")
	}
	chromium.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
			chromedp.Flag("renderer-process-limit", "1")) // tabs share a process: so it starts once, and the script of the page is compiled once
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, closed := chromedp.NewContext(allocator)
		chromium.ctx, chromium.stop = ctx, func() { closed(); stop() }
		err = chromedp.Do(ctx)
	})
	if err != nil {
		t.Fatalf("chromium: %v", err)
	}
	return chromium.ctx
}

// tab is a page in the browser.
type tab struct {
	testing.TB
	ctx context.Context
	*noted
}

// noted is what has happened in a tab.
type noted struct {
	mu       sync.Mutex
	requests []string // addresses, in order
	wrong    []string // errors of scripts, and what they wrote as errors
	watched  int      // how many expressions the page watches
}

// in returns the tab for a subtest.
func (p *tab) in(t testing.TB) *tab { return &tab{t, p.ctx, p.noted} }

// patience is for conditions; a page that is well fulfils them in a fraction.
const patience = 60 * time.Second

// glance is how often a condition is looked at. To look at each frame would make the browser draw frames.
const glance = 30 * time.Millisecond

// before runs in each page before its scripts. It counts frames that are asked for.
const before = `(() => { const ask = requestAnimationFrame; window.frames_ = 0; window.requestAnimationFrame = (f) => { window.frames_++; return ask.call(window, f); }; })()`

// open opens an address in a tab of that width, for which the page has no motion: frames are most of the work, and colours that change
// slowly have no contrast while they change.
func open(t testing.TB, address string, width int64) *tab {
	t.Helper()
	return opened(t, address, width, "reduce")
}

// moving opens an address in a tab of that width, and the page may move.
func moving(t testing.TB, address string, width int64) *tab {
	t.Helper()
	return opened(t, address, width, "no-preference")
}

func opened(t testing.TB, address string, width int64, motion string) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser(t))
	t.Cleanup(stop)
	ctx, late := context.WithTimeout(ctx, 10*patience)
	t.Cleanup(late)
	p := &tab{t, ctx, new(noted)}
	p.begin(before)
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}) // in each tab
		return err
	}))
	if err := chromedp.Listen(ctx, p.note); err != nil {
		t.Fatal(err)
	}
	p.motion(motion)
	p.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(address))
	return p
}

// begin has each document that the tab opens begin with a script.
func (p *tab) begin(script string) {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// note keeps what must not happen, and where requests go.
func (p *noted) note(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *network.EventLoadingFailed:
		if strings.HasPrefix(e.ErrorText, "net::ERR_BLOCKED") {
			p.wrong = append(p.wrong, fmt.Sprintf("a request was refused: %s (%s)", e.ErrorText, e.Type))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		p.wrong = append(p.wrong, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			p.wrong = append(p.wrong, fmt.Sprintf("console.error: %s", e.Args[0].Value))
		}
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// eval evaluates an expression of JavaScript, and waits for its promise.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits until an expression of JavaScript holds. This process looks at it again and again: a timer of the page would stand still with
// the page, and the test with it.
func (p *tab) until(expression string) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	for again := time.Tick(glance); ; {
		held, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf("!!(%s)", expression)))
		if held {
			return
		}
		select {
		case <-again:
		case <-ctx.Done():
			ctx, stop := context.WithTimeout(p.ctx, patience/6)
			defer stop()
			shown, silent := chromedp.Run(ctx, chromedp.Evaluate[string](`document.visibilityState + ": " + document.body.innerText.slice(0, 1500)`))
			if silent != nil {
				shown = silent.Error()
			}
			p.Fatalf("%s never held: %v; %s\nthe page has:\n%s", expression, err, p.wrong, shown)
		}
	}
}

// watch has the page note whether an expression holds at any moment from now on, even one that is too short for a look. It returns the
// expression for that.
func (p *tab) watch(expression string) (held string) {
	p.Helper()
	p.watched++
	held = fmt.Sprintf("held%d_", p.watched)
	eval[chromedp.Void](p, fmt.Sprintf(`void (window.%s = false, new MutationObserver(() => { window.%[1]s ||= !!(%s); }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true }))`, held, expression))
	return held
}

// rests fails unless there is a second in which the page asks for no frame. The first ones may have what is drawn late.
func (p *tab) rests() {
	p.Helper()
	if !eval[bool](p, fmt.Sprintf(`(async () => {
		for (const from = performance.now(); performance.now() - from < %d;) {
			const before = frames_;
			await new Promise((then) => setTimeout(then, 1000));
			if (frames_ === before) return true;
		}
		return false;
	})()`, patience.Milliseconds())) {
		p.Error("frames are asked for in each second, and nothing moves")
	}
}

// click clicks the first element that the selector finds and whose text begins so.
func (p *tab) click(selector, text string) {
	p.Helper()
	found := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => e.textContent.trim().startsWith(%q) && !e.disabled)`, selector, text)
	p.until(found + ` !== undefined`)
	eval[chromedp.Void](p, found+`.click()`)
}

func (p *tab) key(keys string) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// well fails if a script failed, or a request went elsewhere than to the server at an address.
func (p *tab) well(address string) {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.wrong) > 0 {
		p.Errorf("scripts of the page failed: %s", strings.Join(p.wrong, "; "))
	}
	own, err := url.Parse(address)
	if err != nil {
		p.Fatal(err)
	}
	for _, request := range p.requests {
		if to, err := url.Parse(request); err != nil || to.Scheme != "data" && to.Scheme != "blob" && to.Host != own.Host {
			p.Errorf("the page asked for %s", request)
		}
	}
}

// accessible fails if axe finds a violation in a part of the page, once nothing moves that ends: half-way a colour has less contrast. A part
// is enough where another test looks at the rest.
func (p *tab) accessible(part string) {
	p.Helper()
	if eval[bool](p, `typeof axe === "undefined"`) { // it stays while the page shows other views
		axe, err := os.ReadFile("testdata/axe/axe.min.js")
		if err != nil {
			p.Fatal(err)
		}
		eval[chromedp.Void](p, string(axe)+"; 0")
	}
	found := eval[[]string](p, fmt.Sprintf(`Promise.all(document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime !== Infinity).map((a) => a.finished.catch(() => {})))
		.then(() => axe.run(%q, {resultTypes: ["violations"]})).then((r) => r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html.slice(0, 160) + " " + n.any.map((a) => a.message).join(" ")).join(" | ")))`, part))
	for _, violation := range found {
		p.Errorf("axe: %s", violation)
	}
}
