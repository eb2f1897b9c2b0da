//go:build !js

package render

import (
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"ringleader.example/ringleader/drawing"
)

// PDF writes the drawing as one page of PDF, a point for each pixel. It embeds the used parts of the fonts, and has
// no date.
func PDF(w io.Writer, d *drawing.Drawing) error {
	p := page{fpdf.NewCustom(&fpdf.InitType{UnitStr: "point", Size: fpdf.SizeType{Wd: d.Width, Ht: d.Height}})}
	p.SetCreationDate(time.Unix(0, 0).UTC())
	p.SetModificationDate(time.Unix(0, 0).UTC())
	p.SetCatalogSort(true)
	p.SetTitle(d.Title, true)
	p.SetSubject(d.Description, true)
	p.SetAutoPageBreak(false, 0)
	p.AddUTF8FontFromBytes("DejaVu", "", unpacked())
	p.AddPage()
	p.SetLineJoinStyle("round")
	for e := range d.Plain() {
		if e.Faint != 0 {
			p.SetAlpha(e.Faint, "Normal")
		}
		if e.Text != "" {
			p.text(e)
		} else {
			p.path(e)
		}
		if e.Faint != 0 {
			p.SetAlpha(1, "Normal")
		}
	}
	return p.Output(w)
}

type page struct{ *fpdf.Fpdf }

func (p *page) path(e *drawing.Element) {
	how := ""
	if e.Fill.Name != "" {
		p.SetFillColor(rgb(e.Fill))
		how += "F"
	}
	if e.Stroke.Name != "" {
		p.SetDrawColor(rgb(e.Stroke))
		p.SetLineWidth(e.Width)
		p.SetDashPattern(e.Dashes, 0)
		how += "D"
	}
	for _, m := range e.Path {
		switch m.Op {
		case drawing.Start:
			p.MoveTo(m.To.X, m.To.Y)
		case drawing.Line:
			p.LineTo(m.To.X, m.To.Y)
		case drawing.Curve:
			p.CurveTo(m.Bend.X, m.Bend.Y, m.To.X, m.To.Y)
		case drawing.Close:
			p.ClosePath()
		}
	}
	p.DrawPath(how)
}

func (p *page) text(e *drawing.Element) {
	p.SetFont("DejaVu", "", e.Size)
	x := e.At.X - e.Anchor*p.GetStringWidth(e.Text)
	p.SetTextColor(rgb(e.Fill))
	if e.Bold { // filled, with an outline of the same colour
		p.SetDrawColor(rgb(e.Fill))
		p.SetLineWidth(thickness * e.Size)
		p.SetDashPattern(nil, 0)
		p.SetTextRenderingMode(2)
		defer p.SetTextRenderingMode(0)
	}
	p.Text(x, e.At.Y, e.Text)
}

// rgb returns the colour on light paper.
func rgb(c drawing.Colour) (red, green, blue int) {
	light := rgba(c.Light)
	return int(light.R), int(light.G), int(light.B)
}
