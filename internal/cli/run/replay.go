package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// mostSaved is the largest size of a saved run in bytes: enough for the longest list of identifiers.
const mostSaved = 64 << 20

// saved returns the run of these options, for a file.
func (o *Options) saved(e *catalogue.Entry, s *simulate.Options, p *network.Instance) plan.SavedRun {
	i := s.Setup
	without := slices.Concat(plan.Unsaved, plan.FaultNames)
	var more []string
	if i.Votes != nil { // the order of voters is that of the setup
		without = append(without, "ids", "votes")
		if o.IDs != "" {
			more = append(more, "--ids="+report.Commas(i.IDs.Len(), i.IDs.At))
		}
		more = append(more, "--votes="+report.Commas(len(i.Votes), func(q int) uint64 { return i.Votes[q] }))
	}
	for _, line := range s.Faults.Lines(p) {
		more = append(more, "--fault="+line)
	}
	version, _ := plan.Built()
	return plan.SavedRun{Ringleader: version, Run: slices.Concat([]string{cmp.Or(o.Called, e.Name)}, plan.Words(o.Of, without), more)}
}

// readSaved reads and validates a saved run.
func readSaved(p *plan.Program, path string) (plan.SavedRun, error) {
	var s plan.SavedRun
	wrong := func(err error) (plan.SavedRun, error) { return s, fmt.Errorf("%s is not a saved run: %w", path, err) }
	in := p.Stdin
	if path == "-" {
		path = "stdin"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return s, fmt.Errorf("cannot read %s: %w", path, report.Reason(err))
		}
		defer file.Close()
		in = file
	}
	text, err := option.ReadAtMost(in, mostSaved)
	switch {
	case err != nil:
		return s, fmt.Errorf("cannot read %s: %w", path, report.Reason(err))
	case len(text) == 0:
		return wrong(errors.New("it is empty"))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var kind *json.UnmarshalTypeError
	if err := decoder.Decode(&s); errors.As(err, &kind) {
		return wrong(errors.New(`it is not like {"ringleader":"1.0","run":["lcr","--n=5"]}`))
	} else if err != nil {
		return wrong(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return wrong(errors.New("data follows its end"))
	}
	if err := s.Check(Command(p).Flags()); err != nil {
		return wrong(err)
	}
	return s, nil
}

// Parsed gives the flags of the command run the values of a saved run and further ones, and notes the call.
func Parsed(p *plan.Program, run *cobra.Command, s *plan.SavedRun, more ...string) error {
	if err := run.ParseFlags(slices.Concat(s.Run[1:], more)); err != nil {
		return err
	}
	p.Adopt(run)
	p.Command = p.CallOf(run, s.Run[:1])
	return nil
}

// reopened returns the command of a saved run.
func reopened(p *plan.Program, path string, more ...string) (s plan.SavedRun, run *plan.Command, err error) {
	if s, err = readSaved(p, path); err != nil {
		return s, nil, err
	}
	run, o := New(p)
	if err := Parsed(p, run.Command, &s, more...); err != nil {
		return s, nil, fmt.Errorf("%s: %w", path, err)
	}
	if o.replayed = s.Choices; o.begins != "" && s.Choices == nil {
		o.replayed = []plan.SavedChoice{}
	}
	if o.replayed != nil {
		err = run.Flags().Set("step", "true")
	}
	return s, run, err
}

// Reach makes a saved walk again up to a step; negative: all of it.
func Reach(p *plan.Program, path string, step int) (*plan.Reached, error) {
	s, run, err := reopened(p, path)
	if err != nil {
		return nil, err
	}
	again, err := run.Plan(s.Run[:1])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	w, is := again.(*walk)
	if !is {
		return nil, fmt.Errorf("%s is a run with a schedule, and what else could have happened is asked of one whose events were chosen, or recorded", path)
	}
	for i, c := range w.choices {
		if step >= 0 && len(w.Record().Steps) >= step {
			break
		}
		if err := w.Step(c.Choice()); err != nil {
			return nil, fmt.Errorf("%s: event %d of the walk: %w", path, i+1, err)
		}
	}
	if steps := len(w.Record().Steps); steps < step {
		return nil, fmt.Errorf("%s has %s, so there is no step %d", path, amount.Of(steps, "step"), step)
	}
	return &plan.Reached{Entry: w.e, Options: w.options, Moment: w.Moment(), Steps: len(w.Record().Steps)}, nil
}

// Replay returns the command that repeats a saved run.
func Replay(p *plan.Program) *cobra.Command {
	var o struct {
		plan.StoryFlags
		plan.Results
	}
	command := &cobra.Command{
		Use:     "replay FILE",
		GroupID: option.GroupStudy,
		Short:   "Repeat a run that run --save has saved",
		Long: `Repeat a run that run --save has saved: the same algorithm, network, schedule and faults, and so the same
run to the last step. FILE is - for stdin. A replay reads no other files.`,
		Example: `  ringleader run bully --n 7 --fault "random 2 crashes until 100" --seed 3 --save bad-day.json
  ringleader replay bad-day.json
  ringleader replay bad-day.json --draw bad-day.svg`,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s takes one file, which run --save has written", command.CommandPath())
			}
			if err := o.Results.Check(); err != nil {
				return err
			}
			s, run, err := reopened(p, args[0], plan.Words(command.Flags(), nil)...)
			if err != nil {
				return err
			}
			again, err := run.Plan(s.Run[:1])
			if err != nil {
				return err
			}
			return p.CarryOut(command.Context(), again, &labour.Hands{Work: run.Working})
		},
	}
	o.Results.Flags(command, "the run")
	o.StoryFlags.Flags(command)
	return command
}
