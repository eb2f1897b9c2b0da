//go:build !js

package cli

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
	"ringleader.example/ringleader/internal/study/work"
)

// kinds are the kinds of jobs, each opened by its command.
func (p *Program) kinds() map[string]work.Kind {
	all := map[string]work.Kind{}
	for _, kind := range jobKinds {
		all[kind] = func(spec json.RawMessage) (work.Task, error) { return p.open(kind, spec) }
	}
	return all
}

// jobCommand returns the command of a kind of job.
func (p *Program) jobCommand(kind string) *studyCommand {
	switch kind {
	case "compare":
		return p.compareCommand()
	case "count":
		return p.countCommand()
	case "reproduce":
		return p.reproduceCommand()
	case "verify":
		return p.verifyCommand()
	case "worst":
		return p.worstCommand()
	}
	return nil
}

// open opens a job.
func (p *Program) open(kind string, spec json.RawMessage) (work.Task, error) {
	q := newProgram(p.Name, p.algorithms, strings.NewReader(""), io.Discard, io.Discard, p.Getenv)
	words, err := q.jobCall(kind, spec)
	if err != nil {
		return nil, err
	}
	s, err := q.planned(q.jobCommand(kind), words)
	var a *labour.Assignment
	if err == nil {
		a, err = s.job()
	}
	if err != nil {
		return nil, errors.Join(err, fmt.Errorf("a job is not one of %s", kind))
	}
	return a.Task, nil
}

// jobCall returns the arguments and flags of a job, if no flag of it names a file.
func (p *Program) jobCall(kind string, spec json.RawMessage) ([]string, error) {
	var words []string
	if err := json.Unmarshal(spec, &words); err != nil || !slices.Contains(jobKinds, kind) {
		return nil, fmt.Errorf("%.40q is no kind of job with words", kind)
	}
	command := p.jobCommand(kind)
	if err := command.ParseFlags(words); err != nil {
		return nil, fmt.Errorf("a job of %s: %w", kind, err)
	}
	if err := passable(kind, command.Flags(), nil); err != nil {
		return nil, fmt.Errorf("a job of %s: %w", kind, err)
	}
	return words, nil
}

// repeat carries out the study of a job that was begun. The words are those of the job and further flags, which choose how the result is
// shown. The labour knows the flags of its command.
func (p *Program) repeat(ctx context.Context, head *work.Head, words []string, by func(*labour.Work) labour.Doer) error {
	c := p.jobCommand(head.Kind)
	s, err := p.planned(c, words)
	if errors.Is(err, pflag.ErrHelp) {
		c.InitDefaultHelpFlag()
		called(c.Parent(), p.Name)
		p.Help(c.Command, words)
		return nil
	}
	if err != nil {
		return err
	}
	return p.carryOut(ctx, s, &labour.Repeated{Doer: by(c.working), Head: head})
}
