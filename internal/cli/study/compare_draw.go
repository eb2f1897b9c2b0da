package study

import (
	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/render"
	"ringleader.example/ringleader/internal/show/report/studies"
)

// drawOptions are the options and the file of a comparison's drawing.
type drawOptions struct {
	draw string
	studies.Drawing
}

func (o *drawOptions) flags(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&o.draw, "draw", "", "draw the comparison into this .svg, .png or .pdf file; - is stdout, as SVG")
	f.StringVar(&o.Title, "title", "", "title of the drawing (default the algorithms)")
	f.StringVar(&o.Against, "against", "n", "horizontal axis: n, or time, for the trade-off of messages and time")
	f.StringVar(&o.Scale, "scale", "log", "scale of the drawing: log or linear")
	f.BoolVar(&o.PerProcess, "per-process", false, "draw messages divided by n")
	option.Offer(command, "against", "n", "time")
	option.Offer(command, "scale", "log", "linear")
}

func (o *drawOptions) check() error {
	if _, err := plan.Word("against", o.Against, "n", "time"); err != nil {
		return err
	}
	if _, err := plan.Word("scale", o.Scale, "log", "linear"); err != nil {
		return err
	}
	return option.Drawable("draw", o.draw, render.Formats)
}
