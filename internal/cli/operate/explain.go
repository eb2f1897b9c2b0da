//go:build !js

package operate

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/incident"
	"ringleader.example/ringleader/internal/show/report"
)

func (p *program) explain() *cobra.Command {
	var o explainOptions
	command := &cobra.Command{
		Use:     "explain DIR|FILE...",
		GroupID: option.GroupElect,
		Short:   "Tell from records why the leader has changed",
		Long: `Explain reads the records of members, and tells each change of their leader: its cause, the
evidence, how long nobody led and why so long, and what would have prevented it. DIR is the
directory of a member, or one with the directories of several. FILE is what "ringleader
record" has gathered. The members may run.

A cause is certain if a member has told it, or if a proof of death leaves no other one. It is
likely if it follows from times and from what is missing. It is unknown otherwise; then the lines
"missing" name the record that would tell more. Give the records of all members: that of the
leader alone cannot tell a link from a member, and those of the others cannot tell a
member that was killed from one that nobody heard.

Members on one machine have one clock. The clocks of several machines are joined by the
messages between them: none arrives before it was sent.

Leases are judged on the same time line. Two at the same time are a violation, which is told
with the step that broke the rule. --check also compares each step of each member with the
model that is proved safe; its first 20 000 steps, if there are more.

Exit status: 0 all was explained; 1 the cause of a change is unknown, a rule was broken, or
a replay or a comparison differs; 64 the call was wrong.`,
		Example: `  ringleader explain /var/lib/ringleader/1
  ringleader record --out incident.rec data/1 data/2 data/3
  ringleader explain incident.rec --draw incident.svg
  ringleader explain incident.rec --replay`,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s needs a directory or a file; try %[1]s --help", command.CommandPath())
			}
			return p.explainAll(args, &o)
		},
	}
	command.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object")
	command.Flags().BoolVar(&o.replays, "replay", false, "run the same machines over the records first, and compare each effect, and the states, bit by bit")
	command.Flags().BoolVar(&o.checks, "check", false, "compare the joined run of all members with the proved model of the algorithm; it needs their records from the beginning on")
	command.Flags().StringVar(&o.draw, "draw", "", "FILE.svg to write: members, leads and messages over time, around one change")
	command.Flags().IntVar(&o.change, "change", 0, "number of the change to draw; 0: that with the longest time without a leader")
	command.MarkFlagFilename("draw", "svg")
	return command
}

// explainOptions are what is asked for.
type explainOptions struct {
	asJSON, replays, checks bool
	draw                    string
	change                  int
}

// mostChecked is how many steps are compared with the model.
const mostChecked = 20_000

// explainAll explains the records in some places.
func (p *program) explainAll(paths []string, o *explainOptions) error {
	records, err := record.Open(paths...)
	if err != nil {
		return err
	}
	if len(records.Logs) == 0 {
		for _, d := range records.Damages {
			p.Complain(d.String())
		}
		return report.Failed("there is no record in %s", strings.Join(paths, ", "))
	}
	found := explanation{Report: explain.Of(records)}
	if o.replays {
		found.replays = replayed(records)
	}
	if o.checks {
		for _, g := range found.Groups {
			found.checks = append(found.checks, g.Check(mostChecked))
		}
	}
	if o.draw != "" {
		d, err := incident.Drawing(found.Report, o.change)
		if err == nil {
			err = p.ToFile(o.draw, d.SVG)
		}
		if err != nil {
			return err
		}
	}
	if err := p.Print(found, o.asJSON); err != nil {
		return err
	}
	if found.incomplete() {
		return report.ErrNo
	}
	return nil
}

// replayed replays the record of each member.
func replayed(records *record.Records) (all []replay) {
	for _, l := range records.Logs {
		r := replay{Member: l.Member, Group: l.Group}
		done, err := l.Again(quorumbully.Program)
		r.Steps, r.Checks, r.Skipped, r.Same = done.Steps, done.Checks, done.Skipped, err == nil
		var d *record.Difference
		switch {
		case errors.As(err, &d):
			r.Differs = d.Error()
		case err != nil:
			r.Differs = err.Error()
		}
		all = append(all, r)
	}
	return all
}

// replay is the result of a replay.
type replay struct {
	Member  uint64 `json:"member"`
	Group   string `json:"group"`
	Same    bool   `json:"same"`
	Steps   int    `json:"steps"`
	Checks  int    `json:"checks"`
	Skipped int    `json:"skipped"`
	Differs string `json:"differs,omitempty"`
}

// explanation is what explain prints.
type explanation struct {
	*explain.Report
	replays []replay
	checks  []explain.Checked
}

