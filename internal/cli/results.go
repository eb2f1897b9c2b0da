package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/report"
	"ringleader.example/ringleader/trace"
)

// results is where a command puts what it found: stdout, and the files of a record.
type results struct {
	json        bool
	draw, trace string
}

func (r *results) flags(command *cobra.Command, of string) {
	f := command.Flags()
	f.BoolVar(&r.json, "json", false, "print one JSON object")
	f.StringVar(&r.draw, "draw", "", "draw "+of+" into this SVG file, a space-time diagram; - is stdout")
	f.StringVar(&r.trace, "trace", "", "write the record of "+of+" as JSON lines into this file; - is stdout")
}

// recorded says whether a record is wanted.
func (r *results) recorded() bool { return r.draw != "" || r.trace != "" }

// check refuses to write two things to stdout.
func (r *results) check() error {
	if (r.draw == "-" || r.trace == "-") && (r.json || r.draw == r.trace) {
		return errors.New("stdout takes one result: one of --json, --draw - and --trace -")
	}
	return nil
}

// put writes the record's files, and then, if stdout is free for it, the result.
func (r *results) put(p *program, record *trace.Record, found report.Result) error {
	if r.recorded() && record == nil {
		fmt.Fprintf(p.Err, "%s: no run went wrong, so there is none to draw or to write\n", p.Name)
	}
	if r.draw != "" && record != nil {
		if err := p.ToFile(r.draw, record.SVG); err != nil {
			return err
		}
	}
	if r.trace != "" && record != nil {
		if err := p.ToFile(r.trace, func(w io.Writer) error { _, err := record.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	if r.draw == "-" || r.trace == "-" {
		return nil
	}
	return p.Print(found, r.json)
}
