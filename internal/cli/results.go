package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
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

// results holds the destinations of a command's results: stdout, and the files of a record.
type results struct {
	json                  bool
	draw, topology, trace string // files
	from, to              uint64 // what drawings show; to is 0 for the end
}

// resultNames are its flags.
var resultNames = []string{"json", "draw", "draw-topology", "from", "to", "trace"}

func (r *results) flags(command *cobra.Command, of string) {
	f := command.Flags()
	f.BoolVar(&r.json, "json", false, "print one JSON object")
	f.StringVar(&r.draw, "draw", "", "draw "+of+" into this .svg, .png or .pdf file, a space-time diagram; as .html, a page that plays it; - is stdout, as SVG")
	f.StringVar(&r.topology, "draw-topology", "", "draw the network of "+of+" into this file: identifiers, links, leader; as .gif, step by step")
	option.Number(f, &r.from, "from", "", 0, "show "+of+" from this time on, or from this step without a clock")
	option.Number(f, &r.to, "to", "", 0, "show "+of+" up to this time or step (default its end)")
	f.StringVar(&r.trace, "trace", "", "write the record of "+of+" as JSON lines into this file; - is stdout")
}

// window returns the window of drawings.
func (r *results) window() trace.Window {
	return trace.Window{From: election.Units(r.from), Until: election.Units(r.to)}
}

// recorded reports whether a record is wanted.
func (r *results) recorded() bool { return r.draw != "" || r.topology != "" || r.trace != "" }

// check returns an error for two outputs on stdout, an unknown format of a drawing, or a window that ends before it
// begins.
func (r *results) check() error {
	wanted := 0
	for _, stdout := range []bool{r.json, r.draw == "-", r.topology == "-", r.trace == "-"} {
		if stdout {
			wanted++
		}
	}
	if wanted > 1 {
		return errors.New("stdout takes one result: one of --json, --draw -, --draw-topology - and --trace -")
	}
	if err := errors.Join(drawable("draw", r.draw, runEndings), drawable("draw-topology", r.topology, networkEndings)); err != nil {
		return err
	}
	if isPage(r.draw) && r.topology == "" && (r.from != 0 || r.to != 0) {
		return errors.New("--from and --to are for drawings; a page has all of the run")
	}
	if r.to != 0 && r.to < r.from {
		return fmt.Errorf("--to %d is before --from %d", r.to, r.from)
	}
	return nil
}

// put writes the record's files, and then, if stdout is free for it, the result.
func (r *results) put(p *Program, found *finding) error {
	record := found.record
	if r.recorded() && record == nil {
		p.Complain("no property is violated, so there is no run to draw or to write")
	}
	if record != nil {
		if err := r.drawRun(p, found); err != nil {
			return err
		}
		if err := r.drawNetwork(p, record); err != nil {
			return err
		}
	}
	if r.trace != "" && record != nil {
		if err := p.ToFile(r.trace, func(w io.Writer) error { _, err := record.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	if r.draw == "-" || r.topology == "-" || r.trace == "-" {
		return nil
	}
	for _, result := range found.results {
		if err := p.Print(result, r.json); err != nil {
			return err
		}
	}
	return nil
}

// drawInto draws into a file if there is to be one, in the format that its name ends in.
func (r *results) drawInto(p *Program, path string, record *trace.Record, draw func(*trace.Record, trace.Window) (*drawing.Drawing, error)) error {
	if path == "" {
		return nil
	}
	return p.ToFile(path, func(w io.Writer) error {
		drawn, err := draw(record, r.window())
		if err != nil {
			return err
		}
		return render.Write(w, drawn, render.Format(path))
	})
}

// runEndings are the endings of drawings of a run.
var runEndings = append(slices.Clone(render.Formats), "html")

// isPage reports whether a file is a page.
func isPage(path string) bool { return strings.EqualFold(filepath.Ext(path), ".html") }

// drawRun draws the run, or writes a page of it.
func (r *results) drawRun(p *Program, found *finding) error {
	switch {
	case !isPage(r.draw):
		return r.drawInto(p, r.draw, found.record, drawing.Diagram)
	case found.page == nil:
		return errors.New("--draw writes a page of one simulated run only; into .svg, .png or .pdf it draws this one")
	}
	run, err := found.page()
	if err != nil {
		return err
	}
	return p.Page(r.draw, &run)
}

// networkEndings are the endings of drawings of the network.
var networkEndings = append(slices.Clone(render.Formats), "gif")

// drawNetwork draws the network, step by step if the file is a GIF.
func (r *results) drawNetwork(p *Program, record *trace.Record) error {
	if !strings.EqualFold(filepath.Ext(r.topology), ".gif") {
		return r.drawInto(p, r.topology, record, drawing.Network)
	}
	return p.ToFile(r.topology, func(w io.Writer) error { return film(w, record, r.window()) })
}

// film draws the network step by step.
func film(w io.Writer, record *trace.Record, window trace.Window) error {
	frames, err := drawing.Film(record, window)
	if errors.Is(err, drawing.ErrTooLong) {
		return fmt.Errorf("%w; --from and --to select a part", err)
	}
	if err != nil {
		return err
	}
	return render.GIF(w, frames)
}

// drawable returns an error if the ending of a drawing's file is none of some. A device needs none.
func drawable(flag, path string, endings []string) error {
	if path == "" || path == "-" || slices.Contains(endings, strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))) {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	last := len(endings) - 1
	return fmt.Errorf("--%s draws into a file that ends in .%s or .%s, not %q", flag, strings.Join(endings[:last], ", ."), endings[last], path)
}