// JSON returns the explanation for programs.
func (e explanation) JSON() any {
	o := report.Object{{"groups", e.Groups}}
	if len(e.Damages) > 0 {
		o = append(o, report.Field{"damages", e.Damages})
	}
	if e.replays != nil {
		o = append(o, report.Field{"replays", e.replays})
	}
	if e.checks != nil {
		o = append(o, report.Field{"checks", e.checks})
	}
	return o
}

// incomplete reports whether a cause is unknown, a rule was broken, or a replay differs.
func (e explanation) incomplete() bool {
	for _, r := range e.replays {
		if !r.Same {
			return true
		}
	}
	for _, c := range e.checks {
		if c.Broken != "" || c.Without != "" {
			return true
		}
	}
	for _, g := range e.Groups {
		if len(g.Violations) > 0 {
			return true
		}
		for _, c := range g.Changes {
			if c.Cause == explain.Unknown {
				return true
			}
		}
	}
	return false
}

// Text prints the explanation for people.
func (e explanation) Text(p *report.Printer) error {
	number := 0 // of the change, as --change takes it
	for i, g := range e.Groups {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		fmt.Fprintf(p.Out, "group %q: %s to %s\n", g.Name, g.From.Format("2006-01-02 15:04:05"), g.To.Format("2006-01-02 15:04:05 UTC"))
		line(p.Out, "records    ", "of "+ids(g.Recorded))
		if len(g.Missing) > 0 {
			line(p.Out, "missing    ", ids(g.Missing)+": what only they know stays unknown")
		}
		for _, c := range g.Clocks {
			line(p.Out, "clocks     ", c)
		}
		for n := range g.Changes {
			number++
			changeOf(p.Out, number, &g.Changes[n])
		}
		for _, v := range g.Violations {
			sure := "a rule was broken"
			if !v.Sure {
				sure = "a rule may have been broken"
			}
			fmt.Fprintf(p.Out, "\n%s  VIOLATION: %s\n", v.Time.Format("15:04:05.000"), sure)
			line(p.Out, "  what     ", v.What)
			if v.Step != "" {
				line(p.Out, "  step     ", v.Step)
			}
		}
	}
	for _, r := range e.replays {
		text := fmt.Sprintf("member %d: %d steps and %d states again, bit by bit as recorded", r.Member, r.Steps, r.Checks)
		if !r.Same {
			text = fmt.Sprintf("member %d: %s", r.Member, r.Differs)
		}
		if r.Skipped > 0 {
			text += fmt.Sprintf("; %d steps without a state to begin from", r.Skipped)
		}
		line(p.Out, "replay     ", text)
	}
	for _, c := range e.checks {
		switch {
		case c.Broken != "":
			line(p.Out, "model      ", "VIOLATION: the model does not allow this: "+c.Broken)
		case c.Without != "":
			line(p.Out, "model      ", c.Without)
		default:
			line(p.Out, "model      ", fmt.Sprintf("%d steps of all members are actions of the proved model, and its invariants hold", c.Steps))
		}
	}
	for _, d := range e.Damages {
		line(p.Out, "damage     ", d)
	}
	return nil
}

// changeOf prints a change of the leader.
func changeOf(out io.Writer, number int, c *explain.Change) {
	who := func(id *uint64, term uint64) string {
		switch {
		case id == nil:
			return "none"
		case term == 0:
			return fmt.Sprintf("member %d", *id)
		}
		return fmt.Sprintf("member %d in term %d", *id, term)
	}
	fmt.Fprintf(out, "\n%d. %s  %s → %s, %s without a leader\n", number, c.Ended.Format("15:04:05.000"), who(c.From, c.FromTerm), who(c.To, c.Term), explain.Lasts(time.Duration(c.Nobody*float64(time.Second))))
	certainty := string(c.Certainty)
	if c.Certainty == explain.None {
		certainty = "its cause is not known"
	}
	line(out, "  cause    ", fmt.Sprintf("%s (%s): %s", c.Cause, certainty, c.Text))
	for _, part := range []struct {
		name  string
		lines []string
	}{{"  evidence ", c.Evidence}, {"  time     ", c.Bounded}, {"  missing  ", c.Missing}} {
		for _, text := range part.lines {
			line(out, part.name, text)
			part.name = "           "
		}
	}
	if c.Prevent != "" {
		line(out, "  prevent  ", c.Prevent)
	}
}

// width is that of a terminal.
const width = 80

// line prints a text behind a name, in lines that fit.
func line(out io.Writer, name, text string) {
	row := name
	for _, word := range strings.Fields(text) {
		if len([]rune(row))+1+len([]rune(word)) > width && strings.TrimSpace(row) != "" {
			fmt.Fprintln(out, strings.TrimRight(row, " "))
			row = strings.Repeat(" ", len([]rune(name)))
		}
		row += " " + word
	}
	fmt.Fprintln(out, row)
}

// ids returns members, for people.
func ids(all []uint64) string {
	return "members " + strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]")
}
