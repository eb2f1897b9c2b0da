package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
)

// parameterWords completes a --param: the names of the algorithm's parameters, and after = the words that one takes.
func (p *program) parameterWords(_ *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	e, err := p.Algorithms.Find(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := given[:strings.LastIndexByte(given, ',')+1]
	name, _, valued := strings.Cut(given[len(before):], "=")
	var all []string
	for _, parameter := range e.Parameters {
		if !valued {
			all = append(all, before+parameter.String()+"=")
		} else if parameter.String() == name {
			if choice, is := parameter.(*election.Choice); is {
				for _, word := range choice.Words {
					all = append(all, before+name+"="+word)
				}
			}
		}
	}
	if valued {
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// fileFlags are the flags whose values are files, with the endings that these have, if they have any.
var fileFlags = map[string][]string{
	"export": nil, "stories": nil, "draw": plan.RunEndings, "draw-topology": plan.NetworkEndings, "study": {"toml"}, "trace": nil, "save": nil, "faults": nil, "out": nil, "votes": nil, "data": nil, "cert": nil, "key": nil, "ca": nil, "directory": nil,
	"emit": nil, "file": nil, "from": nil, "keep": nil, "lease-file": nil, "progress-file": nil, "progress-path": nil, "scores": nil, "nats-ca": nil, "nats-certificate": nil, "nats-credentials": nil, "nats-key": nil, "nats-store": nil, "nats-token-file": nil,
}

// completeFlags sets the completion of each flag of a command: words, parameters, files with certain endings, or nothing. Cobra keeps
// them for ever, and with them all commands, so only a process that a shell asks has them.
func (p *program) completeFlags(command *cobra.Command) {
	command.Flags().VisitAll(func(f *pflag.Flag) {
		option.Repeat(f)
		endings, isFile := fileFlags[f.Name]
		isFile = isFile && strings.HasPrefix(f.Value.Type(), "string") // --from is a file of verify, and a number of run
		switch words := option.Offered(f); {
		case words != nil:
			_ = command.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		case f.Name == "param":
			_ = command.RegisterFlagCompletionFunc(f.Name, p.parameterWords)
		case !isFile:
			_ = command.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
		case endings != nil:
			_ = command.MarkFlagFilename(f.Name, endings...)
		}
	})
	if command.ValidArgsFunction == nil && !takesFiles(command) {
		command.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range command.Commands() {
		p.completeFlags(sub)
	}
}

// takesFiles reports whether arguments of a command are files: the first one in its line of use is, or it is a command of a shell.
func takesFiles(command *cobra.Command) bool {
	_, arguments, _ := strings.Cut(command.Use, " ")
	return strings.HasPrefix(arguments, "FILE") || strings.HasPrefix(arguments, "DIR") || strings.Contains(arguments, "-- COMMAND")
}

// uses holds, for flags that do not apply to all algorithms, a condition on the algorithm.
var uses = map[string]func(*catalogue.Entry) bool{
	"edges":       func(e *catalogue.Entry) bool { return e.Topology == election.Tree || e.Forms() != nil },
	"orientation": func(e *catalogue.Entry) bool { return e.Unoriented },
	"ports":       func(e *catalogue.Entry) bool { return e.Topology == election.UnknownNeighbours },
	"topology":    func(e *catalogue.Entry) bool { return e.Topology == election.Tree || e.Forms() != nil },
	"votes":       func(e *catalogue.Entry) bool { return e.Votes },
	"scores":      func(e *catalogue.Entry) bool { return e.Votes },
	"priorities":  func(e *catalogue.Entry) bool { return e.Priorities },
	"command":     func(e *catalogue.Entry) bool { return e.Commanded() },
	"stop-time":   func(e *catalogue.Entry) bool { return e.Commanded() },
	"wardens":     func(e *catalogue.Entry) bool { return e.Commanded() },
	"unwilling":   func(e *catalogue.Entry) bool { return e.Willingness },
	"wake":        func(e *catalogue.Entry) bool { return e.Timing == election.Synchronous },
	"param":       func(e *catalogue.Entry) bool { return len(e.Parameters) > 0 },
	"check":       func(e *catalogue.Entry) bool { return e.Check != nil },
	"schedule":    func(e *catalogue.Entry) bool { return e.Timing == election.Asynchronous },
	"anonymous":   func(e *catalogue.Entry) bool { return e.Topology == election.Ring },
	"ids":         func(e *catalogue.Entry) bool { return e.Identifiers != election.Anonymous },
	"order": func(e *catalogue.Entry) bool {
		return e.Identifiers != election.Anonymous && e.Topology != election.Complete
	},
	"first": func(e *catalogue.Entry) bool { return e.Identifiers != election.Anonymous },
}

// narrow hides flags that apply to no algorithm of a command or, if the command line to complete names an algorithm,
// not to this one.
func (p *program) narrow(root *cobra.Command, args []string) {
	hide := func(command *cobra.Command, taken func(func(*catalogue.Entry) bool) bool) {
		for name, use := range uses {
			if f := command.Flags().Lookup(name); f != nil && !taken(use) {
				f.Hidden = true
			}
		}
	}
	if count, _, err := root.Find([]string{"count"}); err == nil {
		hide(count, func(use func(*catalogue.Entry) bool) bool {
			return slices.ContainsFunc(p.Algorithms, func(e *catalogue.Entry) bool { return e.Count != nil && use(e) })
		})
	}
	if len(args) < 2 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return
	}
	command, rest, err := root.Find(args[1 : len(args)-1])
	if err != nil {
		return
	}
	if settled(command, rest) {
		command.Flags().VisitAll(func(f *pflag.Flag) { delete(f.Annotations, cobra.BashCompOneRequiredFlag) })
	}
	if command.Name() == "compare" { // it takes several
		return
	}
	for _, arg := range rest {
		if e, err := p.Algorithms.Find(arg); err == nil {
			hide(command, func(use func(*catalogue.Entry) bool) bool { return use(e) })
		}
	}
}

// settled reports whether a command line needs no more flags, as far as these words tell: a file of settings may have those that are required, and what comes
// after -- has flags of its own.
func settled(command *cobra.Command, words []string) bool {
	return command.Flags().Lookup("config") != nil && slices.ContainsFunc(words, func(word string) bool {
		return word == "--" || word == "--config" || strings.HasPrefix(word, "--config=")
	})
}

// completionCommand makes cobra's command refuse shells that it does not know.
func completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	command, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	var shells []string
	for _, shell := range command.Commands() {
		shells = append(shells, shell.Name())
		shell.Example = "  ringleader completion " + shell.Name()
	}
	command.Example = "  source <(ringleader completion bash)"
	command.Args = cobra.ArbitraryArgs
	command.RunE = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return command.Help()
		}
		return fmt.Errorf("no completion is made for %q; choose one of %s", args[0], strings.Join(shells, ", "))
	}
}
