package render

import (
	"io"
	"math"

	"git.sr.ht/~sbinet/gg"
	"ringleader.example/ringleader/drawing"
)

// A PNG has two pixels for a length of one, or fewer, so that no side is longer than most.
const (
	sharpest = 2.0
	most     = 2000.0
)

// PNG writes the drawing as PNG.
func PNG(w io.Writer, d *drawing.Drawing) error {
	return paint(d, max(1, min(sharpest, most/max(d.Width, d.Height)))).EncodePNG(w)
}

// paint paints the drawing with so many pixels for a length of one.
func paint(d *drawing.Drawing, sharpness float64) *gg.Context {
	p := painter{gg.NewContext(int(math.Floor(d.Width*sharpness)), int(math.Floor(d.Height*sharpness))), sharpness}
	p.SetHexColor(drawing.Paper.Light)
	p.Clear()
	for e := range d.Plain() {
		if e.Text != "" {
			p.text(e)
		} else {
			p.path(e)
		}
	}
	return p.Context
}

type painter struct {
	*gg.Context
	sharpness float64
}

func (p *painter) path(e *drawing.Element) {
	if e.Fill.Name != "" {
		p.trace(e.Path)
		p.SetHexColor(e.Fill.Light + opacity(e.Faint))
		p.Fill()
	}
	if e.Stroke.Name != "" {
		p.SetHexColor(e.Stroke.Light + opacity(e.Faint))
		p.SetLineWidth(e.Width * p.sharpness)
		scaled := make([]float64, len(e.Dashes))
		for i, dash := range e.Dashes {
			scaled[i] = dash * p.sharpness
		}
		p.SetDash(scaled...)
		p.SetLineCapButt()
		p.SetLineJoinRound()
		for rest := e.Path; len(rest) > 0; {
			part := some(rest)
			p.trace(part)
			p.Stroke()
			rest = rest[len(part):]
		}
	}
}

// some returns the first lines of a path: the rasterizer's time grows with the square of the number of lines at once.
// 40000 long lines take 5 s so, and 14 s with 64 moves at once.
func some(path []drawing.Move) []drawing.Move {
	const enough = 8
	for i := enough; i < len(path); i++ {
		if path[i].Op == drawing.Start {
			return path[:i]
		}
	}
	return path
}

func (p *painter) trace(path []drawing.Move) {
	for _, m := range path {
		x, y := m.To.X*p.sharpness, m.To.Y*p.sharpness
		switch m.Op {
		case drawing.Start:
			p.MoveTo(x, y)
		case drawing.Line:
			p.LineTo(x, y)
		case drawing.Curve:
			p.QuadraticTo(m.Bend.X*p.sharpness, m.Bend.Y*p.sharpness, x, y)
		case drawing.Close:
			p.ClosePath()
		}
	}
}

// opacity returns the last two digits of a colour, its opacity.
func opacity(faint float64) string {
	if faint == 0 {
		return ""
	}
	const digits = "0123456789abcdef"
	level := int(math.Round(faint * 255))
	return string([]byte{digits[level/16], digits[level%16]})
}

func (p *painter) text(e *drawing.Element) {
	f := face(e.Size * p.sharpness)
	defer f.Close()
	p.SetFontFace(f)
	x, y := e.At.X*p.sharpness, e.At.Y*p.sharpness
	p.SetHexColor(e.Fill.Light + opacity(e.Faint))
	p.DrawStringAnchored(e.Text, x, y, e.Anchor, 0)
	if e.Bold {
		p.DrawStringAnchored(e.Text, x+thickness*e.Size*p.sharpness, y, e.Anchor, 0)
	}
}
