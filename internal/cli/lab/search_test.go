package lab_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// labSearchAnswer is the answer to the question search.
type labSearchAnswer struct {
	Found     bool   `json:"found"`
	Exhausted bool   `json:"exhausted"`
	States    int    `json:"states"`
	Detail    string `json:"detail"`
	Run       struct {
		Run     []string `json:"run"`
		Choices []string `json:"choices"`
	} `json:"run"`
}

func TestTheLabSearchesFromWhereAWalkHasComeTo(t *testing.T) {
	equal := []string{"lcr", "--ids=2,1,2", "--allow-duplicate-ids=true"}
	for _, test := range []struct {
		question         labObject
		found, exhausted bool
		detail           string
	}{
		{labObject{"run": equal, "choices": []any{}, "goal": "two-leaders"}, true, false, "two leaders: process 2 leads, and so does process 2"},
		{labObject{"run": []string{"lcr", "--ids=3,1,2"}, "choices": []any{}, "goal": "two-leaders"}, false, true, "There is no way to two leaders from here."},
		{labObject{"run": []string{"lcr", "--ids=3,2,1"}, "choices": []any{}, "goal": "worst"}, true, true, "9 more messages at most."},
		{labObject{"run": []string{"lcr", "--ids=3,2,1"}, "goal": "worst"}, true, true, "0 more messages at most."}, // the run with a schedule is over
		{labObject{"run": []string{"bully", "--n=2"}, "choices": []any{}, "goal": "two-leaders"}, false, true, "There is no way to two leaders from here."},
		{labObject{"run": []string{"bully", "--n=2"}, "choices": []any{}, "goal": "two-leaders", "faults": labObject{"cut": 1}}, true, false, "two leaders: process 1 leads, and so does process 2"},
		{labObject{"run": equal, "choices": []any{}, "goal": "worst"}, false, false, ""},
	} {
		a := answered[labSearchAnswer](t, "search", test.question)
		if a.Found != test.found || a.Exhausted != test.exhausted || a.States == 0 && !a.Found || test.detail != "" && a.Detail != test.detail {
			t.Errorf("%v: %+v", test.question, a)
		}
		if a.Found != (a.Run.Run != nil) {
			t.Errorf("%v: found %t, with the run %v", test.question, a.Found, a.Run.Run)
			continue
		}
		if !a.Found {
			continue
		}
		walk := answered[labRunAnswer](t, "run", labObject{"run": a.Run.Run, "choices": a.Run.Choices})
		var ends struct{ Leaders []uint64 }
		if err := json.Unmarshal(walk.Result, &ends); err != nil || test.question["goal"] == "two-leaders" && len(ends.Leaders) < 2 {
			t.Errorf("%v: the walk ends with the leaders %v, %v", test.question, ends.Leaders, err)
		}
	}
}

func TestTheLabRefusesSearchesThatMeanNothing(t *testing.T) {
	for text, question := range map[string]labObject{
		"two-leaders or worst":                            {"run": []string{"lcr", "--n=3"}, "choices": []any{}, "goal": "nothing"},
		"timing that it assumes":                          {"run": []string{"lcr", "--n=3", "--timing=synchronous"}, "choices": []any{}, "goal": "worst"},
		"cannot be negative":                              {"run": []string{"lcr", "--n=3"}, "choices": []any{}, "goal": "two-leaders", "faults": labObject{"lose": -1}},
		"so there can be 0 wrong suspicions":              {"run": []string{"lcr", "--n=3"}, "choices": []any{}, "goal": "two-leaders", "faults": labObject{"suspect-falsely": 1}},
		"unknown field":                                   {"run": []string{"lcr", "--n=3"}, "goal": "worst", "faults": labObject{"meteors": 1}},
		"the others start at any time":                    {"run": []string{"known-size", "--n=3", "--start=any", "--unwilling=1"}, "choices": []any{}, "goal": "worst"},
		"the checker does not make step 1, event command": {"run": []string{"quorum-bully", "--n=3"}, "choices": []any{labObject{"what": "command", "process": 0, "order": "weigh", "number": 3}}, "goal": "two-leaders"},
	} {
		if answer, err := inLab(t, "search", question); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %s, %v; want %s", question, answer, err, text)
		}
	}
}

func TestStepsInTheLabNameTheLinesOfTheListing(t *testing.T) {
	onlyComputes(t)
	type step struct {
		Event string `json:"event"`
		Lines []int  `json:"lines"`
	}
	listing := answered[struct{ Lines []string }](t, "listing", labObject{"algorithm": "lcr"})
	for _, question := range []labObject{
		{"run": []string{"lcr", "--ids=3,1,2"}},
		{"run": []string{"lcr", "--ids=3,1,2"}, "choices": []any{}, "go": 12},
		{"run": []string{"lcr", "--ids=3,1,2"}, "walk": true},
		{"run": []string{"lcr-forwards-smaller", "--ids=3,1,2"}},
	} {
		steps := answered[struct{ Steps []step }](t, "run", question).Steps
		if len(steps) == 0 || len(steps[0].Lines) != 1 || !strings.Contains(listing.Lines[steps[0].Lines[0]-1], "out.Send(Right, Election, Message{p.ID}) // L3") {
			t.Errorf("%v: %+v", question, steps)
		}
	}
}

func TestTheLabDrawsAnAnimationAndAPage(t *testing.T) {
	onlyComputes(t)
	run := []string{"lcr", "--ids=3,1,2"}
	for format, want := range map[string][2]string{"gif": {"image/gif", "GIF89a"}, "html": {"text/html", "<!doctype html>"}, "jsonl": {"application/jsonl", `{"format":1`}} {
		file := answered[struct {
			Type   string
			Base64 []byte
		}](t, "draw", labObject{"run": run, "what": "network", "format": format})
		if file.Type != want[0] || !strings.HasPrefix(string(file.Base64), want[1]) {
			t.Errorf("%s: %s, %.20q", format, file.Type, file.Base64)
		}
		if lines := strings.Contains(string(file.Base64), `"lines":[`); lines != (format == "html") {
			t.Errorf("%s: it has lines: %t", format, lines)
		}
	}
	if _, err := inLab(t, "draw", labObject{"run": []string{"lcr", "--n=40", "--order=decreasing"}, "what": "network", "format": "gif"}); err == nil || !strings.Contains(err.Error(), "--from and --to") {
		t.Errorf("900 steps: %v", err)
	}
}
