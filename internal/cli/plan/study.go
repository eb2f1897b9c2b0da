package plan

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/trace"
)

// Study is what a call of a study command asks for, as a value: the command plans it from arguments and flags. A command line, merge and
// jobs resume carry it out. A worker only needs its task.
type Study interface {
	// job returns the long work of the study, which can be kept, cut into pieces and computed elsewhere; an error if it has none.
	Job() (*labour.Assignment, error)

	// carryOut computes and prints the result. Long work is done by the labour.
	CarryOut(ctx context.Context, p *Program, by labour.Doer) error
}

// ErrNoJob is the error of a study without work that can be kept.
var ErrNoJob = errors.New("it has no work that can be kept")

// Answerable is a study whose result is a value, before it is printed: the lab asks for these.
type Answerable interface {
	Study

	// answer computes the result.
	Answer(ctx context.Context, p *Program, by labour.Doer) (*Finding, error)
}

// Finding is what a study has found.
type Finding struct {
	Results []report.Result // one, or one for each of several sizes
	Record  *trace.Record   // of the run that drawings show; nil: there is none
	Verdict error           // by which the exit status is known; nil: all is well

	Page    func() (SavedRun, error) // the run of the record, for a page that plays it; nil: none
	Witness func() (SavedRun, error) // a run that shows what was found; nil: none, or the study is of one run
}

// Command is a command whose calls are studies.
type Command struct {
	*cobra.Command
	Plan    func(args []string) (Study, error) // after the flags are set
	Working *labour.Work                       // the flags for long work
}

// CarriesOut lets a command carry out the studies that its calls ask for.
func (p *Program) CarriesOut(c *Command) *Command {
	c.RunE = func(command *cobra.Command, args []string) error {
		s, err := c.Plan(args)
		if err != nil {
			return err
		}
		return p.CarryOut(command.Context(), s, &labour.Hands{Work: c.Working})
	}
	return c
}

// CarryOut carries out a study by labour.Doer that ends with it.
func (p *Program) CarryOut(ctx context.Context, s Study, by labour.Doer) error {
	return by.Dismiss(p.Written(s.CarryOut(ctx, p, by)))
}

// Planned returns the study of a call of a command: its arguments and flags.
func (p *Program) Planned(c *Command, words []string) (Study, error) {
	p.Adopt(c.Command)
	if err := c.ParseFlags(words); err != nil {
		return nil, option.Explain(c.Command, err)
	}
	args := c.Flags().Args()
	if err := p.Begin(c.Command, args); err != nil {
		return nil, err
	}
	return c.Plan(args)
}

// Adopt gives a command that is called by itself a parent, so that it knows what the program is called.
func (p *Program) Adopt(command *cobra.Command) {
	(&cobra.Command{Use: p.Name}).AddCommand(command)
}
