package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/trace"
)

// study is what a call of a study command asks for, as a value: the command plans it from arguments and flags. A command line, merge and
// jobs resume carry it out. A worker only needs its task.
type study interface {
	// job returns the long work of the study, which can be kept, cut into pieces and computed elsewhere; an error if it has none.
	job() (*labour.Assignment, error)

	// carryOut computes and prints the result. Long work is done by the labour.
	carryOut(ctx context.Context, p *Program, by labour.Doer) error
}

// errNoJob is the error of a study without work that can be kept.
var errNoJob = errors.New("it has no work that can be kept")

// answerable is a study whose result is a value, before it is printed: the lab asks for these.
type answerable interface {
	study

	// answer computes the result.
	answer(ctx context.Context, p *Program, by labour.Doer) (*finding, error)
}

// finding is what a study has found.
type finding struct {
	results []report.Result // one, or one for each of several sizes
	record  *trace.Record   // of the run that drawings show; nil: there is none
	verdict error           // by which the exit status is known; nil: all is well

	page    func() (savedRun, error) // the run of the record, for a page that plays it; nil: none
	witness func() (savedRun, error) // a run that shows what was found; nil: none, or the study is of one run
}

// studyCommand is a command whose calls are studies.
type studyCommand struct {
	*cobra.Command
	plan    func(args []string) (study, error) // after the flags are set
	working *labour.Work                       // the flags for long work
}

// carriesOut lets a command carry out the studies that its calls ask for.
func (p *Program) carriesOut(c *studyCommand) *studyCommand {
	c.RunE = func(command *cobra.Command, args []string) error {
		s, err := c.plan(args)
		if err != nil {
			return err
		}
		return p.carryOut(command.Context(), s, &labour.Hands{Work: c.working})
	}
	return c
}

// carryOut carries out a study by labour.Doer that ends with it.
func (p *Program) carryOut(ctx context.Context, s study, by labour.Doer) error {
	err := p.written(s.carryOut(ctx, p, by))
	by.Dismiss(err)
	return err
}

// planned returns the study of a call of a command: its arguments and flags.
func (p *Program) planned(c *studyCommand, words []string) (study, error) {
	p.adopt(c.Command)
	if err := c.ParseFlags(words); err != nil {
		return nil, option.Explain(c.Command, err)
	}
	args := c.Flags().Args()
	if err := p.begin(c.Command, args); err != nil {
		return nil, err
	}
	return c.plan(args)
}

// adopt gives a command that is called by itself a parent, so that it knows what the program is called.
func (p *Program) adopt(command *cobra.Command) {
	(&cobra.Command{Use: p.Name}).AddCommand(command)
}
