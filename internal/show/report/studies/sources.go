package studies

import (
	"fmt"
	"strings"

	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/sources"
)

// Sources is a list of cited works.
type Sources []sources.Work

// JSON returns all works for programs.
func (works Sources) JSON() any {
	all := make([]report.Object, len(works))
	for i, w := range works {
		all[i] = report.Object{{"key", w.Key}, {"cited", w.Cite}, {"title", w.Title}, {"about", w.About}}
	}
	return report.Object{{"sources", all}}
}

// Text prints a paragraph for each work.
func (works Sources) Text(p *report.Printer) error {
	paint := p.Paint()
	for i, w := range works {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		fmt.Fprintln(p.Out, paint.Text(report.Bold, strings.TrimSpace(w.Key+" "+w.Cite)))
		for _, text := range []string{w.Title, w.About} {
			fmt.Fprintln(p.Out, "  "+strings.ReplaceAll(report.Wrap(text, p.ProseWidth()-4), "\n", "\n  "))
		}
	}
	return nil
}

// Markdown prints a table.
func (works Sources) Markdown(p *report.Printer) {
	fmt.Fprint(p.Out, "| cited as | work | what Ringleader takes from it |\n| --- | --- | --- |\n")
	for _, w := range works {
		cited := w.Cite
		if w.Key != "" {
			cited = "**" + w.Key + "** " + cited
		}
		fmt.Fprintf(p.Out, "| %s | %s | %s |\n", cited, w.Title, w.About)
	}
}
