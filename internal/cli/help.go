package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/internal/show/report"
)

// A help of at most helpLines lines is read to the end. A longer one is cut: the rest comes with --help all.
const (
	helpLines = 80

	fewFlags      = 12 // so many flags are one list
	shortExamples = 4
)

// allTopics is the word that follows --help for a help that is not cut.
const allTopics = "all"

// help prints the help of a command: of one group of flags if the last word names it, everything for "all", and otherwise
// as much as is read to the end.
func (p *program) help(command *cobra.Command, words []string) {
	command.InitDefaultHelpFlag()
	command.Flags().Lookup("help").Usage = "explain the command; --help all: everything"
	topic := ""
	if len(words) > 0 {
		topic = words[len(words)-1]
	}
	text := p.helpText(command, false)
	switch flags := p.groupedFlags(command, topic); {
	case flags != nil && topic != allTopics:
		text = p.fitted(flagSection(topicTitle(topic), flags))
	case topic != allTopics && !command.HasAvailableSubCommands() && strings.Count(text, "\n") > helpLines:
		text = p.helpText(command, true)
	}
	_, _ = io.WriteString(p.Out, text) // Out keeps an error
}

// helpText returns the help of a command, whole or cut.
func (p *program) helpText(command *cobra.Command, cut bool) string {
	about := command.Long
	if about == "" {
		about = command.Short
	}
	usage := command.UsageString()
	if !command.HasAvailableSubCommands() {
		usage = p.usage(command, cut)
	}
	if cut {
		about = abridged(about)
	}
	return report.Paragraphs(about, p.ProseWidth()) + "\n" + p.fitted(usage)
}

// abridged returns the first paragraph of a text, and the one with the exit status.
func abridged(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	kept := paragraphs[:1]
	for _, paragraph := range paragraphs[1:] {
		if strings.HasPrefix(paragraph, "Exit status: ") {
			kept = append(kept, paragraph)
		}
	}
	return strings.Join(kept, "\n\n")
}

// usage returns how a command without subcommands is called: its line, examples and flags.
func (p *program) usage(command *cobra.Command, cut bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", command.UseLine())
	if examples := command.Example; examples != "" {
		if cut {
			examples = firstExamples(examples, shortExamples)
		}
		fmt.Fprintf(&b, "\nExamples:\n%s\n", examples)
	}
	all := p.groupedFlags(command, allTopics)
	basic := p.groupedFlags(command, basicGroup)
	if basic == nil {
		b.WriteString("\n" + flagSection("Flags", all))
		return b.String()
	}
	b.WriteString("\n" + flagSection("Flags", basic))
	if cut {
		b.WriteString("\nMore flags; --help NAME explains those of a row, --help all everything:\n")
	}
	for _, g := range flagGroups {
		switch flags := p.groupedFlags(command, g.name); {
		case flags != nil && cut:
			fmt.Fprintf(&b, "  %-8s  %s\n", g.name, strings.Join(namesOf(flags), " "))
		case flags != nil:
			b.WriteString("\n" + flagSection(g.title, flags))
		}
	}
	return b.String()
}

// groupedFlags returns the flags of a group of a command, or all; nil if there are none.
func (p *program) groupedFlags(command *cobra.Command, group string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(command.Name(), pflag.ContinueOnError)
	visible := 0
	command.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			visible++
		}
		if !f.Hidden && (group == allTopics || slices.Contains(groupsOf(command.Name(), f.Name), group)) {
			flags.AddFlag(f)
		}
	})
	if !flags.HasFlags() || group != allTopics && visible <= fewFlags {
		return nil
	}
	return flags
}

// isTopic reports whether a word may follow --help.
func isTopic(word string) bool {
	return word == allTopics || word == basicGroup || slices.ContainsFunc(flagGroups, func(g flagGroup) bool { return g.name == word })
}

func topicTitle(name string) string {
	if i := slices.IndexFunc(flagGroups, func(g flagGroup) bool { return g.name == name }); i >= 0 {
		return flagGroups[i].title
	}
	return "Flags"
}

func flagSection(title string, flags *pflag.FlagSet) string {
	return title + ":\n" + flags.FlagUsages()
}

func namesOf(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// firstExamples returns the first n examples. A line that is indented further continues one.
func firstExamples(text string, n int) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "   ") {
			n--
		}
		if n < 0 {
			break
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// fitted breaks the lines of a text for the terminal.
func (p *program) fitted(text string) string {
	var b strings.Builder
	narrow := *p.Printer
	narrow.Out, narrow.Getenv = &b, func(name string) string { // the width of the real output
		if name == "COLUMNS" {
			return strconv.Itoa(p.Width())
		}
		return p.Getenv(name)
	}
	_ = narrow.Fit(func(p *report.Printer) error { // a Builder takes everything
		_, err := io.WriteString(p.Out, text)
		return err
	})
	return b.String()
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [command] [topic]",
		Short:   "Show the help of a command",
		Example: "  ringleader help demo",
		ValidArgsFunction: func(command *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			about, _, err := command.Root().Find(args)
			if err == nil {
				for _, sub := range about.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, sub.Name())
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(command *cobra.Command, args []string) error {
			about, rest, err := command.Root().Find(args)
			switch {
			case err != nil:
				return unknownCommand(command.Root(), err)
			case len(rest) == 1 && isTopic(rest[0]):
				about.HelpFunc()(about, rest)
				return nil
			case len(rest) > 0:
				return fmt.Errorf("%s has no command %q; try %[1]s --help", about.CommandPath(), rest[0])
			}
			return about.Help()
		},
	}
}
