package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/sources"
)

func (p *program) sources() *cobra.Command {
	var asJSON, asMarkdown bool
	command := &cobra.Command{
		Use:     "sources [KEY]",
		GroupID: groupStudy,
		Short:   "List the papers and books that the algorithms come from",
		Long: `List the papers and books that the algorithms come from. S1 to S5 are the five source texts whose
statements ringleader reproduce checks. KEY is one of them, or authors and year.`,
		Example: "  ringleader sources\n  ringleader sources S4\n  ringleader sources \"Chang–Roberts 1979\"\n  ringleader sources --json",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (keys []string, _ cobra.ShellCompDirective) {
			for _, w := range sources.Works {
				if len(args) == 0 {
					keys = append(keys, handle(&w))
				}
			}
			return keys, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			works := sources.Works
			switch {
			case len(args) > 1:
				return fmt.Errorf("sources takes one key, not also %q", args[1])
			case len(args) == 1:
				w := sources.Of(args[0])
				if w == nil {
					return fmt.Errorf("unknown source %q; sources are S1 to S5, or authors and year such as %q", args[0], "Chang–Roberts 1979")
				}
				works = []sources.Work{*w}
			}
			switch {
			case asJSON && asMarkdown:
				return fmt.Errorf("--json and --markdown exclude each other")
			case asJSON:
				all := make([]object, len(works))
				for i, w := range works {
					all[i] = object{{"key", w.Key}, {"cited", w.Cite}, {"title", w.Title}, {"about", w.About}}
				}
				return p.print(all)
			case asMarkdown:
				p.sourcesMarkdown(works)
			default:
				p.sourcesText(works)
			}
			return nil
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	command.Flags().BoolVar(&asMarkdown, "markdown", false, "print a table in Markdown")
	return command
}

// handle returns what a work is called by on the command line.
func handle(w *sources.Work) string {
	if w.Key != "" {
		return w.Key
	}
	return w.Cite
}

func (p *program) sourcesText(works []sources.Work) {
	paint := p.paintOn(p.stdout)
	for i, w := range works {
		if i > 0 {
			fmt.Fprintln(p.stdout)
		}
		fmt.Fprintln(p.stdout, paint.text(bold, strings.TrimSpace(w.Key+" "+w.Cite)))
		for _, text := range []string{w.Title, w.About} {
			fmt.Fprintln(p.stdout, "  "+strings.ReplaceAll(wrap(text, 76), "\n", "\n  "))
		}
	}
}

func (p *program) sourcesMarkdown(works []sources.Work) {
	fmt.Fprint(p.stdout, "| cited as | work | what Ringleader takes from it |\n| --- | --- | --- |\n")
	for _, w := range works {
		cited := w.Cite
		if w.Key != "" {
			cited = "**" + w.Key + "** " + cited
		}
		fmt.Fprintf(p.stdout, "| %s | %s | %s |\n", cited, w.Title, w.About)
	}
}
