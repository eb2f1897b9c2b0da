package browser_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/observe"
	"ringleader.example/ringleader/internal/show/lab"
)

// staged starts a demo with a lab in a process of its own, and returns the address of its group.
func staged(t *testing.T, flags ...string) string {
	t.Helper()
	command := exec.Command("ringleader", append([]string{"demo", "--lab", "--lease", "3s"}, flags...)...)
	folder := t.TempDir()
	command.Env = append(os.Environ(), "TMPDIR="+folder)
	command.Stderr = t.Output()
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if groups, _ := filepath.Glob(filepath.Join(folder, "ringleader-demo-*")); t.Failed() && len(groups) == 1 {
			text, err := exec.Command("ringleader", "explain", groups[0]).CombinedOutput()
			t.Logf("why the leader changed: %s(%v)", text, err)
		}
		_ = command.Process.Signal(os.Interrupt) // it may have ended
		stdin.Close()
		_ = command.Wait() // its verdict is not what is tested
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if address := regexp.MustCompile(`http://\S+/#/live`).FindString(lines.Text()); address != "" {
			go func() {
				for lines.Scan() {
				}
			}()
			return address
		}
	}
	t.Fatalf("the demo prints no address: %v", lines.Err())
	return ""
}

// shown serves a board and the page, and returns the address of the view.
func shown(t *testing.T, live *lab.Live) string {
	t.Helper()
	var engine lab.Engine = empty{}
	if live != nil {
		engine = live.With(engine)
	}
	listener, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- lab.Serve(t.Context(), listener, engine, nil) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String() + "/#/live"
}

// empty is an engine with an empty catalogue.
type empty struct{}

func (empty) Ask(_ context.Context, question string, _ []byte, _ func(string)) (json.RawMessage, error) {
	if question != "catalogue" {
		return nil, fmt.Errorf("there is no %s", question)
	}
	return json.RawMessage(`{"algorithms":[],"scenarios":[],"gallery":[],"live":false}`), nil
}

// Parts of the page.
const (
	theLeader = `document.querySelector('.live-members li[data-state^="leader"]')?.dataset.member`
	reigns    = `[...document.querySelectorAll("tr[data-reign]")].map((r) => ({leader: r.dataset.reign, from: +r.dataset.from, until: r.dataset.until === "" ? -1 : +r.dataset.until}))`
	followers = `document.querySelectorAll('.live-members li[data-state^="follower"]').length`
)

// reign is a row of the history.
type reign struct {
	Leader      string
	From, Until float64 // -1: it goes on
}

// One demo is for all that is done to a group from its page: each start, and each lease that ends, is time.
func TestThePageOfADemo(t *testing.T) {
	address := staged(t)
	p := open(t, address, 1280)
	t.Run("a click kills the leader, and the page shows the next", func(t *testing.T) { killed(t, p.in(t)) })
	if !t.Failed() {
		t.Run("the minority steps down before the majority elects", func(t *testing.T) { split(t, p.in(t)) })
	}
	p.well(address)
}

func killed(t *testing.T, p *tab) {
	p.until(fmt.Sprintf(`(() => {
		window.first_ = %s;
		if (first_ === undefined || %s !== 4) return false;
		document.querySelector('button[aria-label="kill ' + first_ + '"]').click();
		return true;
	})()`, theLeader, followers)) // at once: on a machine with other work, the next leader may come by itself
	first := eval[string](p, `first_`)
	p.until(fmt.Sprintf(`%s !== undefined && %[1]s !== %q && %s === 3`, theLeader, first, followers))
	p.until(fmt.Sprintf(`document.querySelector('.live-members li[data-member="%s"]').dataset.state === "not running"`, first))
	p.until(`document.querySelector("[role=log]").textContent.includes("› kill ` + first + `")`)
	p.until(fmt.Sprintf(`document.querySelector("[role=log]").textContent.includes("%s killed (SIGKILL")`, first))
	inTurn(t, p, first)
	p.accessible("html")
	p.click(`button[aria-label="start `+first+`"]`, "start")
	p.until(followers + ` === 4`)
}

