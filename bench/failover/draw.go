//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/internal/show/render"
)

// The layout of the drawing, in pixels.
const (
	left   = 330.0
	right  = 40.0
	top    = 96.0
	line   = 13.0 // of one fault
	gap    = 12.0 // between systems
	bottom = 54.0
)

// drawTo draws the failovers: a line from the least to the greatest time, and a mark at the median, on a logarithmic axis.
func (r *results) drawTo(path string) error {
	rows := r.rows()
	if path == "" || len(rows) == 0 {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(render.Write(file, r.sheet(rows), render.Format(path)), file.Close())
}

func (r *results) sheet(rows []row) *drawing.Drawing {
	height := top + bottom
	for _, row := range rows {
		height += row.height()
	}
	s := &drawing.Drawing{
		Width: drawing.Wide, Height: height, Title: "The time without a leader",
		Description: "For each system and each fault of its leader the time until another node leads: median, least and greatest.",
	}
	x := r.axis(rows)
	r.frame(s, x, rows)
	y := top
	for _, row := range rows {
		r.draw(s, x, y+gap/2, row)
		y += row.height()
	}
	return s
}

func (r *row) height() float64 { return line*float64(len(r.drawn())) + gap }

// drawn returns the faults that have times.
func (r *row) drawn() (drawn []string) {
	for _, fault := range faults {
		if c := r.cells[fault]; c != nil && len(c.Times) > 0 {
			drawn = append(drawn, fault)
		}
	}
	return drawn
}

// axis is a logarithmic one, in ms.
type axis struct{ from, to float64 }

func (a axis) at(v float64) float64 {
	part := math.Log10(v/a.from) / math.Log10(a.to/a.from)
	return left + part*(drawing.Wide-left-right)
}

// axis returns one of whole decades that shows all times.
func (r *results) axis(rows []row) axis {
	least, most := math.Inf(1), 0.0
	for _, row := range rows {
		for _, c := range row.cells {
			if s := summary(c.Times); s.count > 0 {
				least, most = min(least, s.least), max(most, s.most)
			}
		}
	}
	least = max(least, 0.01)
	return axis{math.Pow(10, math.Floor(math.Log10(least))), math.Pow(10, math.Ceil(math.Log10(most)))}
}

func (r *results) frame(s *drawing.Drawing, x axis, rows []row) {
	text := func(at drawing.Point, size, anchor float64, bold bool, text string) {
		s.Add(drawing.Element{Text: text, At: at, Size: size, Anchor: anchor, Bold: bold, Fill: drawing.Ink})
	}
	text(drawing.At(drawing.Margin, 32), drawing.Large, 0, true, s.Title)
	text(drawing.At(drawing.Margin, 54), drawing.Normal, 0, false, "Milliseconds until another node leads: median, least and greatest")
	place := drawing.Margin
	for i, fault := range faults {
		if !slices.ContainsFunc(rows, func(of row) bool { return slices.Contains(of.drawn(), fault) }) {
			continue
		}
		s.Add(sign(i, drawing.At(place+5, 74)))
		text(drawing.At(place+16, 78), drawing.Small, 0, false, fault)
		place += 32 + render.TextWidth(fault, drawing.Small)
	}
	for v := x.from; v <= x.to*1.001; v *= 10 {
		s.Add(drawing.Element{Path: drawing.Lines(drawing.At(x.at(v), top), drawing.At(x.at(v), s.Height-bottom)), Stroke: drawing.Grid, Width: 1})
		text(drawing.At(x.at(v), s.Height-bottom+18), drawing.Small, 0.5, false, fmt.Sprintf("%g", math.Round(v*100)/100))
	}
	s.Add(drawing.Element{
		Text: strings.Join([]string{r.Machine.Processor, fmt.Sprintf("%d cores", r.Machine.Cores), "the systems in turn"}, ", "),
		At:   drawing.At(drawing.Margin, s.Height-14), Size: drawing.Small, Fill: drawing.Muted,
	})
}

// look is the colour of a fault. Signs of one colour have different corners.
func look(fault int) drawing.Colour { return drawing.Looks[fault%len(drawing.Looks)] }

// sign is the mark of a fault: its colour and its corners.
func sign(fault int, at drawing.Point) drawing.Element {
	return drawing.Element{Path: drawing.Area(drawing.Polygon(at, 5, 3+fault, -math.Pi/2)...), Fill: look(fault), Stroke: drawing.Paper, Width: 1}
}

func (r *results) draw(s *drawing.Drawing, x axis, y float64, of row) {
	name := fmt.Sprintf("%s, %d members", of.system.Title, of.members)
	middle := y + line*float64(len(of.drawn()))/2
	s.Add(drawing.Element{Text: name, At: drawing.At(left-12, middle+4), Size: drawing.Small, Anchor: 1, Bold: of.system.ours, Fill: drawing.Ink})
	for i, fault := range faults {
		c := of.cells[fault]
		if c == nil || len(c.Times) == 0 {
			continue
		}
		t := summary(c.Times)
		about := fmt.Sprintf("%s, %s: %s ms, %d times", name, fault, t, t.count)
		y += line
		from, to := drawing.At(x.at(max(t.least, x.from)), y-line/2), drawing.At(x.at(t.most), y-line/2)
		s.Add(drawing.Element{Path: drawing.Lines(from, to), Stroke: look(i), Width: 2, About: about})
		m := sign(i, drawing.At(x.at(max(t.median, x.from)), y-line/2))
		m.About = about
		s.Add(m)
	}
}
