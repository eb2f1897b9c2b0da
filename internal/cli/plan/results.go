package plan

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/render"
	"ringleader.example/ringleader/trace"
)

// Results holds the destinations of a command's results: stdout, and the files of a record.
type Results struct {
	JSON                  bool
	Draw, Topology, Trace string // files
	from, to              uint64 // what drawings show; to is 0 for the end
}

// ResultNames are its flags.
var ResultNames = []string{"json", "draw", "draw-topology", "from", "to", "trace"}

// Flags adds the flags. The argument names what the results describe, such as "the run".
func (r *Results) Flags(command *cobra.Command, of string) {
	f := command.Flags()
	f.BoolVar(&r.JSON, "json", false, "print one JSON object")
	f.StringVar(&r.Draw, "draw", "", "draw "+of+" into this .svg, .png or .pdf file, a space-time diagram; as .html, a page that plays it; - is stdout, as SVG")
	f.StringVar(&r.Topology, "draw-topology", "", "draw the network of "+of+" into this file: identifiers, links, leader; as .gif, step by step")
	option.Number(f, &r.from, "from", "", 0, "show "+of+" from this time on, or from this step without a clock")
	option.Positive(f, &r.to, "to", "show "+of+" up to this time or step (default its end)")
	f.StringVar(&r.Trace, "trace", "", "write the record of "+of+" as JSON lines into this file; - is stdout")
}

// Window returns the window of drawings.
func (r *Results) Window() trace.Window {
	return trace.Window{From: election.Units(r.from), Until: election.Units(r.to)}
}

// Recorded reports whether a record is wanted.
func (r *Results) Recorded() bool { return r.Draw != "" || r.Topology != "" || r.Trace != "" }

// Check returns an error for two outputs on stdout, an unknown format of a drawing, or a window that ends before it
// begins.
func (r *Results) Check() error {
	wanted := 0
	for _, stdout := range []bool{r.JSON, r.Draw == "-", r.Topology == "-", r.Trace == "-"} {
		if stdout {
			wanted++
		}
	}
	if wanted > 1 {
		return errors.New("stdout takes one result: one of --json, --draw -, --draw-topology - and --trace -")
	}
	if err := errors.Join(option.Drawable("draw", r.Draw, RunEndings), option.Drawable("draw-topology", r.Topology, NetworkEndings)); err != nil {
		return err
	}
	if isPage(r.Draw) && r.Topology == "" && (r.from != 0 || r.to != 0) {
		return errors.New("--from and --to are for drawings; a page has all of the run")
	}
	if r.to != 0 && r.to < r.from {
		return fmt.Errorf("--to %d is before --from %d", r.to, r.from)
	}
	return nil
}

// Put writes the record's files, and then, if stdout is free for it, the result: also if a file cannot be written.
func (r *Results) Put(p *Program, found *Finding) (err error) {
	record := found.Record
	switch {
	case record != nil:
		err = errors.Join(r.drawRun(p, found), r.drawNetwork(p, record), r.write(p, record))
	case r.Recorded():
		p.Complain("no property is violated, so there is no run to draw or to write")
	}
	if r.Draw == "-" || r.Topology == "-" || r.Trace == "-" {
		return err
	}
	for _, result := range found.Results {
		if wrong := p.Print(result, r.JSON); wrong != nil {
			return errors.Join(err, wrong)
		}
	}
	return err
}

// write writes the record, if that is wanted.
func (r *Results) write(p *Program, record *trace.Record) error {
	if r.Trace == "" {
		return nil
	}
	return p.ToFile(r.Trace, func(w io.Writer) error { _, err := record.WriteTo(w); return err })
}

// drawInto draws into a file if there is to be one, in the format that its name ends in.
func (r *Results) drawInto(p *Program, path string, record *trace.Record, draw func(*trace.Record, trace.Window) (*drawing.Drawing, error)) error {
	if path == "" {
		return nil
	}
	return p.ToFile(path, func(w io.Writer) error {
		drawn, err := draw(record, r.Window())
		if err != nil {
			return err
		}
		return render.Write(w, drawn, render.Format(path))
	})
}

// RunEndings are the endings of drawings of a run.
var RunEndings = append(slices.Clone(render.Formats), "html")

// isPage reports whether a file is a page.
func isPage(path string) bool { return strings.EqualFold(filepath.Ext(path), ".html") }

// drawRun draws the run, or writes a page of it.
func (r *Results) drawRun(p *Program, found *Finding) error {
	switch {
	case !isPage(r.Draw):
		return r.drawInto(p, r.Draw, found.Record, drawing.Diagram)
	case found.Page == nil:
		return errors.New("--draw writes a page of one simulated run only; into .svg, .png or .pdf it draws this one")
	}
	run, err := found.Page()
	if err != nil {
		return err
	}
	return p.Page(r.Draw, &run)
}

// NetworkEndings are the endings of drawings of the network.
var NetworkEndings = append(slices.Clone(render.Formats), "gif")

// drawNetwork draws the network, step by step if the file is a GIF.
func (r *Results) drawNetwork(p *Program, record *trace.Record) error {
	if !strings.EqualFold(filepath.Ext(r.Topology), ".gif") {
		return r.drawInto(p, r.Topology, record, drawing.Network)
	}
	return p.ToFile(r.Topology, func(w io.Writer) error { return Film(w, record, r.Window()) })
}

// Film draws the network step by step.
func Film(w io.Writer, record *trace.Record, window trace.Window) error {
	frames, err := drawing.Film(record, window)
	if errors.Is(err, drawing.ErrTooLong) {
		return fmt.Errorf("%w; --from and --to select a part", err)
	}
	if err != nil {
		return err
	}
	return render.GIF(w, frames)
}
