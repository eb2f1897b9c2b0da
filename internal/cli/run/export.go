//go:build !js

package run

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/study/export"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// exportFormats are models first, then runs.
var exportFormats = []string{"promela", "tla", "dot", "mermaid", "shiviz"}

type exportOptions struct {
	Options
	format, out string
}

// Export returns the command that writes elections for other tools.
func Export(p *plan.Program) *cobra.Command {
	var o exportOptions
	command := &cobra.Command{
		Use:     "export ALGORITHM",
		GroupID: option.GroupStudy,
		Short:   "Write a model for another checker, or a run for another viewer",
		Long: `Write an election for another tool.

A model is made of the algorithm's own steps, so that it has the states of ringleader verify. It is of one
order of an asynchronous algorithm without timers; all processes initiate first:
  promela   for Spin
  tla       for TLC, the checker of TLA+
A run is made with the flags of ringleader run that are listed here:
  dot       for Graphviz: a graph of its events
  mermaid   for Mermaid: a sequence diagram
  shiviz    for ShiViz: a log with vector clocks; its parser is (?<event>.*)\n(?<host>\S*) (?<clock>{.*})`,
		Example: `  ringleader export lcr --n 4 --order decreasing --format promela --out lcr.pml
  ringleader export peterson --ids 3,1,2 --format tla --out peterson.tla
  ringleader export bully --n 4 --crash 4@2 --format mermaid
  ringleader export lcr --n 5 --schedule random --seed 3 --format dot --out lcr.dot`,
		RunE: func(command *cobra.Command, args []string) error {
			e, err := p.OneAlgorithm(command, args)
			if err != nil {
				return err
			}
			return exported(p, o.Form(e), &o)
		},
	}
	o.Input.Flags(command, p)
	command.ValidArgsFunction = p.OneOf(plan.AnyAlgorithm)
	f := command.Flags()
	f.BoolVar(&o.Duplicates, "allow-duplicate-ids", false, "allow equal identifiers")
	f.StringVar(&o.format, "format", "", strings.Join(exportFormats, ", "))
	f.StringVar(&o.out, "out", "-", "the file to write; - is stdout")
	f.StringVar(&o.Start, "start", "", "initiators of a run, as of ringleader run")
	f.StringVar(&o.schedule, "schedule", "fifo", "of a run: "+strings.Join(simulate.Schedules, ", "))
	option.Positive(f, &o.delay, "delay", "of a timed run: messages take 1 to this many units (default the parameter delay, or 1)")
	o.FaultFlags.Flags(command, p.Name)
	option.Offer(command, "format", exportFormats...)
	option.Offer(command, "schedule", simulate.Schedules...)
	option.Offer(command, "start", "all", "any")
	return command
}

// exported writes an election in a format.
func exported(p *plan.Program, e *catalogue.Entry, o *exportOptions) error {
	format, err := plan.Word("format", o.format, exportFormats...)
	if err != nil {
		return err
	}
	if exportFormats[format] == "promela" || exportFormats[format] == "tla" {
		name, err := module(e.Name, o.out)
		if err != nil && exportFormats[format] == "tla" {
			return err
		}
		setup, err := o.Setup(e)
		if err != nil {
			return err
		}
		model, err := verify.ModelOf(e.Program, setup)
		if err != nil {
			return err
		}
		return p.Result(o.out, func(w io.Writer) error {
			if exportFormats[format] == "promela" {
				return export.Promela(w, model)
			}
			return export.TLA(w, model, name)
		})
	}
	s, err := o.Simulator(e, p.Stdin)
	if err != nil {
		return err
	}
	s.Record = true
	r, err := e.Simulate(s)
	if err != nil {
		return err
	}
	write := map[string]func(io.Writer) error{
		"dot":     func(w io.Writer) error { return export.Dot(w, r.Record) },
		"mermaid": func(w io.Writer) error { return export.Mermaid(w, r.Record) },
		"shiviz":  func(w io.Writer) error { return export.ShiViz(w, r.Record) },
	}[exportFormats[format]]
	return p.Result(o.out, write)
}

// module returns the name of a TLA+ module, which must be that of its file.
func module(algorithm, file string) (string, error) {
	name, is := strings.CutSuffix(file[strings.LastIndexAny(file, `/\`)+1:], ".tla")
	if !is {
		return strings.ReplaceAll(algorithm, "-", "_"), nil
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if strings.Trim(name, letters+"0123456789_") != "" || !strings.ContainsAny(name, letters) {
		return "", fmt.Errorf("--out %s: a module of TLA+ is named like its file, by letters, digits and underscores, not %q", file, name)
	}
	return name, nil
}
