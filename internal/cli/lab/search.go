package lab

import (
	"context"
	"fmt"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/verify"
)

// searchQuestion is a walk, and what is searched for among all that can follow it.
type searchQuestion struct {
	Run     []string           `json:"run"`
	Choices []plan.SavedChoice `json:"choices"`
	Goal    string             `json:"goal"`
	Faults  struct {           // further ones, at most
		Crash      int `json:"crash"`
		Recover    int `json:"recover"`
		Lose       int `json:"lose"`
		Duplicate  int `json:"duplicate"`
		Cut        int `json:"cut"`
		Suspicions int `json:"suspect-falsely"`
		Resign     int `json:"resign"`
	} `json:"faults"`
}

// search searches from where a walk has come to.
func (l *laboratory) search(ctx context.Context, a asked) (any, error) {
	var q searchQuestion
	if err := a.read(&q); err != nil {
		return nil, err
	}
	goal, known := run.Goals[q.Goal]
	if !known {
		return nil, fmt.Errorf("the lab searches for two-leaders or worst, not %s", option.Excerpt(q.Goal))
	}
	r, err := l.make(ctx, &runQuestion{Run: q.Run, Choices: q.Choices, Walk: true, plain: true}, a.progress)
	if err != nil {
		return nil, err
	}
	o, err := r.walk.Begun()
	if err != nil {
		return nil, err
	}
	f := &q.Faults
	o.Crashes, o.Recoveries, o.Losses, o.Duplicates, o.Cuts, o.Suspicions, o.Commands = f.Crash, f.Recover, f.Lose, f.Duplicate, f.Cut, f.Suspicions, f.Resign
	o.Memory = uint64(mostLabMemory)
	searching, done := context.WithTimeout(ctx, lab.MostTime/2) // so that there is an answer in time
	defer done()
	ahead, err := r.walk.Search(searching, o, goal)
	if err != nil {
		return nil, err
	}
	answer := struct {
		Found     bool         `json:"found"`
		Exhausted bool         `json:"exhausted"`
		States    int          `json:"states"`
		Detail    string       `json:"detail"`
		Run       *savedAnswer `json:"run,omitempty"`
	}{Found: ahead.Found, Exhausted: ahead.Complete && (!ahead.Found || goal == verify.Costliest), States: ahead.States, Detail: run.Told(ahead, goal)}
	if ahead.Found {
		answer.Run = &savedAnswer{r.words, plan.SavedChoices(r.walk.Session)}
	}
	return answer, nil
}
