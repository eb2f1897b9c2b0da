//go:build !js

package studies

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/show/report/fit"
	"ringleader.example/ringleader/internal/study/reproduce"
)

// Judged prints statements of the sources, each as soon as it was judged.
type Judged interface {
	Row(reproduce.Result)
	End(verdicts []int, left int) // how many there are of each verdict, and how many were left out
}

// NewJudged returns the form for people, whose lines are so wide, or JSON, or Markdown.
func NewJudged(w io.Writer, paint report.Paint, width int, asJSON, asMarkdown bool) Judged {
	switch {
	case asJSON:
		return judgedJSON{w}
	case asMarkdown:
		return &judgedMarkdown{w: w}
	}
	return &judgedText{w: w, paint: paint, width: width}
}

// summary returns the number of each verdict. Unchecked statements are counted separately.
func summary(verdicts []int, left int) string {
	total, judged := 0, 0
	var parts []string
	for i, n := range verdicts {
		if total += n; n > 0 && reproduce.Verdicts[i] != reproduce.Unchecked {
			judged += n
			parts = append(parts, fmt.Sprintf("%d %s", n, plural(n, reproduce.Verdicts[i])))
		}
	}
	text := fmt.Sprintf("%d statement%s: %d judged", total, report.Needed(total == 1, "", "s"), judged)
	if judged > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	if total > judged {
		text += fmt.Sprintf(", %d not checked", total-judged)
	}
	if left > 0 {
		text += fmt.Sprintf("; %d more with --thorough", left)
	}
	return text
}

func plural(n int, v reproduce.Verdict) string {
	if n > 1 {
		switch v {
		case reproduce.Holds, reproduce.Corrected:
			return strings.Replace(v.String(), "holds", "hold", 1)
		case reproduce.Fails:
			return "fail"
		}
	}
	return v.String()
}

// judgedJSON is a line of JSON for each row.
type judgedJSON struct{ w io.Writer }

func (j judgedJSON) Row(r reproduce.Result) {
	o := report.Object{
		{"source", r.Source},
		{"where", r.Where},
		{"claim", r.Claim},
		{"how", r.How},
		{"measured", r.Measured},
		{"verdict", r.Verdict.String()},
	}
	if r.Reach.Schedules > 0 {
		o = append(o, report.Field{"every_schedule_up_to", r.Reach.Schedules})
	}
	if r.Reach.Runs > 0 {
		o = append(o, report.Field{"runs_up_to", r.Reach.Runs})
	}
	if r.Why != "" {
		o = append(o, report.Field{"why", r.Why})
	}
	if r.Replay != "" {
		o = append(o, report.Field{"replay", r.Replay})
	}
	line, _ := report.PlainJSON(o) // strings and numbers only
	j.w.Write(append(line, '\n'))
}

func (judgedJSON) End([]int, int) {}

// judgedText is a table for people: where and the verdict on the left, what about on the right.
type judgedText struct {
	w      io.Writer
	paint  report.Paint
	source string
	width  int // of a line
}

// The widths of the table's columns.
const (
	judgedLeft  = 24
	judgedLabel = 10
	judgedRight = 76 // at most
)

var judgedColours = map[reproduce.Verdict]string{
	reproduce.Holds: report.Green, reproduce.Unrefuted: report.Green, reproduce.Corrected: report.Yellow, reproduce.CorrectedUnrefuted: report.Yellow,
	reproduce.Fails: report.Red, reproduce.Unchecked: report.Faint,
}

func (t *judgedText) Row(r reproduce.Result) {
	if r.Source != t.source {
		t.source = r.Source
		fmt.Fprintf(t.w, "%s\n\n", fit.Line(t.paint.Text(report.Bold, heading(r.Source)), t.width))
	}
	var left, right []string
	for line := range strings.SplitSeq(report.Wrap(r.Where, judgedLeft), "\n") {
		left = append(left, t.paint.Text(report.Bold, pad(line, judgedLeft)))
	}
	for line := range strings.SplitSeq(report.Wrap(r.Judgement(), judgedLeft), "\n") {
		left = append(left, t.paint.Text(judgedColours[r.Verdict], pad(line, judgedLeft)))
	}
	room := max(judgedLabel, min(judgedRight, t.width-2-judgedLeft-2-judgedLabel))
	add := func(label, text string) {
		if text == "" {
			return
		}
		for line := range strings.SplitSeq(report.Wrap(text, room), "\n") {
			right = append(right, t.paint.Text(report.Faint, pad(label, judgedLabel))+line)
			label = ""
		}
	}
	add("claim", r.Claim)
	add("test", r.How)
	add("measured", r.Measured)
	if r.Verdict == reproduce.Corrected || r.Verdict == reproduce.CorrectedUnrefuted {
		add("corrected", r.Why)
	} else {
		add("why", r.Why)
	}
	add("see", r.Replay)
	for i := range max(len(left), len(right)) {
		line := "  " + at(left, i, strings.Repeat(" ", judgedLeft)) + "  " + at(right, i, "")
		fmt.Fprintln(t.w, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(t.w)
}

func (t *judgedText) End(verdicts []int, left int) {
	fmt.Fprintln(t.w, fit.Line(summary(verdicts, left), t.width))
}

// at is a line, or what stands for one that is not there.
func at(lines []string, i int, none string) string {
	if i < len(lines) {
		return lines[i]
	}
	return none
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// heading returns the heading of a source.
func heading(mark string) string {
	i := slices.IndexFunc(reproduce.Sources, func(s reproduce.Source) bool { return s.Mark == mark })
	return mark + " · " + reproduce.Sources[i].Title
}

// judgedMarkdown is a page with a table for each source.
type judgedMarkdown struct {
	w      io.Writer
	source string
}

const judgedTitle = `# What the sources say, and what came of it

Printed by ` + "`ringleader reproduce --markdown`" + `: each statement was tested by runs, exact counts and every schedule of
small networks. Nothing on this page was written by hand. *Holds* is said of fixed cases, all of which were checked, and of
what an example proves. *No counterexample* is said of statements about every n, with the largest network that was run or counted, and with the
largest whose every schedule was explored: that is no proof beyond them. The column *test* tells which runs these were. No finite search settles a statement
about every algorithm, or about growth for all n: unless a measurement contradicts it, its verdict is *not checked*, beside
what was measured.
` + "`go generate ./...`" + ` makes this page again.
`

func (m *judgedMarkdown) Row(r reproduce.Result) {
	if m.source == "" {
		fmt.Fprint(m.w, judgedTitle)
	}
	if r.Source != m.source {
		m.source = r.Source
		fmt.Fprintf(m.w, "\n## %s\n\n| where | claim | test | measured | verdict |\n| --- | --- | --- | --- | --- |\n", heading(r.Source))
	}
	verdict := "**" + r.Verdict.String() + "**" + strings.TrimPrefix(r.Judgement(), r.Verdict.String())
	if r.Why != "" {
		verdict += ": " + report.Cell(r.Why)
	}
	if r.Replay != "" {
		verdict += "<br>`" + strings.ReplaceAll(r.Replay, "|", `\|`) + "`"
	}
	fmt.Fprintf(m.w, "| %s | %s | %s | %s | %s |\n", report.Cell(r.Where), report.Cell(r.Claim), report.Cell(r.How), report.Cell(r.Measured), verdict)
}

func (m *judgedMarkdown) End(verdicts []int, left int) {
	fmt.Fprintf(m.w, "\n%s.\n", summary(verdicts, left))
}
