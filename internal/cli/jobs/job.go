//go:build !js

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/study"
	"ringleader.example/ringleader/internal/study/work"
)

// Kinds are the kinds of jobs, each opened by its command.
func Kinds(p *plan.Program) map[string]work.Kind {
	all := map[string]work.Kind{}
	for _, kind := range plan.JobKinds {
		all[kind] = func(spec json.RawMessage) (work.Task, error) { return Open(p, kind, spec) }
	}
	return all
}

// jobCommand returns the command of a kind of job.
func jobCommand(p *plan.Program, kind string) *plan.Command {
	switch kind {
	case "compare":
		return study.Compare(p)
	case "count":
		return study.Count(p)
	case "reproduce":
		return study.Reproduce(p)
	case "verify":
		return study.Verify(p)
	case "worst":
		return study.Worst(p)
	}
	return nil
}

// Open opens a job: its words are those that a command has given to the others, and none names a file.
func Open(p *plan.Program, kind string, spec json.RawMessage) (work.Task, error) {
	q := plan.NewProgram(p.Name, p.Algorithms, strings.NewReader(""), io.Discard, io.Discard, p.Getenv)
	words, err := jobCall(q, kind, spec)
	if err != nil {
		return nil, err
	}
	s, err := q.Planned(jobCommand(q, kind), words)
	var a *labour.Assignment
	if err == nil {
		a, err = s.Job()
	}
	if err != nil {
		return nil, errors.Join(err, fmt.Errorf("a job is not one of %s", kind))
	}
	return a.Task, nil
}

// jobCall returns the arguments and flags of a job, if no flag of it names a file.
func jobCall(p *plan.Program, kind string, spec json.RawMessage) ([]string, error) {
	var words []string
	if err := json.Unmarshal(spec, &words); err != nil || !slices.Contains(plan.JobKinds, kind) {
		return nil, fmt.Errorf("%.40q is no kind of job with words", kind)
	}
	command := jobCommand(p, kind)
	if err := command.ParseFlags(words); err != nil {
		return nil, fmt.Errorf("a job of %s: %w", kind, err)
	}
	if err := plan.Passable(kind, command.Flags(), nil); err != nil {
		return nil, fmt.Errorf("a job of %s: %w", kind, err)
	}
	return words, nil
}

// repeat carries out the study of a job that was begun. The words are those of the job and further flags, which choose how the result is
// shown. The labour knows the flags of its command.
func repeat(ctx context.Context, p *plan.Program, head *work.Head, words []string, by func(*labour.Work) labour.Doer) error {
	c := jobCommand(p, head.Kind)
	s, err := p.Planned(c, words)
	if errors.Is(err, pflag.ErrHelp) {
		c.InitDefaultHelpFlag()
		plan.Called(c.Parent(), p.Name)
		p.Help(c.Command, words)
		return nil
	}
	if err != nil {
		return err
	}
	return p.CarryOut(ctx, s, &labour.Repeated{Doer: by(c.Working), Head: head})
}
