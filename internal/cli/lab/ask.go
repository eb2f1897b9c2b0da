package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/gallery"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
)

// laboratory answers the questions of the lab's page with the code of the commands. It keeps nothing of a question for the next one.
type laboratory struct {
	name       string // of the program, in a shell
	algorithms catalogue.List
	own        func() ([]*lab.Story, error)
	added      []*lab.Story // of a directory
}

// New returns the engine of the lab for these algorithms. The name is the program's name in a shell.
func New(name string, algorithms catalogue.List) lab.Engine { return newLab(name, algorithms) }

func newLab(name string, algorithms catalogue.List) *laboratory {
	l := &laboratory{name: name, algorithms: algorithms}
	l.own = sync.OnceValues(func() ([]*lab.Story, error) { return l.told(lab.Stories()) })
	return l
}

// asked is a question: its words, and a place for lines of progress.
type asked struct {
	body     []byte
	progress func(text string)
}

// questions are the questions that the lab answers. Values other than raw JSON are encoded.
var questions = map[string]func(*laboratory, context.Context, asked) (any, error){
	"catalogue": (*laboratory).catalogue,
	"run":       (*laboratory).run,
	"call":      (*laboratory).call,
	"exhibit":   (*laboratory).exhibit,
	"listing":   (*laboratory).listing,
	"stories":   (*laboratory).stories,
	"draw":      (*laboratory).draw,
	"search":    (*laboratory).search,
	"chart":     (*laboratory).chart,
	"models":    (*laboratory).models,
	"induction": (*laboratory).induction,
}

// Ask answers a question. See [lab.Engine].
func (l *laboratory) Ask(ctx context.Context, question string, body []byte, progress func(text string)) (json.RawMessage, error) {
	answer, known := questions[question]
	if !known {
		return nil, fmt.Errorf("the lab knows no question %s", option.Excerpt(question))
	}
	found, err := answer(l, ctx, asked{body, progress})
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("the time for this question is over; ask for less, or use the command line")
	case err != nil:
		_, text := plan.StatusOf(err)
		return nil, errors.New(text)
	}
	if raw, is := found.(json.RawMessage); is {
		return raw, nil
	}
	return report.PlainJSON(found)
}

// read reads the words of a question.
func (a asked) read(question any) error {
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(question); err != nil {
		return fmt.Errorf("the question is not what the lab reads: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("the question is not what the lab reads: data follows its end")
	}
	return nil
}

// program returns a program that reads no file and no environment, and that prints nothing.
func (l *laboratory) program(progress func(string)) *plan.Program {
	p := plan.NewProgram(l.name, l.algorithms, strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" })
	p.Watch = progress
	return p
}

// The limits of the lab.
const (
	mostLabEvents = 200_000
	mostLabLined  = 20_000   // events of a run whose steps name lines
	mostLabRecord = 64 << 20 // bytes of a record, about
)

// labCeiling limits a run.
var labCeiling = run.Ceiling{Memory: uint64(mostLabMemory), Record: mostLabRecord}

// mostLabRun are the largest networks of a run with a record.
var mostLabRun = labSize{1024, 128}

func (l *laboratory) catalogue(_ context.Context, a asked) (any, error) {
	if err := a.read(&struct{}{}); err != nil {
		return nil, err
	}
	type scenario struct {
		Name   string   `json:"name"`
		Source string   `json:"source"`
		About  string   `json:"about"`
		Run    []string `json:"run"`
	}
	type exhibit struct {
		Name     string `json:"name"`
		Broken   string `json:"broken"`
		Property string `json:"property"`
		Command  string `json:"command"`
	}
	var found struct {
		Version    string     `json:"version"`
		Algorithms any        `json:"algorithms"`
		Orders     []string   `json:"orders"`
		Schedules  []string   `json:"schedules"`
		Scenarios  []scenario `json:"scenarios"`
		Gallery    []exhibit  `json:"gallery"`
		Live       bool       `json:"live"`
		Limits     struct {
			Processes int `json:"processes"`
			Steps     int `json:"steps"`
			Seconds   int `json:"seconds"`
		} `json:"limits"`
	}
	found.Version, found.Orders, found.Schedules = plan.VersionName(), order.Names, simulate.Schedules
	found.Algorithms = report.Algorithms(l.algorithms).Declarations()
	found.Limits.Processes, found.Limits.Steps, found.Limits.Seconds = mostLabRun.sparse, mostLabEvents, int(lab.MostTime.Seconds())
	for i := range run.RunScenarios {
		s := &run.RunScenarios[i]
		found.Scenarios = append(found.Scenarios, scenario{s.Name, s.Source, s.About, s.Run()})
	}
	for _, x := range gallery.All() {
		found.Gallery = append(found.Gallery, exhibit{x.Name, x.Broken, x.Property, x.Command})
	}
	return found, nil
}

// listing returns the file of an algorithm.
func (l *laboratory) listing(_ context.Context, a asked) (any, error) {
	var question struct {
		Algorithm string `json:"algorithm"`
	}
	if err := a.read(&question); err != nil {
		return nil, err
	}
	p := l.program(nil)
	e, err := p.Find(question.Algorithm)
	if err != nil {
		return nil, err
	}
	if l := listingOf(e); len(l.Lines) > 0 {
		return l, nil
	}
	return nil, fmt.Errorf("the source of %s is not at hand: %s was built with -trimpath, or its source has moved; build it without "+
		"-trimpath, or give it the source: workbench.Of(…).Listed(files), where files is an embed.FS of *.go", e.Name, l.name)
}

// labListing is the text of an algorithm.
type labListing struct {
	Name   string                          `json:"name"`
	Lines  []string                        `json:"lines"`
	number func(file string, line int) int // nil without lines
}

// listingOf returns the text of an algorithm, without lines if it is not at hand.
func listingOf(e *catalogue.Entry) labListing {
	if e.Listing != nil {
		if lines, number := e.Listing(); len(lines) > 0 {
			return labListing{e.Name, lines, number}
		}
	}
	return labListing{Name: e.Name}
}
