package workbench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/afekgafni"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/lab"
	"ringleader.example/ringleader/internal/show/report"
)

// call runs a command line of the program mine with own algorithms.
func call(own []Entry, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), own, append([]string{"/bin/mine"}, args...), strings.NewReader(""), &out, &err, func(string) string { return "" })
	return code, out.String(), err.String()
}

// named is LCR under another name.
func named(name string) *election.Algorithm[lcr.Process, lcr.Message] {
	a := lcr.Algorithm
	a.Name = name
	return &a
}

func TestAnAlgorithmThatCannotBeIsOneLineAndAWrongCall(t *testing.T) {
	type none = election.Algorithm[lcr.Process, lcr.Message]
	kinds, functions, far := named("mine"), named("mine"), named("mine")
	kinds.Kinds = nil
	functions.New = nil
	far.Topology = 99
	for says, own := range map[string][]Entry{
		"an algorithm is nil":                        {Of((*none)(nil))},
		"an entry is empty; workbench.Of makes one":  {{}},
		"declares 1 to 16 Kinds of message":          {Of(kinds)},
		"New, Start and Receive are obligatory":      {Of(functions)},
		`algorithm "": the Name`:                     {Of(named(""))},
		`algorithm "My Own": the Name`:               {Of(named("My Own"))},
		`algorithm "mine": Topology`:                 {Of(far)},
		"map":                                        {Of(mapped())},
		`two algorithms are called "lcr"; give one`:  {Of(named("lcr"))},
		`two algorithms are called "mine"; give one`: {Of(named("mine")), Of(named("mine"))},
	} {
		code, stdout, stderr := call(own, "algorithms")
		if code != report.ExitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "mine: ") || !strings.Contains(stderr, says) {
			t.Errorf("exit status %d, stdout %q, stderr %q; want one line with %q", code, stdout, stderr, says)
		}
	}
}

// A declared bound may panic; that is told in place of the result, not after a part of it. A list of leaders has an end.
func TestAResultIsPrintedWholeOrNotAtAll(t *testing.T) {
	bound, all := named("bound"), named("all")
	bound.Bounds = []election.Bound{{Of: "election", Case: election.Worst, Formula: "n/0", Source: "here", Value: func(uint64) uint64 { panic("no\nbound") }}}
	all.Start = func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Lead(0) }
	own := []Entry{Of(bound), Of(all)}
	if code, stdout, stderr := call(own, "run", "bound", "--n", "3"); code == 0 || stdout != "" || stderr != "mine: the bound n/0 of election messages panics: no bound\n" {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	const list = "\n300 leaders: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …; not agreed\n"
	if code, stdout, _ := call(own, "run", "all", "--n", "300"); code == 0 || !strings.Contains(stdout, list) {
		t.Errorf("exit status %d, stdout %q", code, stdout)
	}
}

// What an algorithm declares of its counts speaks of fewer runs than a search tries without a flag.
func TestCountsThatVaryAreFoundWithoutAFlag(t *testing.T) {
	wrong := afekgafni.Algorithm
	wrong.Name, wrong.Counts = "wrong", election.CountsAllFirst
	for words, has := range map[string]string{
		"verify wrong --n 3":             "counts vary: 11 total messages, and 8 under another schedule",
		"verify wrong --n 3 --start all": "counts vary: ",
		"verify wrong --n 3 --start any": "not checked, and declared: --start all, --ports\n",
	} {
		_, stdout, _ := call([]Entry{Of(&wrong)}, strings.Fields(words)...)
		if !strings.Contains(strings.ReplaceAll(stdout, "\n  ", " "), has) && !strings.Contains(stdout, has) {
			t.Errorf("%s: %s", words, stdout)
		}
	}
}

// A bound of elections with one initiator is no result of a check in which several initiate. A run that exceeds its bound tells so.
func TestABoundThatWasNotCheckedIsNotToldToHold(t *testing.T) {
	alone := named("alone")
	alone.Bounds = []election.Bound{{OneStart: true, Of: "election", Case: election.Worst, Formula: "n", Source: "here", Value: func(n uint64) uint64 { return n }}}
	own := []Entry{Of(alone)}
	for _, c := range []struct {
		words, has, lacks string
	}{
		{"verify alone --n 3", "every election can end\n", "at most n"},
		{"verify alone --ids 1,2,3 --start 3", "at most n election messages\n", "bound broken"},
		{"verify alone --ids 1,2,3 --start 1", "bound broken: 5 election messages", "holds"},
		{"run alone --ids 1,2,3 --start 3", "worst case n = 3\n", "exceeded"},
		{"run alone --ids 1,2,3 --start 1", "worst case n = 3, exceeded\n", "n = 3\n"},
	} {
		if _, stdout, _ := call(own, strings.Fields(c.words)...); !strings.Contains(stdout, c.has) || strings.Contains(stdout, c.lacks) {
			t.Errorf("%s prints %q; want %q, and not %q", c.words, stdout, c.has, c.lacks)
		}
	}
}

