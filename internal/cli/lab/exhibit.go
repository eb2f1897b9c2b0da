package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/cli/study"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/gallery"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify"
)

// exhibit checks an exhibit of the gallery, and makes the run to what is wrong.
func (l *laboratory) exhibit(ctx context.Context, a asked) (any, error) {
	var question struct {
		Name string `json:"name"`
	}
	if err := a.read(&question); err != nil {
		return nil, err
	}
	all := gallery.All()
	at := slices.IndexFunc(all, func(x gallery.Exhibit) bool { return x.Name == question.Name })
	if at < 0 {
		return nil, fmt.Errorf("the gallery has no %s", option.Excerpt(question.Name))
	}
	x := all[at]
	p := l.program(a.progress)
	p.Command = p.Name + " verify --gallery " + x.Name
	bar := p.WatchStates(ctx, &x.Options)
	found := &report.Gallery{Program: p.Name}
	for outcome, err := range gallery.Verify([]gallery.Exhibit{x}) {
		if err != nil {
			return nil, err
		}
		found.Found = append(found.Found, outcome)
	}
	bar.Done()
	answer := struct {
		labAnswer
		Answer json.RawMessage `json:"answer,omitempty"`
	}{labAnswer: labAnswer{Call: p.Command, Result: p.Headed(found)}}
	answer.Status, _ = plan.StatusOf(found.Err())
	v := found.Found[0].Violation
	if v == nil {
		return answer, nil
	}
	run, err := l.wrong(&x, v)
	if err != nil {
		return nil, err
	}
	r, err := l.make(ctx, run, a.progress)
	if err != nil {
		return nil, err
	}
	answer.Run = &savedAnswer{r.words, r.choices}
	answer.Answer, err = r.answer()
	return answer, err
}

// wrong returns the run to the violation of an exhibit.
func (l *laboratory) wrong(x *gallery.Exhibit, v *verify.Violation) (*runQuestion, error) {
	if x.Runner != nil {
		i := &x.Run.Setup
		prepared, err := network.Prepare(x.Runner.Program().Declared(), *i)
		if err != nil {
			return nil, err
		}
		words := append(exhibitWords(x.Name, i), "--ids="+report.Commas(i.IDs.Len(), i.IDs.At),
			fmt.Sprintf("--delay=%d", x.Run.Delay), fmt.Sprintf("--seed=%d", x.Run.Seed), "--until="+x.Run.Until.String())
		for _, line := range x.Run.Faults.Lines(prepared) {
			words = append(words, "--fault="+line)
		}
		return &runQuestion{Run: words}, nil
	}
	o := new(run.Options)
	e, err := o.Runnable(l.program(nil), nil, []string{x.Name})
	if err != nil {
		return nil, err
	}
	session, kept, err := study.Following(e, &x.Options, &v.Record)
	if err != nil {
		return nil, err
	}
	words := append(exhibitWords(x.Name, &x.Options.Setup), kept...)
	if x.Options.Wardens {
		words = append(words, "--wardens=true")
	}
	if x.Options.Lazy {
		words = append(words, "--lazy=true")
		if x.Options.ClockError.Times > 0 {
			words = append(words, "--clock-error="+x.Options.ClockError.String())
		}
	}
	return &runQuestion{Run: words, Choices: plan.SavedChoices(session)}, nil
}

// exhibitWords returns the words for the instance of an exhibit, without its identifiers.
func exhibitWords(name string, i *network.Setup) []string {
	words := []string{name}
	for _, parameter := range slices.Sorted(maps.Keys(i.Parameters)) {
		words = append(words, "--param="+parameter+"="+i.Parameters[parameter])
	}
	if i.Duplicates {
		words = append(words, "--allow-duplicate-ids=true")
	}
	if i.Priorities != nil {
		all := make([]string, len(i.Priorities))
		for q, priority := range i.Priorities {
			all[q] = fmt.Sprint(priority)
		}
		words = append(words, "--priorities="+strings.Join(all, ","))
	}
	return words
}
