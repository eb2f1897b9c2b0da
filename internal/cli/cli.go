// Package cli is the command line of ringleader. The root has what is common to all commands: their list, help, completion and errors. Its
// rooms have the commands, each in a file of its own:
//
//   - operate: to elect a leader among real processes
//   - run: one election; study: many, and what is known of algorithms
//   - jobs: long work that workers do; lab: the page in a browser
//   - plan: studies as values, from flags; labour: who does their long work; option: what flags and arguments have in common
//   - clitest: commands in tests; trials: tests of what starts processes
//
// cmd/ringleader, workbench and the tests of the repository import this wing, and no other wing does. It imports all wings.
// The root imports all rooms; jobs imports study, and lab imports run and study; these four import plan, which imports labour, and all import option.
//
// Results go to stdout; warnings, progress and errors to stderr. An error is one line, with what would work.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/lab"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// program has what is common to all commands. The commands of each room know it as the [plan.Program].
type program struct{ *plan.Program }

// Run runs the command line args, which do not begin with the program's name, until it is done or ctx
// is. The commands know the algorithms of the list; the name is the program's name in a shell. Run returns the
// exit status.
func Run(ctx context.Context, name string, algorithms catalogue.List, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) (code int) {
	defer func() {
		bug := recover()
		if bug == nil {
			return
		}
		code = report.ExitNo
		if err, is := bug.(error); is && errors.Is(err, simulate.ErrBroken) { // a function of an own algorithm, such as a bound that is shown
			fmt.Fprintf(stderr, "%s: %s\n", name, option.OneLine(err.Error()))
		} else {
			fmt.Fprintf(stderr, "%s: %s (this is a bug; RINGLEADER_DEBUG=1 shows where)\n", name, option.OneLine(fmt.Sprint(bug)))
			if getenv("RINGLEADER_DEBUG") == "1" {
				stderr.Write(debug.Stack())
			}
		}
	}()
	p := commandLine(plan.NewProgram(name, algorithms, stdin, stdout, stderr, getenv))
	err := p.execute(ctx, args)
	code, text := plan.StatusOf(err)
	if text != "" {
		p.Complain(text)
	}
	if broken := new(simulate.Violation); errors.As(err, &broken) && broken.Record != nil {
		_ = broken.Record.Tell(stderr, trace.Telling{Width: p.Width()}) // a failure to write on stderr cannot be reported
	}
	return code
}

// commandLine lets a program have command lines.
func commandLine(p *plan.Program) *program {
	c := &program{p}
	p.Page = func(path string, run *plan.SavedRun) error { return lab.WritePage(p, path, run) }
	p.Reach = func(path string, step int) (*plan.Reached, error) { return run.Reach(p, path, step) }
	p.Help = c.help
	return c
}

// execute runs a command line.
func (p *program) execute(ctx context.Context, args []string) error {
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	root := p.root(first)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		p.completeFlags(root)
	}
	p.narrow(root, args)
	root.SetArgs(args)
	err := p.Written(root.ExecuteContext(ctx))
	if err != nil {
		if _, _, unknown := root.Find(args); unknown != nil {
			return unknownCommand(root, unknown)
		}
	}
	return err
}

// Tree returns all commands, with their help. It is for manual pages and completions; [Run] runs commands.
func Tree(name string, algorithms catalogue.List) *cobra.Command {
	p := &plan.Program{Algorithms: algorithms, Printer: &report.Printer{Name: name, Out: &report.Output{Writer: io.Discard}, Err: io.Discard, Getenv: func(string) string { return "" }}}
	return commandLine(p).root("")
}

// root is the root of the commands, or of one of them only.
func (p *program) root(only string) *cobra.Command {
	root := &cobra.Command{
		Use:   "ringleader",
		Short: "Elect one leader among processes; simulate, count and verify elections",
		Long: `Ringleader elects one leader among a group of processes. It also simulates elections,
counts their messages and verifies them under every schedule.

Exit status: 0 success; 1 it ran and the answer is no; 3 stopped
at a limit before the answer; 64 the call was wrong.`,
		Example: "  ringleader demo --scenario crash\n  ringleader run lcr --ids 5,4,3,2,1\n" +
			"  ringleader count ring-bully --n 1000000 --order random\n  ringleader verify lcr --n 4",
		SilenceUsage:       true,
		SilenceErrors:      true,
		DisableSuggestions: true, // they would take several lines; see unknownCommand
		PersistentPreRunE:  p.Begin,
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SetFlagErrorFunc(p.flagError)
	root.SetHelpFunc(p.help)
	root.SetHelpCommand(helpCommand())
	root.AddGroup(
		&cobra.Group{ID: option.GroupElect, Title: "Elect a leader among real processes:"},
		&cobra.Group{ID: option.GroupStudy, Title: "Study the algorithms:"},
	)
	root.AddCommand(p.commands(only)...)
	// Cobra's own --version is a text/template, with which the linker keeps every exported method there is.
	version := root.Flags().Bool("version", false, "print which version this is")
	root.RunE = func(command *cobra.Command, _ []string) error {
		if *version {
			return p.Print(plan.Build(), false)
		}
		return command.Help()
	}
	completionCommand(root)
	plan.Called(root, p.Name)
	return root
}

// unknownCommand returns an error that suggests a command in place of an unknown one.
func unknownCommand(root *cobra.Command, notFound error) error {
	var name string
	if _, err := fmt.Sscanf(notFound.Error(), "unknown command %q", &name); err != nil {
		return notFound
	}
	var names []string
	for _, command := range root.Commands() {
		if command.IsAvailableCommand() {
			names = append(names, command.Name())
		}
	}
	return fmt.Errorf("unknown command %q; %s", name, option.Instead(name, names))
}

// flagError returns an error with the values that a flag accepts.
func (p *program) flagError(command *cobra.Command, err error) error {
	unknown := new(pflag.NotExistError)
	if errors.As(err, &unknown) && command.Name() == "replay" && run.Command(p.Program).Flags().Lookup(unknown.GetSpecifiedName()) != nil {
		return fmt.Errorf("a saved run is replayed unchanged; --%s is for %s run", unknown.GetSpecifiedName(), p.Name)
	}
	return option.Explain(command, err)
}
