package plot

import (
	"io"
	"math"

	"git.sr.ht/~sbinet/gg"
)

// sharpness is how many pixels of a PNG a unit of length takes, in both directions.
const sharpness = 2

// PNG writes the chart as PNG, on light paper.
func (c *Chart) PNG(w io.Writer) error {
	d, err := c.layOut()
	if err != nil {
		return err
	}
	dc := gg.NewContext(int(math.Ceil(d.width*sharpness)), int(math.Ceil(d.height*sharpness)))
	dc.SetHexColor(classes[0].light)
	dc.Clear()
	for _, e := range d.elements {
		e.png(dc)
	}
	return dc.EncodePNG(w)
}

// colour is that of a class on light paper.
func colour(class string) string {
	for i, c := range looks {
		if look(i) == class {
			return c.light
		}
	}
	for _, c := range classes {
		if c.name == class {
			return c.light
		}
	}
	panic("plot: no class is called " + class)
}

func (e *element) png(dc *gg.Context) {
	dc.SetHexColor(colour(e.class))
	if e.text != "" {
		e.pngText(dc)
		return
	}
	for i, p := range e.points {
		if i == 0 {
			dc.MoveTo(p.x*sharpness, p.y*sharpness)
		} else {
			dc.LineTo(p.x*sharpness, p.y*sharpness)
		}
	}
	dc.SetLineWidth(e.width * sharpness)
	dc.SetDash()
	if e.filled {
		dc.ClosePath()
		dc.FillPreserve()
		dc.SetHexColor(colour("paper"))
		dc.Stroke()
		return
	}
	if e.faint != 0 {
		dc.SetHexColor(colour(e.class) + hex(e.faint))
	}
	if e.dashes != nil {
		scaled := make([]float64, len(e.dashes))
		for i, dash := range e.dashes {
			scaled[i] = dash * sharpness
		}
		dc.SetDash(scaled...)
	}
	dc.SetLineCapButt()
	dc.SetLineJoinRound()
	dc.Stroke()
}

// hex is an opacity in two digits.
func hex(opacity float64) string {
	const digits = "0123456789abcdef"
	level := int(math.Round(opacity * 255))
	return string([]byte{digits[level/16], digits[level%16]})
}

func (e *element) pngText(dc *gg.Context) {
	f := face(e.size*sharpness, e.bold)
	defer f.Close()
	dc.SetFontFace(f)
	x, y := e.points[0].x*sharpness, e.points[0].y*sharpness
	if e.halo {
		dc.SetHexColor(colour("paper"))
		for k := range 12 { // the text in the paper's colour, moved round
			angle := 2 * math.Pi * float64(k) / 12
			dc.DrawStringAnchored(e.text, x+2*sharpness*math.Cos(angle), y+2*sharpness*math.Sin(angle), e.anchor, 0)
		}
		dc.SetHexColor(colour(e.class))
	}
	dc.DrawStringAnchored(e.text, x, y, e.anchor, 0)
}
