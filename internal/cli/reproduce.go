package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/reproduce"
	"ringleader.example/ringleader/internal/reproduce/sources"
)

type reproduceOptions struct {
	json, markdown bool
	thorough       bool
	out            string
}

func (p *program) reproduce() *cobra.Command {
	var o reproduceOptions
	command := &cobra.Command{
		Use:     "reproduce [S1|S2|S3|S4|S5]...",
		GroupID: groupStudy,
		Short:   "Check what the sources say, statement by statement",
		Long: `Check what the sources say, statement by statement: definitions, theorems, examples, figures, tables
and exercises. Each is tested here and now by runs, exact counts and every schedule of small networks;
the verdict is that it holds, that it holds with a correction, or that it fails. A statement about every
algorithm, or about growth for all n, is settled by no finite search: unless what was measured goes
against it, it is not checked, and is counted apart. A command that shows what was found is given where
there is one. docs/reproduction.md is what --markdown prints.

Exit status: 0 every statement was tested, whatever the verdicts, and whether or not a search could settle
it; 1 the test of one broke down; 2 the call was wrong; 3 stopped before the end.`,
		Example: "  ringleader reproduce\n  ringleader reproduce S1 S3\n  ringleader reproduce S4 --json\n" +
			"  ringleader reproduce --thorough --markdown --out reproduction.md",
		RunE: func(command *cobra.Command, args []string) error {
			if o.json && o.markdown {
				return errors.New("results have one form: --json or --markdown")
			}
			rows, left, err := o.rows(args)
			if err != nil {
				return err
			}
			return p.judge(command.Context(), rows, left, &o)
		},
	}
	f := command.Flags()
	f.BoolVar(&o.json, "json", false, "print a line of JSON for each statement")
	f.BoolVar(&o.markdown, "markdown", false, "print a page of tables in Markdown")
	f.BoolVar(&o.thorough, "thorough", false, "check also what takes minutes")
	f.StringVar(&o.out, "out", "-", "write into this file; - is stdout")
	command.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return marks(), cobra.ShellCompDirectiveNoFileComp
	}
	return command
}

func marks() (marks []string) {
	for _, s := range reproduce.Sources {
		marks = append(marks, s.Mark)
	}
	return marks
}

// rows are those of the sources asked for, all if none is, and how many of them take too long.
func (o *reproduceOptions) rows(of []string) (rows []reproduce.Row, left int, err error) {
	for i, s := range of {
		if of[i] = strings.ToUpper(s); !slices.Contains(marks(), of[i]) {
			return nil, 0, fmt.Errorf("no source is %q; there is %s", s, strings.Join(marks(), ", "))
		}
	}
	for _, row := range sources.Rows() {
		switch {
		case len(of) > 0 && !slices.Contains(of, row.Source):
		case row.Thorough && !o.thorough:
			left++
		default:
			rows = append(rows, row)
		}
	}
	return rows, left, nil
}

// judge checks rows on all processors and prints what was found, in order, as soon as it is there.
func (p *program) judge(ctx context.Context, rows []reproduce.Row, left int, o *reproduceOptions) error {
	return p.toFile(o.out, func(w io.Writer) error {
		var form interface {
			row(reproduce.Result)
			end(verdicts []int, left int)
		} = &judgedText{w: w, paint: o.out == "-" && p.paintOn(p.stdout)}
		if o.json {
			form = judgedJSON{w}
		} else if o.markdown {
			form = &judgedMarkdown{w: w}
		}
		var broken error
		done, bar := 0, p.progress()
		verdicts := make([]int, len(reproduce.Verdicts))
		for r := range reproduce.Run(ctx, rows, runtime.GOMAXPROCS(0), p.algorithms) {
			if ctx.Err() != nil {
				break
			}
			bar.done()
			if done++; r.Err != nil {
				broken = errors.Join(broken, r.Err)
				continue
			}
			form.row(r)
			verdicts[r.Verdict]++
			bar.show("%d of %d statements", done, len(rows))
		}
		bar.done()
		if ctx.Err() != nil {
			return exitError{exitIncomplete, fmt.Errorf("stopped after %d of %d statements", done, len(rows))}
		}
		form.end(verdicts, left)
		if broken != nil {
			return failed("%w", broken)
		}
		return nil
	})
}

