package study

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
)

// Algorithms returns the command that lists and explains the algorithms.
func Algorithms(p *plan.Program) *cobra.Command {
	var asJSON, asMarkdown bool
	var parameters []string
	command := &cobra.Command{
		Use:     "algorithms [NAME]",
		GroupID: option.GroupStudy,
		Short:   "List the algorithms, or describe one: model, source, bounds, parameters",
		Example: "  ringleader algorithms\n  ringleader algorithms bully\n  ringleader algorithms --json\n" +
			"  ringleader algorithms stop-and-go-p3 --param c=5",
		RunE: func(command *cobra.Command, args []string) error {
			if asJSON && asMarkdown {
				return errors.New("a result has one form: --json or --markdown")
			}
			if len(args) == 0 {
				if len(parameters) > 0 {
					return errors.New("--param belongs to one algorithm; name it")
				}
				if asMarkdown {
					report.Algorithms(p.Algorithms).Markdown(p.Printer)
					return nil
				}
				return p.Print(report.Algorithms(p.Algorithms), asJSON)
			}
			if asMarkdown {
				return errors.New("--markdown prints the table of all algorithms; it takes no name")
			}
			e, err := p.OneAlgorithm(command, args)
			if err != nil {
				return err
			}
			sequence, err := sequenceOf(e, parameters)
			if err != nil {
				return err
			}
			return p.Print(report.Algorithm{Entry: e, Sequence: sequence}, asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	command.Flags().BoolVar(&asMarkdown, "markdown", false, "print a Markdown table: assumptions and costs of each")
	command.Flags().StringSliceVar(&parameters, "param", nil, "parameter value to describe: name=value, repeated or comma-separated")
	command.ValidArgsFunction = p.OneOf(plan.AnyAlgorithm)
	return command
}

// sequenceOf is the sequence that an algorithm's parameters stand for, as far as any network needs it.
func sequenceOf(e *catalogue.Entry, given []string) ([]*big.Int, error) {
	values, err := plan.Pairs(given)
	if err != nil {
		return nil, err
	}
	set, err := e.Set(values)
	if err != nil || e.Sequence == nil {
		return nil, err
	}
	const mostProcesses, mostBits = 1<<32 - 1, 1 << 17
	sequence, err := e.Sequence(set, mostProcesses, mostBits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	return sequence, nil
}
