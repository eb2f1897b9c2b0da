//go:build !js

package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/incident"
	"ringleader.example/ringleader/internal/show/incident/rerun"
	"ringleader.example/ringleader/internal/show/report"
)

func (p *program) explain() *cobra.Command {
	var (
		sources sourceOptions
		o       explainOptions
	)
	command := &cobra.Command{
		Use:     "explain DIR|FILE|SOCKET|URL...",
		GroupID: option.GroupElect,
		Short:   "Tell from records why the leader has changed",
		Long: `Explain reads the records of members, and tells each change of their leader: its cause, the
evidence, how long nobody led and why so long, and what would have prevented it. DIR is the
directory of a member, or one with the directories of several. FILE is what "ringleader
record" has gathered. The members may run. SOCKET is control.sock in the directory of one that
runs, and URL is where it serves --https, such as https://10.0.0.1:8443. A member gives its
record to no client of --http.

A cause is certain if a member has told it, or if a proof of death leaves no other one. It is
likely if it follows from times and from what is missing. It is unknown otherwise; then the lines
"missing" name the record that would tell more. Give the records of all members: that of the
leader alone cannot tell a link from a member, and those of the others cannot tell a
member that was killed from one that nobody heard.

The changes of a year that have no detailed record any more come first, as members told them at
once. They are not judged.

Members on one machine have one clock. The clocks of several machines are joined by the
messages between them: none arrives before it was sent.

Leases are judged on the same time line. Two at the same time are a violation, which is told
with the step that broke the rule. --check also compares each step of each member with the
model that is proved safe; its first 20 000 steps, if there are more.

--export makes the steps around a change again in the simulator, and compares each state with
the record. "ringleader verify --from" tries what else could have happened from any of them. It
needs the records of all members there.

Exit status: 0 all was explained; 1 the cause of a change is unknown, a rule was broken, or
a replay or a comparison differs, or a member has given no record, and the rest was explained;
3 a signal stopped it before; 64 the call was wrong.`,
		Example: `  ringleader explain /var/lib/ringleader/1
  ringleader explain https://10.0.0.1:8443 https://10.0.0.2:8443 --cert operator.pem --key operator.key --ca ca.pem
  ringleader record --out incident.rec data/1 data/2 data/3
  ringleader explain incident.rec --draw incident.svg
  ringleader explain incident.rec --draw incident.html
  ringleader explain incident.rec --replay
  ringleader explain incident.rec --export run.json`,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s needs a directory, a file, a socket or a URL; try %[1]s --help", command.CommandPath())
			}
			if o.export == "-" {
				return errors.New("--export writes a file, and not -: stdout has the text")
			}
			if o.draw == "-" {
				return errors.New("--draw writes a file, and not -: stdout has the text")
			}
			if err := option.Drawable("draw", o.draw, incidentEndings); err != nil {
				return err
			}
			if o.change != 0 && o.draw == "" && o.export == "" {
				return errors.New("--change chooses what --draw or --export shows; give one of them")
			}
			ctx := command.Context()
			records, incomplete, err := p.records(command, args, &sources)
			if err == nil {
				err = p.explainAll(ctx, records, &o)
			}
			switch {
			case ctx.Err() != nil:
				return report.Stopped("%w", errStopped)
			case err == nil && incomplete:
				return report.ErrNo
			}
			return err
		},
	}
	sources.define(command.Flags())
	command.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object")
	command.Flags().BoolVar(&o.replays, "replay", false, "run the same machines over the records first, and compare each effect, and the states, bit by bit")
	command.Flags().BoolVar(&o.checks, "check", false, "compare the joined run of all members with the proved model of the algorithm; it needs their records from the beginning on")
	command.Flags().StringVar(&o.draw, "draw", "", "FILE to write: with .svg members, leads and messages over time, around one change; with .html a page that plays all changes")
	command.Flags().IntVar(&o.change, "change", 0, "number of the change to draw or to export, or with which the page begins; 0: that with the longest time without a leader")
	command.Flags().StringVar(&o.export, "export", "", "FILE to write: the steps of all members around one change as a run of the simulator, for replay, verify --from and the lab")
	command.MarkFlagFilename("draw", incidentEndings...)
	command.MarkFlagFilename("export", "json")
	return command
}

// errStopped reports that a signal came before there was an answer.
var errStopped = errors.New("stopped before all was read")