// The lease of a leader that is cut off ends before the others elect.
func split(t *testing.T, p *tab) {
	p.until(followers + ` === 4`)
	p.click("button", "cut leader | rest")
	p.until(`document.querySelectorAll(".live-links .severed").length === 4`)
	first := eval[string](p, `document.querySelector("[role=log]").textContent.match(/cut: (\d) \|/)[1]`)
	p.until(fmt.Sprintf(`%s !== undefined && %[1]s !== %q && %s === 3`, theLeader, first, followers))
	p.until(fmt.Sprintf(`document.querySelector("[role=log]").textContent.includes("%s leads no more")`, first))
	if left := eval[string](p, `document.querySelector('[data-lease="`+first+`"]').textContent`); left != "" {
		t.Errorf("the leader before has a %s", left)
	}
	inTurn(t, p, first)
	p.click("button", "heal")
	p.until(`document.querySelectorAll(".live-links .severed").length === 0 && ` + followers + ` === 4`)
	eval[chromedp.Void](p, `document.querySelector(".live-links .hit").dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
	p.until(`document.querySelectorAll(".live-links .severed").length === 1 && document.querySelector("[role=log]").textContent.includes("cut: 1 | 2")`)
	eval[chromedp.Void](p, `for (const id of ["2", "4"]) document.querySelector('.live-member[data-member="' + id + '"]').dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}))`)
	p.click("button", "cut 2,4 | 1,3,5")
	p.until(`document.querySelectorAll(".live-links .severed").length === 6`)
	for line, want := range map[string]string{"quit": "ends in its terminal", "kill 99": "one member from 1 to 5", "format c:": "unknown command"} {
		p.do(chromedp.SendKeys(`#live-line`, line+"\r"))
		p.until(fmt.Sprintf(`document.querySelector(".live-commands .answer.failed")?.textContent.startsWith(%q) && document.querySelector(".live-commands .answer").textContent.includes(%q)`, line, want))
	}
	p.click("button", "heal")
	p.until(`document.querySelectorAll(".live-links .severed").length === 0 && ` + theLeader + ` !== undefined && ` + followers + ` === 4`)
	p.click(`button[aria-label="pause leader"]`, "pause")
	p.until(`document.querySelector('.live-members li.paused') !== null`)
}

// inTurn fails unless each leader of the history began after the end of the one before, and the first one has led.
func inTurn(t *testing.T, p *tab, first string) {
	t.Helper()
	led, all := false, eval[[]reign](p, reigns)
	for i, r := range all {
		led = led || r.Leader == first && r.Until > r.From
		if i > 0 && (r.Until <= r.From || r.Until > all[i-1].From) {
			t.Errorf("the history is, the last one first, %+v", all)
		}
	}
	if !led || all[0].Leader == first {
		t.Errorf("%s led first, and the history is, the last one first, %+v", first, all)
	}
}

func TestALeaseRunsDownInThePageAndThenNothingMoves(t *testing.T) {
	b := observe.NewBoard("A group")
	lease := func(until time.Time) {
		b.Show(observe.State{
			Members: []observe.Member{{ID: 1, Condition: observe.Running, Role: ringleader.Leader, Leader: 1, Term: 3, Until: until, Grants: []observe.Grant{{By: 1, Until: until}, {By: 2, Until: until}}}, {ID: 2, Condition: observe.Running, Role: ringleader.Follower, Leader: 1, Term: 3}},
			Reigns:  []observe.Reign{{Leader: 1, Term: 3, Begin: time.Now(), End: until, Goes: true}},
		})
	}
	lease(time.Now().Add(time.Minute))
	address := shown(t, &lab.Live{Board: b})
	p := moving(t, address, 900)
	const left = `+(document.querySelector("[data-lease]")?.textContent ?? "").replace(/\D+/g, "")`
	const votes = `+(document.querySelector('[data-lease="2"]')?.textContent ?? "").replace(/vote for 1: |\D+$/g, "")`
	const line = `parseFloat(document.querySelector("[data-by='2'][data-to='1']")?.style.strokeDasharray)`
	const part = `parseFloat(document.querySelector("[data-ring]").style.strokeDasharray)`
	p.until(left + ` > 0`)
	was, ring := eval[float64](p, left), eval[float64](p, part)
	p.until(fmt.Sprintf(`%s < %f && %s < %f`, left, was, part, ring))
	vote, length := eval[float64](p, votes), eval[float64](p, line)
	p.until(fmt.Sprintf(`%s < %f && %s < %f`, votes, vote, line, length))
	lease(time.Now().Add(time.Minute))
	p.until(fmt.Sprintf(`%s > %f`, part, ring-0.2))
	lease(time.Time{})
	p.until(`document.querySelector("[data-by]") === null && document.querySelector('[data-lease="2"]').textContent === "" && document.querySelector("[data-lease]").textContent === "" && document.querySelector("[data-ring]").dataset.state === ""`)
	p.rests()
	if eval[int](p, `document.querySelectorAll("main button").length`) != 0 {
		t.Error("a page that can only look has buttons")
	}
	p.well(address)
}

