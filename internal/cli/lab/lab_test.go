package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/cli/lab"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	show "ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/internal/study/gallery"
)

// onlyComputes skips a test with -short: the race detector has nothing to see in it.
func onlyComputes(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it only computes")
	}
}

// ownCall is the part of a result about its call.
var ownCall = regexp.MustCompile(`"command":"(?:[^"\\]|\\.)*",`)

// theLab is the lab of the catalogue.
func theLab() show.Engine { return lab.New("ringleader", all.Algorithms) }

// inLab asks the lab of the catalogue.
func inLab(t *testing.T, question string, words any) (json.RawMessage, error) {
	t.Helper()
	body, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	return theLab().Ask(t.Context(), question, body, func(string) {})
}

// labObject is a question or an answer.
type labObject = map[string]any

// answered returns the answer to a question that has one.
func answered[T any](t *testing.T, question string, words any) (answer T) {
	t.Helper()
	text, err := inLab(t, question, words)
	if err != nil {
		t.Fatalf("%s %v: %v", question, words, err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s %v: %v: %.200s", question, words, err, text)
	}
	return answer
}

// labRunAnswer is the part of a run's answer that tests read.
type labRunAnswer struct {
	Run struct {
		Run     []string          `json:"run"`
		Choices []json.RawMessage `json:"choices"`
	} `json:"run"`
	Call   string          `json:"call"`
	Result json.RawMessage `json:"result"`
	Header labObject       `json:"header"`
	States []string        `json:"states"`
	Steps  []labObject     `json:"steps"`
	Next   []struct {
		Text    string          `json:"text"`
		Choice  json.RawMessage `json:"choice"`
		Process int             `json:"process"`
		Message int             `json:"message"`
	} `json:"next"`
	Faults []json.RawMessage `json:"faults"`
}

// labCallAnswer is the answer to a call as the page has it.
type labCallAnswer struct {
	Call   string          `json:"call"`
	Status int             `json:"status"`
	Result json.RawMessage `json:"result"`
	Run    *struct {
		Run     []string          `json:"run"`
		Choices []json.RawMessage `json:"choices"`
	} `json:"run"`
}

// labPrinted is what a command line prints.
func labPrinted(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cli.Run(t.Context(), "ringleader", all.Algorithms, args, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
	if stdout.Len() == 0 {
		t.Fatalf("ringleader %q: %s", args, stderr.String())
	}
	return strings.TrimSpace(stdout.String())
}

// labRuns are runs of all sorts.
var labRuns = [][]string{
	{"lcr", "--ids=5,4,3,2,1"},
	{"lcr", "--n=1"},
	{"lcr", "--ids=18446744073709551615,3"},
	{"hirschberg-sinclair", "--n=8", "--order=random", "--seed=3", "--orientation=random"},
	{"peterson", "--n=7", "--order=random", "--schedule=random", "--start=any"},
	{"bully", "--n=7", "--leader-dead=true", "--start=4"},
	{"bully", "--n=5", "--fault=crash 5 at 10", "--fault=recover 5 at 40"},
	{"quorum-bully", "--n=3", "--until=200"},
	{"stop-and-go-p4", "--ids=4,2,5,3", "--wake=0,-,3,-", "--unwilling=2"},
	{"itai-rodeh", "--n=4", "--seed=2"},
	{"preference", "--ids=1,2,3", "--votes=3,3,1"},
	{"tree", "--n=5", "--topology=star"},
	{"lcr", "--n=4", "--limit=3"},
}

func TestTheLabsRunsAreThoseOfTheCommandLine(t *testing.T) {
	onlyComputes(t)
	for _, run := range labRuns {
		answer := answered[labRunAnswer](t, "run", labObject{"run": run})
		want := labPrinted(t, append([]string{"run", "--json"}, append(run[1:len(run):len(run)], run[0])...)...)
		if string(answer.Result) != want {
			t.Errorf("%q: %s, and not %s", run, answer.Result, want)
		}
		if len(answer.States) != int(answer.Header["n"].(float64)) {
			t.Errorf("%q: %d states", run, len(answer.States))
		}
		tracedAlike(t, &answer, append([]string{"run", run[0]}, run[1:]...))
		if !strings.HasPrefix(answer.Call, "ringleader run "+run[0]) || answer.Next != nil {
			t.Errorf("%q: call %s, next %v", run, answer.Call, answer.Next)
		}
	}
}

// tracedAlike fails if the steps of an answer are not those that a command traces.
func tracedAlike(t *testing.T, answer *labRunAnswer, call []string) {
	t.Helper()
	record := strings.Split(labPrinted(t, append(call, "--trace=-")...), "\n")
	if len(answer.Steps) != len(record)-1 {
		t.Errorf("%q: %d steps, and not %d", call, len(answer.Steps), len(record)-1)
		return
	}
	asTrace(answer)
	for i, step := range answer.Steps {
		delete(step, "lines") // which a trace has not
		if want := traceStep(t, record[i+1]); !reflect.DeepEqual(step, want) {
			t.Errorf("%q: step %v, and not %v", call, step, want)
		}
	}
}

// asTrace adds to steps what the page adds: what they leave out.
func asTrace(answer *labRunAnswer) {
	states, sent := slices.Clone(answer.States), map[any]labObject{}
	for i, step := range answer.Steps {
		step["step"] = float64(i + 1)
		own := int(step["process"].(float64))
		if step["same"] != nil {
			step["state"] = states[own]
			delete(step, "same")
		}
		if state, is := step["state"].(string); is {
			states[own] = state
		}
		if m, is := sent[step["message"]]; is {
			for _, field := range []string{"from", "kind", "text"} {
				if m[field] != nil {
					step[field] = m[field]
				}
			}
		}
		for _, m := range listed(step["sent"]) {
			sent[m["message"]] = labObject{"from": float64(own + 1), "kind": m["kind"], "text": m["text"]}
		}
	}
}

// listed returns the objects of a list; nil of none.
func listed(list any) (all []labObject) {
	if list, is := list.([]any); is {
		for _, one := range list {
			all = append(all, one.(labObject))
		}
	}
	return all
}

// traceStep reads the line of a trace, with times as text.
func traceStep(t *testing.T, line string) labObject {
	t.Helper()
	var step labObject
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&step); err != nil {
		t.Fatal(err)
	}
	asText := func(in any, name string) {
		if of, is := in.(labObject); is && of[name] != nil {
			of[name] = of[name].(json.Number).String()
		}
	}
	asText(step, "time")
	for name, field := range map[string]string{"timers": "after", "decided": "lease"} {
		list, _ := step[name].([]any)
		for _, one := range list {
			asText(one, field)
		}
	}
	text, err := json.Marshal(step)
	if err != nil {
		t.Fatal(err)
	}
	step = nil
	if err := json.Unmarshal(text, &step); err != nil {
		t.Fatal(err)
	}
	return step
}

// followed are runs with a schedule that can become walks.
var followed = [][]string{
	{"lcr", "--ids=5,4,3,2,1"},
	{"peterson", "--n=7", "--order=random", "--schedule=random", "--start=any"},
	{"bully", "--n=7", "--leader-dead=true", "--start=4"},
	{"bully", "--n=5", "--fault=crash 5 at 10", "--fault=recover 5 at 40"},
	{"itai-rodeh", "--n=4", "--seed=2"},
	{"stop-and-go-p1", "--ids=3,1,4,2,5"},
	{"quorum-bully", "--n=3", "--until=100"},
}

func TestARunBecomesAWalkThatIsRepeatedAndContinued(t *testing.T) {
	onlyComputes(t)
	for _, run := range followed {
		scheduled := answered[labRunAnswer](t, "run", labObject{"run": run})
		walk := answered[labRunAnswer](t, "run", labObject{"run": run, "walk": true})
		if !sameSteps(walk.Steps, scheduled.Steps, scheduled.Header["clock"] == walk.Header["clock"]) {
			t.Errorf("%q: the walk has other steps", run)
		}
		if !reflect.DeepEqual(walk.States, scheduled.States) || walk.Faults == nil || walk.Run.Choices == nil {
			t.Errorf("%q: states %q, faults %q", run, walk.States, walk.Faults)
		}
		again := answered[labRunAnswer](t, "run", labObject{"run": walk.Run.Run, "choices": walk.Run.Choices})
		if !reflect.DeepEqual(again, walk) {
			t.Errorf("%q: the walk is another when it is asked for again", run)
		}
		for _, until := range []int{0, 1, len(scheduled.Steps) / 2} {
			part := answered[labRunAnswer](t, "run", labObject{"run": run, "walk": true, "until": until})
			if n := len(part.Steps); n < until || n > until+3 || len(part.Next) == 0 {
				t.Errorf("%q: %d steps of the first %d, %d events can come next", run, n, until, len(part.Next))
				continue
			}
			more := answered[labRunAnswer](t, "run", labObject{"run": part.Run.Run, "choices": part.Run.Choices, "then": []any{part.Next[0].Choice}})
			gone := answered[labRunAnswer](t, "run", labObject{"run": part.Run.Run, "choices": part.Run.Choices, "go": 1})
			if len(more.Run.Choices) != len(part.Run.Choices)+1 || !reflect.DeepEqual(more, gone) {
				t.Errorf("%q: %d events, and one more is %d", run, len(part.Run.Choices), len(more.Run.Choices))
			}
		}
	}
}

// sameSteps compares steps, without times unless both have a clock.
func TestAWalkTakesCutsAndCommandsAsTheyAreTyped(t *testing.T) {
	begun := labObject{"run": []string{"quorum-bully", "--n=5"}, "choices": []labObject{}}
	typed := func(line string) labObject {
		question := maps.Clone(begun)
		question["say"] = line
		return question
	}
	for _, line := range []string{"partition 1,2 | 3,4,5", "partition 1 | 2,3 | 4,5", "cut 1 -> 2"} {
		walk := answered[labRunAnswer](t, "run", typed(line))
		if len(walk.Steps) != 1 || walk.Steps[0]["text"] != line || walk.Steps[0]["event"] != "fault" {
			t.Fatalf("%s: %v", line, walk.Steps)
		}
		again := answered[labRunAnswer](t, "run", labObject{"run": walk.Run.Run, "choices": walk.Run.Choices})
		if !reflect.DeepEqual(again.Steps, walk.Steps) {
			t.Errorf("%s: the walk is %v, and repeated %v", line, walk.Steps, again.Steps)
		}
	}
	if walk := answered[labRunAnswer](t, "run", typed("weigh 3,4 as 7")); len(walk.Run.Choices) != 2 {
		t.Errorf("two weights are %d events", len(walk.Run.Choices))
	}
	for line, want := range map[string]string{"partition 1 | 9": "9", "cut 1 -> 2 from 3": "without times", "explode": "explode", "weigh 3": "weigh 3 as 7"} {
		if _, err := inLab(t, "run", typed(line)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if _, err := inLab(t, "run", labObject{"run": []string{"bully", "--n=3"}, "say": "cut 1 -> 2"}); err == nil {
		t.Error("a run with a schedule takes a cut")
	}
}

// The candidates of each phase are those that count finds, and a run is recorded.
func TestARunHasTheCandidatesOfEachPhase(t *testing.T) {
	onlyComputes(t)
	ring := []string{"franklin", "--n=64", "--order=random"}
	run := answered[struct{ Entered []int }](t, "run", labObject{"run": ring})
	counted := answered[struct {
		Result struct {
			Entered []int `json:"entered_by_phase"`
		}
	}](t, "call", labObject{"args": append([]string{"count"}, ring...)}).Result
	if len(run.Entered) < 3 || run.Entered[0] != 64 || !slices.Equal(run.Entered, counted.Entered) {
		t.Errorf("%d, and count finds %d", run.Entered, counted.Entered)
	}
	if walk := answered[struct{ Entered []int }](t, "run", labObject{"run": ring, "walk": true}); !slices.Equal(walk.Entered, counted.Entered) {
		t.Errorf("a walk of the same events has %d, want %d", walk.Entered, counted.Entered)
	}
}

func sameSteps(a, b []labObject, clock bool) bool {
	return slices.EqualFunc(a, b, func(a, b labObject) bool {
		if !clock {
			a, b = maps.Clone(a), maps.Clone(b)
			a["time"], b["time"] = nil, nil
		}
		return reflect.DeepEqual(a, b)
	})
}

func TestAWalkIsThatOfReplay(t *testing.T) {
	onlyComputes(t)
	walk := answered[labRunAnswer](t, "run", labObject{"run": []string{"bully", "--n=3"}, "choices": []any{}, "go": 100})
	saved, err := json.Marshal(walk.Run)
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	cli.Run(t.Context(), "ringleader", all.Algorithms, []string{"replay", "-", "--json"}, bytes.NewReader(append([]byte(`{"ringleader":"",`), saved[1:]...)), &stdout, io.Discard, func(string) string { return "" })
	if got := strings.TrimSpace(stdout.String()); ownCall.ReplaceAllString(got, "") != ownCall.ReplaceAllString(string(walk.Result), "") {
		t.Errorf("replay prints %s, and the lab %s", got, walk.Result)
	}
	for _, offer := range answered[labRunAnswer](t, "run", labObject{"run": []string{"lcr", "--n=3"}, "choices": []any{}, "go": 3}).Next {
		if offer.Message == 0 || !strings.HasPrefix(offer.Text, "deliver") {
			t.Errorf("%+v", offer)
		}
	}
}

func TestCallsPrintWhatTheCommandsPrint(t *testing.T) {
	onlyComputes(t)
	for _, args := range [][]string{
		{"count", "lcr", "--n", "1000", "--order=random"},
		{"compare", "lcr", "stop-and-go-p2:c=2,a=3/2", "--n", "8,16", "--orders", "5"},
		{"verify", "lcr", "--n=3"},
		{"worst", "lcr", "--n=5"},
		{"run", "lcr", "-n5", "--story"},
		{"run", "lcr", "--n=5", "--anonymous"},
	} {
		answer := answered[labCallAnswer](t, "call", labObject{"args": args})
		if got, want := string(answer.Result), labPrinted(t, append(args, "--json")...); ownCall.ReplaceAllString(got, "") != ownCall.ReplaceAllString(want, "") {
			t.Errorf("%q: %s, and not %s", args, got, want)
		}
	}
}

func TestACounterexampleAndACostliestInputComeAsRuns(t *testing.T) {
	onlyComputes(t)
	for _, c := range []struct {
		args   []string
		status int
	}{
		{[]string{"verify", "bully", "--n=3", "--start=every-set", "--param=answer-timeout=2"}, 1},
		{[]string{"verify", "bully", "--n=3", "--cut=1"}, 1},
		{[]string{"worst", "stop-and-go-p1", "--n=5", "--tries=100"}, 0},
		{[]string{"worst", "lcr", "--n=5", "--of=election"}, 0},
	} {
		answer := answered[labCallAnswer](t, "call", labObject{"args": c.args})
		if answer.Status != c.status || answer.Run == nil {
			t.Errorf("%q: status %d, run %v", c.args, answer.Status, answer.Run)
			continue
		}
		if run := answered[labRunAnswer](t, "run", answer.Run); len(run.Steps) == 0 {
			t.Errorf("%q: the run has no steps", c.args)
		}
	}
	if answer := answered[labCallAnswer](t, "call", labObject{"args": []string{"verify", "lcr", "--n=3"}}); answer.Run != nil || answer.Status != 0 {
		t.Errorf("%+v", answer)
	}
}

func TestEveryExhibitIsCaughtAndShown(t *testing.T) {
	onlyComputes(t)
	leases := 0
	for _, x := range gallery.All() {
		if strings.HasPrefix(x.Name, "quorum-bully-") {
			if leases++; leases > 1 {
				continue // they take long, and package gallery checks all
			}
		}
		answer := answered[struct {
			Status int
			Result struct{ Caught int }
			Run    labObject
			Answer labRunAnswer
		}](t, "exhibit", labObject{"name": x.Name})
		if answer.Status != 0 || answer.Result.Caught != 1 || len(answer.Answer.Steps) == 0 {
			t.Errorf("%s: %+v", x.Name, answer.Result)
			continue
		}
		if again := answered[labRunAnswer](t, "run", answer.Run); !reflect.DeepEqual(again, answer.Answer) {
			t.Errorf("%s: the run is another when it is asked for again", x.Name)
		}
		tracedAlike(t, &answer.Answer, shellWords(answer.Answer.Call))
	}
}

func TestEveryAlgorithmHasAListing(t *testing.T) {
	onlyComputes(t)
	for _, e := range all.Algorithms {
		listing := answered[struct {
			Name  string
			Lines []string
		}](t, "listing", labObject{"algorithm": e.Name})
		if listing.Name != e.Name || !slices.ContainsFunc(listing.Lines, func(line string) bool { return strings.Contains(line, "election.Algorithm[") }) {
			t.Errorf("%s: %d lines, without the algorithm", e.Name, len(listing.Lines))
		}
	}
}

func TestTheCatalogueNamesWhatCanBeAskedFor(t *testing.T) {
	found := answered[struct {
		Algorithms, Gallery []struct{ Name string }
		Scenarios           []struct {
			Name string
			Run  []string
		}
		Orders, Schedules []string
		Limits            struct{ Processes, Steps, Seconds int }
	}](t, "catalogue", labObject{})
	if len(found.Algorithms) != len(all.Algorithms) || len(found.Gallery) != len(gallery.All()) || len(found.Orders) == 0 || len(found.Schedules) == 0 || found.Limits.Steps == 0 {
		t.Errorf("%+v", found)
	}
	for _, s := range found.Scenarios {
		answered[labRunAnswer](t, "run", labObject{"run": s.Run})
	}
}

func TestDrawingsAreThoseOfTheCommandLine(t *testing.T) {
	onlyComputes(t)
	run := []string{"lcr", "--ids=5,4,3,2,1"}
	for what, flag := range map[string]string{"diagram": "--draw=-", "network": "--draw-topology=-", "": "--trace=-"} {
		format := "svg"
		if what == "" {
			format = "jsonl"
		}
		drawn := answered[struct{ Base64 []byte }](t, "draw", labObject{"run": run, "what": what, "format": format})
		if want := labPrinted(t, "run", "lcr", run[1], flag); strings.TrimSpace(string(drawn.Base64)) != want {
			t.Errorf("%s %s: %.80s", what, format, drawn.Base64)
		}
	}
	if drawn := answered[struct{ Base64 []byte }](t, "draw", labObject{"run": run, "what": "diagram", "format": "png"}); !bytes.HasPrefix(drawn.Base64, []byte("\x89PNG")) {
		t.Errorf("%.8q", drawn.Base64)
	}
}

// TestHostileQuestionsGetAnErrorAndNothingElse has questions that read files, take too much, or are malformed.
func TestHostileQuestionsGetAnErrorAndNothingElse(t *testing.T) {
	onlyComputes(t)
	const file = "lab_test.go" // it exists
	call := func(args ...string) labObject { return labObject{"args": args} }
	run := func(words ...string) labObject { return labObject{"run": words} }
	many := strings.Repeat("1,", 1<<20) + "1"
	deep := json.RawMessage(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))
	engine := theLab()
	for _, c := range []struct {
		question string
		words    any
	}{
		{"nothing", labObject{}},
		{"", labObject{}},
		{"../run", labObject{}},
		{"run", json.RawMessage("null")},
		{"run", json.RawMessage("[]")},
		{"run", labObject{"x": 1}},
		{"run", deep},
		{"run", labObject{"run": deep}},
		{"run", labObject{"run": []string{"lcr", "--n=3"}, "choices": deep}},
		{"run", run()},
		{"run", run("nothing", "--n=3")},
		{"run", run("lcr")},
		{"run", run("lcr", "--n=0")},
		{"run", run("lcr", "--n=-1")},
		{"run", run("lcr", "--n=1000000000")},
		{"run", run("bully", "--n=1000")},
		{"run", run("lcr", "--ids="+many)},
		{"run", run("lcr", "--n=99999999999999999999")},
		{"run", run("lcr", "--n=3", "--faults="+file)},
		{"run", run("lcr", "--n=3", "--faults=-")},
		{"run", run("preference", "--n=3", "--votes="+file)},
		{"run", run("preference", "--n=3", "--votes=@"+file)},
		{"run", run("preference", "--n=3", "--scores="+file)},
		{"run", run("lcr", "--n=3", "--save=x")},
		{"run", run("lcr", "--n=3", "--trace=x")},
		{"run", run("lcr", "--n=3", "--draw=x.svg")},
		{"run", run("lcr", "--n=3", "--over=tcp")},
		{"run", run("lcr", "--n=3", "--step=true")},
		{"run", run("lcr", "--n=3", "--help=true")},
		{"run", run("lcr", "--n=3", "--scenario=s2-example-2.1")},
		{"run", run("lcr", "-n3")},
		{"run", run("lcr", "--n", "3")},
		{"run", run("lcr", "--n=3", "--anonymous=true")},
		{"run", run("--n=3")},
		{"run", labObject{"run": []string{"lcr", "--n=3"}, "until": 1}},
		{"run", labObject{"run": []string{"lcr", "--n=3"}, "walk": true, "until": -1}},
		{"run", labObject{"run": []string{"lcr", "--n=3"}, "choices": []any{}, "go": -1}},
		{"run", labObject{"run": []string{"lcr", "--n=3"}, "choices": []any{}, "go": 1e9}},
		{"run", labObject{"run": []string{"lcr", "--n=3"}, "choices": []any{labObject{"what": "deliver", "process": int64(1 << 40), "link": int64(1 << 31), "time": 0}}}},
		{"run", labObject{"run": []string{"lcr", "--n=3"}, "choices": []any{labObject{"what": "crash", "process": -5, "time": 0}}}},
		{"run", labObject{"run": []string{"bully", "--n=3"}, "choices": []any{labObject{"what": "expire", "process": 0, "timer": 200, "time": 0}}}},
		{"run", labObject{"run": []string{"bully", "--n=3"}, "choices": []any{labObject{"what": "cut", "process": 0, "cut": "partition 9 | 8", "time": 0}}}},
		{"run", labObject{"run": []string{"lcr", "--n=3", "--schedule=lifo"}, "choices": []any{}}},
		{"call", call()},
		{"call", call("")},
		{"call", call("join")},
		{"call", call("lab")},
		{"call", call("replay", file)},
		{"call", call("--version")},
		{"call", call("exec", "--", "true")},
		{"call", call("reproduce")},
		{"call", call("export", "lcr")},
		{"call", call("processor")},
		{"call", call("completion", "bash")},
		{"call", call("help", "run")},
		{"call", call("run", "--help")},
		{"call", call("run", "-h")},
		{"call", call("run", "lcr", "--n=3", "--nothing")},
		{"call", call("run", "lcr", "--n=3", "--save=x")},
		{"call", call("run", "lcr", "--n=3", "--trace", "x")},
		{"call", call("run", "lcr", "--n=3", "--draw=x.svg")},
		{"call", call("run", "lcr", "--n=3", "--over=tcp")},
		{"call", call("run", "lcr", "--n=3", "--over=processes")},
		{"call", call("run", "lcr", "--n=3", "--faults", file)},
		{"call", call("run", "lcr", "--n=3", "--step")},
		{"call", call("run", "preference", "--n=3", "--votes", file)},
		{"call", call("run", "preference", "--n=3", "--scores", file)},
		{"call", call("compare", "lcr", "--n=8", "--out=x")},
		{"call", call("compare", "lcr", "--n=8", "--draw=x.svg")},
		{"call", call("compare", "--study", file)},
		{"call", call("compare", "lcr", "--n=8", "--csv")},
		{"call", call("verify", "lcr", "--n=3", "--save=x")},
		{"call", call("verify", "--gallery")},
		{"call", call("verify", "lcr", "--n=3", "--cores=1000")},
		{"call", call("verify", "lcr", "--n=2..4", "--extremes")},
		{"call", call("count", "lcr", "--n=1000000000")},
		{"call", call("run", "lcr", "--n=1000000000")},
		{"call", call("run", "bully", "--n=100000")},
		{"call", call("compare", "lcr", "--n=8..1000000000")},
		{"call", call("compare", "lcr", "--n=1000000000")},
		{"call", call("verify", "lcr", "--n=1000000000")},
		{"call", call("verify", "lcr", "--n=3..1000000000", "--extremes")},
		{"call", call("worst", "lcr", "--n=1000000000")},
		{"call", call("run", "preference", "--topology=complete", "--n=100000")},
		{"call", call("run", "lcr", "--ids="+many)},
		{"call", labObject{"args": []int{1}}},
		{"exhibit", labObject{"name": "nothing"}},
		{"exhibit", labObject{"name": "../lcr"}},
		{"listing", labObject{"algorithm": "../cli"}},
		{"listing", labObject{"algorithm": ""}},
		{"draw", labObject{"run": []string{"lcr", "--n=3"}, "what": "diagram", "format": "pdf"}},
		{"draw", labObject{"run": []string{"lcr", "--n=3"}, "what": "x", "format": "svg"}},
		{"draw", labObject{"run": []string{"lcr", "--n=1000"}, "what": "diagram", "format": "svg"}},
		{"draw", labObject{"run": []string{"lcr", "--n=3", "--save=x"}, "what": "diagram", "format": "svg"}},
	} {
		body, isRaw := c.words.(json.RawMessage)
		if !isRaw {
			var err error
			if body, err = json.Marshal(c.words); err != nil {
				t.Fatal(err)
			}
		}
		answer, err := engine.Ask(t.Context(), c.question, body, func(string) {})
		if err == nil || answer != nil {
			t.Errorf("%s %.100s is answered: %.100s", c.question, body, answer)
		} else if text := err.Error(); strings.Contains(text, "\n") || len(text) > 1000 || strings.Contains(text, "package cli") {
			t.Errorf("%s %.100s: the error is %q", c.question, body, text)
		}
	}
	for _, body := range []string{"", "{", `{"run":["lcr","--n=3"]} x`, `{"run":["lcr","--n=3"]}{}`, "\x00\xff", `{"run":"lcr"}`, strings.Repeat("[", 1<<20)} {
		if answer, err := engine.Ask(t.Context(), "run", []byte(body), nil); err == nil {
			t.Errorf("%q is answered: %.100s", body, answer)
		}
	}
}

// TestACallTakesFlagsThatAreKnownToBeHarmless names the flags that the lab refuses. A new flag belongs into one of the two lists.
func TestACallTakesFlagsThatAreKnownToBeHarmless(t *testing.T) {
	refused := map[string][]string{
		"count":   {"json", "out", "shard"},
		"run":     {"begins", "clock-error", "draw", "draw-topology", "faults", "json", "lazy", "over", "pace", "save", "scenario", "step", "trace", "unit", "walk"},
		"compare": {"against", "csv", "draw", "json", "out", "per-process", "scale", "shard", "study", "title"},
		"verify":  {"at", "cores", "draw", "draw-topology", "from", "gallery", "json", "out", "save", "shard", "to", "trace"},
		"worst":   {"json", "out", "shard"},
	}
	for _, name := range []string{"compare", "count", "verify", "worst"} {
		refused[name] = append(refused[name], labour.ServerNames...) // a call from a page connects to no server
	}
	root := cli.Tree("ringleader", all.Algorithms)
	for name, taken := range plan.LabFlags {
		command, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range slices.Concat(taken, refused[name]) {
			if command.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no flag --%s", name, flag)
			}
			if slices.Contains(taken, flag) == slices.Contains(refused[name], flag) {
				t.Errorf("%s --%s is both taken and refused", name, flag)
			}
		}
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(taken, f.Name) && !slices.Contains(refused[name], f.Name) {
				t.Errorf("%s --%s is neither taken nor refused", name, f.Name)
			}
		})
	}
}

func TestACancelledQuestionEndsSoon(t *testing.T) {
	engine := theLab()
	for question, words := range map[string]labObject{
		"call": {"args": []string{"verify", "hirschberg-sinclair", "--n=9"}},
		"run":  {"run": []string{"quorum-bully", "--n=5", "--until=100000000"}},
	} {
		body, err := json.Marshal(words)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if answer, err := engine.Ask(ctx, question, body, func(string) {}); err == nil || !strings.Contains(err.Error(), "time") {
			t.Errorf("%s: %.100s, %v", question, answer, err)
		}
	}
}
