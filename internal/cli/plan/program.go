package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// Program holds what the commands share: the algorithms, the streams, and the environment.
type Program struct {
	Algorithms catalogue.List
	Stdin      io.Reader
	*report.Printer

	// Page writes a page that plays a run into a file; nil for a program that writes no files.
	Page func(path string, run *SavedRun) error

	// Reach makes a saved walk again up to a step, or all of it if that is negative; nil for a program that reads no files.
	Reach func(path string, step int) (*Reached, error)

	// Help prints the help of a command; the words follow --help. It is nil for a program whose calls are no command lines.
	Help func(command *cobra.Command, words []string)
}

// Reached is where a saved walk has come to.
type Reached struct {
	*catalogue.Entry
	Options *simulate.Options
	Moment  *trace.Moment
	Steps   int // so far
}

// NewProgram returns a program that is called by this name.
func NewProgram(name string, algorithms catalogue.List, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *Program {
	return &Program{Algorithms: algorithms, Stdin: stdin, Printer: &report.Printer{
		Name: name, Version: VersionName(), Out: &report.Output{Writer: stdout}, Err: stderr, Getenv: getenv,
	}}
}

// Written returns the error of a call whose own one is given: a result that cannot be written is one.
func (p *Program) Written(err error) error {
	if out, is := p.Out.(*report.Output); is && out.Err != nil {
		return report.Failed("cannot write to stdout: %w", report.Reason(out.Err))
	}
	return err
}

// StatusOf returns the exit status of a command's error, and its text in one line; there is none if the command has printed
// its result.
func StatusOf(err error) (code int, text string) {
	var exit report.ExitError
	switch {
	case err == nil:
		return report.ExitFine, ""
	case errors.As(err, &exit) && exit.Err == nil:
		return exit.Code, ""
	case errors.As(err, &exit):
		return exit.Code, option.OneLine(err.Error())
	case errors.Is(err, verify.ErrLimit):
		return report.ExitIncomplete, option.OneLine(err.Error())
	case errors.Is(err, simulate.ErrBroken): // in one of many runs
		return report.ExitNo, option.OneLine(err.Error())
	}
	return report.ExitUsage, option.OneLine(err.Error())
}

// Begin checks a call before its execution, and notes it for results.
func (p *Program) Begin(command *cobra.Command, args []string) error {
	if err := option.Spell(command); err != nil {
		return err
	}
	p.Command = p.CallOf(command, args)
	return cmp.Or(option.NoneEmpty(command), option.Apart(command))
}

// CallOf returns the call of a command, without the flags for its results.
func (p *Program) CallOf(command *cobra.Command, args []string) string {
	call := strings.Fields(command.CommandPath())
	for _, arg := range args {
		call = append(call, report.ShellWord(arg))
	}
	return strings.Join(append(call, flagWords(command.Flags(), slices.Concat(ResultNames, StoryNames, labour.Names, []string{"csv", "keep", "markdown", "save", "verbose"}))...), " ")
}

// flagWords returns the given flags in shell syntax, except those in without.
func flagWords(flags *pflag.FlagSet, without []string) (all []string) {
	for _, word := range Words(flags, without) {
		name, value, _ := strings.Cut(word, "=")
		if flags.Lookup(strings.TrimPrefix(name, "--")).Value.Type() == "bool" {
			all = append(all, strings.TrimSuffix(word, "=true"))
		} else {
			all = append(all, name, report.ShellWord(value))
		}
	}
	return all
}

// Called sets the program's name in a shell, in the texts of a command and its subcommands.
func Called(command *cobra.Command, name string) {
	own := func(text string) string { return strings.ReplaceAll(text, "ringleader ", name+" ") }
	if !command.HasParent() {
		command.Use = name
	}
	command.Example = own(command.Example)
	command.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = own(f.Usage) })
	for _, sub := range command.Commands() {
		Called(sub, name)
	}
}

// OneAlgorithm returns the algorithm that the only argument names.
func (p *Program) OneAlgorithm(command *cobra.Command, args []string) (*catalogue.Entry, error) {
	switch len(args) {
	case 0:
		return nil, fmt.Errorf("%s needs the name of an algorithm, such as %s; %s algorithms lists them", command.CommandPath(), p.Algorithms[0].Name, p.Name)
	case 1:
		return p.Find(args[0])
	}
	return nil, fmt.Errorf("%s takes one algorithm, not also %q", command.CommandPath(), args[1])
}

// Find returns the algorithm of that name or alias.
func (p *Program) Find(name string) (*catalogue.Entry, error) {
	e, err := p.Algorithms.Find(name)
	if err == nil {
		return e, nil
	}
	names := p.Algorithms.Names()
	for _, e := range p.Algorithms {
		names = append(names, e.Aliases...)
	}
	if best := option.Near(name, names); best != "" {
		return nil, fmt.Errorf("unknown algorithm %q; did you mean %s?", name, best)
	}
	best := slices.MinFunc(p.Algorithms.Names(), func(a, b string) int { return cmp.Compare(option.Distance(name, a), option.Distance(name, b)) })
	return nil, fmt.Errorf("unknown algorithm %q; the nearest is %s; %s algorithms lists them", name, best, p.Name)
}

// WatchStates shows the progress of an exploration.
func (p *Program) WatchStates(ctx context.Context, v *verify.Options) *report.Progress {
	bar := p.Progress()
	v.Progress = func(at verify.Progress) bool {
		if at.States == 0 && at.Orders > 1 { // random walks
			bar.Show("%d of %d random walks%s", at.Done, at.Orders, bar.Left(float64(at.Done), float64(at.Orders)))
			return ctx.Err() == nil
		}
		orders := ""
		if at.Orders > 1 {
			orders = fmt.Sprintf(", %d of %d orders%s", at.Done, at.Orders, bar.Left(float64(at.Done), float64(at.Orders)))
		}
		bar.Show("%s, %s a second, %d in the frontier%s", amount.Of(at.States, "state"), bar.Rate(at.States), at.Frontier, orders)
		return ctx.Err() == nil
	}
	return bar
}

// completer completes an argument or a flag's value.
type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// OneOf completes the only argument, which names an algorithm for which a condition holds.
func (p *Program) OneOf(which func(*catalogue.Entry) bool) completer {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.Algorithms.Where(which), cobra.ShellCompDirectiveNoFileComp
	}
}

// AnyAlgorithm is the condition that holds for every algorithm.
func AnyAlgorithm(*catalogue.Entry) bool { return true }