// explainOptions are what is asked for.
type explainOptions struct {
	asJSON, replays, checks bool
	draw, export            string
	change                  int
}

// mostChecked is how many steps are compared with the model.
const mostChecked = 20_000

// explainAll explains records.
func (p *program) explainAll(ctx context.Context, records *record.Records, o *explainOptions) error {
	told, err := explain.OfContext(ctx, records)
	found := explanation{Report: told}
	if o.replays {
		found.replays = replayed(ctx, records)
	}
	if o.checks {
		for _, g := range found.Groups {
			found.checks = append(found.checks, g.Check(mostChecked))
		}
	}
	if err = cmp.Or(err, ctx.Err()); err != nil { // nothing that was cut off is told
		return err
	}
	if o.draw != "" {
		err = p.drawIncident(ctx, found.Report, o.draw, o.change)
	}
	if o.export != "" {
		err = errors.Join(err, p.exportIncident(found.Report, o))
	}
	err = errors.Join(err, p.Print(found, o.asJSON)) // also if a file could not be written
	if err == nil && found.incomplete() {
		return report.ErrNo
	}
	return err
}

// incidentEndings are the endings of drawings of changes of the leader.
var incidentEndings = []string{"svg", "html"}

// drawIncident draws a change of the leader, or writes the page that plays all of them.
func (p *program) drawIncident(ctx context.Context, r *explain.Report, file string, change int) error {
	if strings.EqualFold(filepath.Ext(file), ".html") {
		return p.ToFile(file, func(w io.Writer) error { return incident.Page(ctx, w, r, change) })
	}
	d, err := incident.Drawing(r, change)
	if err != nil {
		return err
	}
	return p.ToFile(file, d.SVG)
}

// fewest are the parameters with which there are few states: in lazy time a timer is late by any time, so that a short one stands for all.
const fewest = "renewals=1,asking=no,answer-timeout=1,deferral=1,claim-timeout=1"

// exportIncident writes the steps around a change as a run of the simulator.
func (p *program) exportIncident(r *explain.Report, o *explainOptions) error {
	g, change, err := incident.Find(r, o.change)
	if err != nil {
		return err
	}
	made, err := rerun.Of(g, change, quorumbully.Program)
	if err != nil {
		return err
	}
	err = p.ToFile(o.export, func(w io.Writer) error { return p.Save(w, quorumbully.Program.Name, &made.Options, made.Choices) })
	if err != nil {
		return err
	}
	p.Complain(fmt.Sprintf("%s has %s of all members, each with the state that is recorded; what else could have happened: ringleader verify --from %s --param terms=%d,%s",
		o.export, amount.Of(made.Steps, "step"), o.export, made.Term+1, fewest))
	return nil
}

// replayed replays the record of each member.
func replayed(ctx context.Context, records *record.Records) (all []replay) {
	for _, l := range records.Logs {
		r := replay{Member: l.Member, Group: l.Group}
		done, err := l.Again(ctx, quorumbully.Program)
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
	e.WriteText(p.Out)
	for _, r := range e.replays {
		text := fmt.Sprintf("member %d: %s and %s again, bit by bit as recorded", r.Member, amount.Of(r.Steps, "step"), amount.Of(r.Checks, "state"))
		if !r.Same {
			text = fmt.Sprintf("member %d: %s", r.Member, r.Differs)
		}
		if r.Skipped > 0 {
			text += fmt.Sprintf("; %s without a state to begin from", amount.Of(r.Skipped, "step"))
		}
		words.WriteLine(p.Out, "replay     ", text)
	}
	for _, c := range e.checks {
		switch {
		case c.Broken != "":
			words.WriteLine(p.Out, "model      ", "VIOLATION: the model does not allow this: "+c.Broken)
		case c.Without != "":
			words.WriteLine(p.Out, "model      ", c.Without)
		default:
			steps := amount.Of(c.Steps, "step")
			if c.Steps < c.Of {
				steps = fmt.Sprintf("the first %d of %s", c.Steps, amount.Of(c.Of, "step"))
			}
			words.WriteLine(p.Out, "model      ", steps+" of all members are actions of the proved model, and its invariants hold")
		}
	}
	for _, d := range e.Damages {
		words.WriteLine(p.Out, "damage     ", d)
	}
	return nil
}
