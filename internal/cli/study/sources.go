package study

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report/studies"
	"ringleader.example/ringleader/internal/study/sources"
)

// Sources returns the command that lists the cited works.
func Sources(p *plan.Program) *cobra.Command {
	var asJSON, asMarkdown bool
	command := &cobra.Command{
		Use:     "sources [KEY]",
		GroupID: option.GroupStudy,
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
				w := sourceOf(args[0])
				if w == nil {
					return fmt.Errorf("unknown source %q; sources are S1 to S5, or authors and year such as %q", args[0], "Chang–Roberts 1979")
				}
				works = []sources.Work{*w}
			}
			if asJSON && asMarkdown {
				return errors.New("a result has one form: --json or --markdown")
			}
			if asMarkdown {
				studies.Sources(works).Markdown(p.Printer)
				return nil
			}
			return p.Print(studies.Sources(works), asJSON)
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

// sourceOf returns the work of a key or citation as people type it: in any case, and with a hyphen between authors.
func sourceOf(typed string) *sources.Work {
	for i := range sources.Works {
		w := &sources.Works[i]
		if w.Key != "" && strings.EqualFold(typed, w.Key) || strings.EqualFold(strings.ReplaceAll(typed, "-", "–"), strings.ReplaceAll(w.Cite, "-", "–")) {
			return w
		}
	}
	return sources.Of(typed)
}