// summary tells how many there are of each verdict. Statements that are not checked are counted apart.
func summary(verdicts []int, left int) string {
	total, judged := 0, 0
	var parts []string
	for i, n := range verdicts {
		if total += n; n > 0 && reproduce.Verdicts[i] != reproduce.Unchecked {
			judged += n
			parts = append(parts, fmt.Sprintf("%d %s", n, plural(n, reproduce.Verdicts[i])))
		}
	}
	text := fmt.Sprintf("%d statement%s: %d judged", total, needed(total == 1, "", "s"), judged)
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

func (j judgedJSON) row(r reproduce.Result) {
	o := object{
		{"source", r.Source},
		{"where", r.Where},
		{"claim", r.Claim},
		{"how", r.How},
		{"measured", r.Measured},
		{"verdict", r.Verdict.String()},
	}
	if r.Why != "" {
		o = append(o, field{"why", r.Why})
	}
	if r.Replay != "" {
		o = append(o, field{"replay", r.Replay})
	}
	line, _ := plainJSON(o) // strings only
	j.w.Write(append(line, '\n'))
}

func (judgedJSON) end([]int, int) {}

// judgedText is a table for people: where and the verdict on the left, what about on the right.
type judgedText struct {
	w      io.Writer
	paint  paint
	source string
}

// The widths of the table's columns.
const (
	judgedLeft  = 24
	judgedLabel = 10
	judgedRight = 76
)

var judgedColours = map[reproduce.Verdict]string{
	reproduce.Holds: green, reproduce.Corrected: yellow, reproduce.Fails: red, reproduce.Unchecked: faint,
}

func (t *judgedText) row(r reproduce.Result) {
	if r.Source != t.source {
		t.source = r.Source
		fmt.Fprintf(t.w, "%s\n\n", t.paint.text(bold, heading(r.Source)))
	}
	var left, right []string
	for line := range strings.SplitSeq(wrap(r.Where, judgedLeft), "\n") {
		left = append(left, t.paint.text(bold, pad(line, judgedLeft)))
	}
	for line := range strings.SplitSeq(wrap(r.Verdict.String(), judgedLeft), "\n") {
		left = append(left, t.paint.text(judgedColours[r.Verdict], pad(line, judgedLeft)))
	}
	add := func(label, text string) {
		if text == "" {
			return
		}
		for line := range strings.SplitSeq(wrap(text, judgedRight), "\n") {
			right = append(right, t.paint.text(faint, pad(label, judgedLabel))+line)
			label = ""
		}
	}
	add("claim", r.Claim)
	add("test", r.How)
	add("measured", r.Measured)
	if r.Verdict == reproduce.Corrected {
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

func (t *judgedText) end(verdicts []int, left int) { fmt.Fprintln(t.w, summary(verdicts, left)) }

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

// heading is what a source is called.
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
small networks, and nothing here was written by hand. A statement about every algorithm, or about growth for all n, is
settled by no finite search: unless what was measured goes against it, it is not checked, and what was measured is what
the search shows. ` + "`go generate ./...`" + ` makes this page again.
`

func (m *judgedMarkdown) row(r reproduce.Result) {
	if m.source == "" {
		fmt.Fprint(m.w, judgedTitle)
	}
	if r.Source != m.source {
		m.source = r.Source
		fmt.Fprintf(m.w, "\n## %s\n\n| where | claim | test | measured | verdict |\n| --- | --- | --- | --- | --- |\n", heading(r.Source))
	}
	verdict := "**" + r.Verdict.String() + "**"
	if r.Why != "" {
		verdict += ": " + cell(r.Why)
	}
	if r.Replay != "" {
		verdict += "<br>`" + strings.ReplaceAll(r.Replay, "|", `\|`) + "`"
	}
	fmt.Fprintf(m.w, "| %s | %s | %s | %s | %s |\n", cell(r.Where), cell(r.Claim), cell(r.How), cell(r.Measured), verdict)
}

func (m *judgedMarkdown) end(verdicts []int, left int) {
	fmt.Fprintf(m.w, "\n%s.\n", summary(verdicts, left))
}

// cell is a text in which nothing means anything to Markdown.
var cell = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "`", "\\`", "\n", " ").Replace