// What an algorithm declares and a check does not try is named: other identifiers of one that computes with them, equal ones, unwilling
// processes, longer delays. A check that tries it says so.
func TestACheckNamesWhatItDoesNotTry(t *testing.T) {
	const missing, upTo = "not checked, and declared: ", "every order of 3 identifiers"
	computed, equal := named("computed"), named("equal")
	computed.Identifiers, computed.Timing, computed.Willingness = election.Computed, election.Synchronous, true
	computed.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if m.ID != 7 || p.ID == 7 { // it loses identifier 7
			lcr.Algorithm.Receive(p, port, kind, m, out)
		}
	}
	equal.AllowDuplicates = func(election.Arrangement) error { return nil }
	own := []Entry{Of(computed), Of(equal)}
	for _, c := range []struct {
		words, has, lacks string
	}{
		{"verify computed --n 3", missing + "--ids, --unwilling", "from"},
		{"verify computed --n 3 --first 4", upTo + " from 4 on", "undecided"},
		{"verify computed --n 3 --first 5", "undecided at the end", "holds"},
		{"verify computed --n 3 --first 5 --random 10", "undecided at the end", "holds"},
		{"verify computed --ids 1,2,3 --unwilling 2", "1 unwilling process", missing},
		{"verify computed --n 3 --unwilling 2", "", "holds"},
		{"verify equal --n 3", missing + "--ids", "two leaders"},
		{"verify equal --ids 3,3", "undecided at the end", "holds"},
		{"verify bully --n 2 --crash 1 --recover 1", missing + "--param delay=2", "violated"},
		{"verify bully --n 2 --crash 1 --recover 1 --param delay=2", "holds", missing},
		{"verify bully --n 3 --first 5 --start every-set --param answer-timeout=2", "process 6 leads; the right leader is 7", "holds"},
		{"verify afek-gafni --n 3 --ports random", "one order of ports", missing},
		{"verify hirschberg-sinclair --n 2 --orientation random", "one orientation", missing},
	} {
		_, stdout, _ := call(own, strings.Fields(c.words)...)
		if out := strings.Join(strings.Fields(stdout), " "); !strings.Contains(out, c.has) || strings.Contains(out, c.lacks) {
			t.Errorf("%s prints %q; want %q, and not %q", c.words, stdout, c.has, c.lacks)
		}
	}
}

// A step of an algorithm that floods its network may take seconds: to store what it sends. A run that is interrupted does not wait for it.
func TestAnInterruptedRunEndsAmidAStep(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	asked, goOn, left := make(chan bool, 1), make(chan bool), make(chan bool, 1)
	asked <- true
	slow := named("slow")
	slow.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if len(asked) > 0 && m.ID == 3 {
			<-asked
			interrupt()
			<-goOn
			left <- true
		}
		lcr.Algorithm.Receive(p, port, kind, m, out)
	}
	var out, err bytes.Buffer
	code := run(ctx, []Entry{Of(slow)}, []string{"mine", "run", "slow", "--ids", "1,3,2"}, strings.NewReader(""), &out, &err, func(string) string { return "" })
	if code != report.ExitIncomplete || out.Len() > 0 || err.String() != "mine: stopped after more than 0 deliveries, before the end, and amid a long step\n" {
		t.Fatalf("exit status %d, stdout %q, stderr %q", code, &out, &err)
	}
	close(goOn)
	<-left
}

// The files of an algorithm are on the machine where it was compiled, without -trimpath; or in the program.
func TestTheLabShowsTheSourceOfAnOwnAlgorithm(t *testing.T) {
	folder, err := filepath.Abs("../algorithms/lcr")
	if err != nil {
		t.Fatal(err)
	}
	if file := Of(named("mine")).file; !strings.HasSuffix(file, "algorithms/lcr/lcr.go") {
		t.Errorf("its file is %q", file)
	}
	at := func(file string) Entry {
		e := Of(named("mine"))
		e.entry.Listing = beside(file)
		return e
	}
	for where, e := range map[string]Entry{
		"beside the program": at(filepath.Join(folder, "lcr.go")),
		"in the program":     Of(named("mine")).Listed(os.DirFS(folder)),
		"nowhere":            at("ringleader.example/ringleader/algorithms/lcr/lcr.go"),
	} {
		all, err := list([]Entry{e})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(question, words string) string {
			answer, err := lab.New("mine", all).Ask(t.Context(), question, []byte(words), func(string) {})
			return fmt.Sprintf("%s%v", answer, err)
		}
		listing, run := ask("listing", `{"algorithm":"mine"}`), ask("run", `{"run":["mine","--n=3"]}`)
		want, events := "election.Algorithm[", strings.Count(run, `"event":`)
		if where == "nowhere" {
			events = 0
			want = "the source of mine is not at hand: mine was built with -trimpath, or its source has moved; build it without -trimpath, or give it the source: workbench.Of(…).Listed(files)"
		}
		if !strings.Contains(listing, want) {
			t.Errorf("%s: the listing is %.400s", where, listing)
		}
		if lined := strings.Count(run, `"lines":[`); lined != events {
			t.Errorf("%s: %d events have lines, want %d: %s", where, lined, events, run)
		}
	}
}

// mapped is an algorithm whose state is no plain value.
func mapped() *election.Algorithm[map[string]int, lcr.Message] {
	type state = map[string]int
	return &election.Algorithm[state, lcr.Message]{
		Declaration: named("mine").Declaration,
		New:         func(election.Local) state { return nil },
		Start:       func(*state, *election.Out[lcr.Message]) {},
		Receive:     func(*state, election.Port, election.Kind, lcr.Message, *election.Out[lcr.Message]) {},
	}
}