func TestThePageOfAGroupFitsItsWindowAndIsAccessible(t *testing.T) {
	b := observe.NewBoard("A group with names that are long")
	const many = 7
	var s observe.State
	for id := range observe.ID(many) {
		m := observe.Member{ID: id + 1, Condition: observe.Running, Role: ringleader.Follower, Leader: many, Term: 1<<64 - 1}
		if id == 4 {
			m = observe.Member{ID: 1<<64 - 1, Condition: observe.Silent, Problem: strings.Repeat("no-member-answers", 9)}
		}
		s.Members = append(s.Members, m)
	}
	s.Members[many-1].Role = ringleader.Leader
	s.Acts = true
	begun := time.Now().Add(-20 * time.Second)
	at := func(ms int) time.Time { return begun.Add(time.Duration(ms) * time.Millisecond) }
	b.Begin(begun)
	s.Reigns = []observe.Reign{
		{Leader: 1<<64 - 1, Term: 1, Begin: at(11000), End: at(12000)},
		{Leader: 2, Begin: at(11200), End: at(11500)},
		{Leader: many, Term: 1<<64 - 1, Begin: at(14000), Goes: true},
	}
	s.Cut = [][2]observe.ID{{1, 2}}
	b.Say(begun, observe.Fault, strings.Repeat("what happened ", 30))
	b.Show(s)
	address := shown(t, &lab.Live{Board: b})
	p := open(t, address, 1280)
	p.until(fmt.Sprintf(`document.querySelectorAll(".live-members li").length === %d`, many))
	for leader, gap := range map[int]string{2: "two leaders for 300 ms", many: "2000 ms"} {
		p.until(fmt.Sprintf(`document.querySelector('tr[data-reign="%d"] td:last-child').textContent === %q`, leader, gap))
	}
	for width, theme := range map[int64]string{360: "dark", 800: "", 1280: "light", 3840: ""} {
		p.do(chromedp.EmulateViewport(width, 900))
		p.until(fmt.Sprintf(`innerWidth === %d`, width))
		if over := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("%d pixels are outside of a window of %d", over, width)
		}
		if theme == "" {
			continue
		}
		eval[chromedp.Void](p, fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
		p.until(`document.getAnimations().length === 0`)
		p.accessible("html")
	}
	p.well(address)
}

func TestWithoutAGroupThePageExplainsHowToSeeOne(t *testing.T) {
	address := shown(t, nil)
	p := open(t, address, 360)
	p.until(`document.querySelector("main pre")?.textContent === "ringleader demo --lab"`)
	if over := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("%d pixels are outside", over)
	}
	p.accessible("html")
	p.well(address)
}

// A browser has six connections to a server. Pages in the background need none.
func TestAPageInTheBackgroundHasNoStream(t *testing.T) {
	b := observe.NewBoard("A group")
	b.Begin(time.Now())
	members := func(n int) (s observe.State) {
		for id := range observe.ID(n) {
			s.Members = append(s.Members, observe.Member{ID: id + 1, Condition: observe.Running})
		}
		return s
	}
	b.Show(members(2))
	address := shown(t, &lab.Live{Board: b})
	p := open(t, strings.TrimSuffix(address, "live")+"nowhere", 1280)
	p.has("h1", "no such page")
	eval[chromedp.Void](p, `void (window.streams_ = [], window.EventSource = class extends EventSource { constructor(at) { super(at); streams_.push(this); } }, location.hash = "#/live")`)
	p.until(`document.querySelectorAll(".live-members li").length === 2`)
	turn := func(hidden bool) {
		eval[chromedp.Void](p, fmt.Sprintf(`void (Object.defineProperty(document, "hidden", { value: %v, configurable: true }), document.dispatchEvent(new Event("visibilitychange")))`, hidden))
	}
	turn(true)
	p.until(`streams_.length === 1 && streams_[0].readyState === EventSource.CLOSED`)
	b.Show(members(3))
	turn(false)
	p.until(`document.querySelectorAll(".live-members li").length === 3`)
	eval[chromedp.Void](p, `void (location.hash = "#/nowhere")`)
	p.until(`streams_.every((s) => s.readyState === EventSource.CLOSED)`)
	turn(true)
	turn(false)
	p.until(`streams_.length === 2`)
	p.well(address)
}
