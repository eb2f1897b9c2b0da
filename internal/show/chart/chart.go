// Package chart draws series of numbers over two axes: with a label at each line's end instead of a
// legend, in colours that colour-blind readers can distinguish, and with markers and dashes for grey prints. The same
// chart has the same bytes.
package chart

import (
	"errors"
	"math"
	"slices"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/internal/show/render"
)

// Chart is a drawing.
type Chart struct {
	Title, Subtitle string
	Notes           string // below the drawing, small
	X, Y            Axis
	Series          []Series
}

// Axis is one of the two axes.
type Axis struct {
	Name  string
	Log   bool
	Ticks []float64 // the marks; nil: round numbers
}

// Series is a series of points.
type Series struct {
	Name   string // shown at the line's end
	Look   int    // colour, marker and dashes; series with the same one belong together
	Line   Line
	Marked bool // points have markers
	Points []Point
}

// Line is how the points of a series are joined.
type Line uint8

// The lines.
const (
	Joined Line = iota // by a solid line
	Thin               // by a thin one: exact values
	Dashed             // by a thin dashed one: limits
	Alone              // not at all
)

// size returns the font size of the name of such a line.
func (l Line) size() float64 {
	if l == Dashed {
		return small
	}
	return normal
}

// Point is a point of a series.
type Point struct {
	X, Y  float64
	Error float64 // the value is between Y - Error and Y + Error
}

// ErrEmpty reports that there is nothing to draw.
var ErrEmpty = errors.New("nothing to draw")

// The measures of a chart.
const (
	margin      = drawing.Margin
	widest      = 600.0 // frame
	narrowest   = 400.0
	frameHeight = 460.0
	labelGap    = 18.0 // between the labels of lines
	labelAway   = 26.0 // from the frame
	labelIn     = 28.0 // from where they begin, for a sample of the line
	radius      = 4.5  // of markers
	normal      = drawing.Normal
	small       = drawing.Small
)

// layout is a laid-out chart.
type layout struct {
	*Chart
	drawing.Drawing
	left, top float64 // of the frame
	across    float64 // its width
	x, y      scale
	above     []drawing.Element // drawn last
	labels    []label
	exits     int // the number of lines that left through the top
}

// label is the name of a line, beside the frame.
type label struct {
	text string
	look int
	line Line
	mark bool
	end  drawing.Point
	y    float64 // its position
}

// Drawing lays the chart out. It wraps ErrEmpty.
func (c *Chart) Drawing() (*drawing.Drawing, error) {
	d, err := c.layOut()
	if err != nil {
		return nil, err
	}
	return &d.Drawing, nil
}

// layOut makes the elements of a drawing.
func (c *Chart) layOut() (*layout, error) {
	d := &layout{Chart: c}
	d.Drawing.Title, d.Description = c.Title, c.Subtitle+" "+c.Notes
	var err error
	if d.x, err = c.X.scale(c.values(func(p Point) []float64 { return []float64{p.X} })); err != nil {
		return nil, err
	}
	if d.y, err = c.Y.scale(c.values(func(p Point) []float64 { return []float64{p.Y, p.Y - p.Error, p.Y + p.Error} })); err != nil {
		return nil, err
	}
	yNames := 0.0
	for _, t := range d.y.ticks {
		yNames = max(yNames, render.TextWidth(t.name, small))
	}
	d.left = margin + yNames + 14
	names := 0.0
	for _, s := range c.Series {
		names = max(names, labelAway+labelIn+render.TextWidth(s.Name, s.Line.size()))
	}
	d.across = max(narrowest, min(widest, drawing.Wide-d.left-names-margin))
	d.Width = max(d.left+d.across+names, margin+1.15*render.TextWidth(c.Title, drawing.Large)) + margin
	lines := wrap(c.Subtitle, normal, d.Width-2*margin)
	d.top = 44 + 19*float64(len(lines)) + 44
	d.x.from, d.x.to = d.left, d.left+d.across
	d.y.from, d.y.to = d.top+frameHeight, d.top

	d.axes()
	d.series()
	d.placeLabels()
	notes := wrap(c.Notes, small, d.Width-2*margin)
	notesTop := d.top + frameHeight + 68
	d.Height = notesTop + 15*float64(len(notes)) + 8

	d.Add(drawing.Element{Fill: drawing.Ink, Text: c.Title, Size: drawing.Large, Bold: true, At: drawing.At(margin, 40)})
	for i, line := range lines {
		d.Add(drawing.Element{Fill: drawing.Muted, Text: line, Size: normal, At: drawing.At(margin, 62+19*float64(i))})
	}
	d.Add(drawing.Element{Fill: drawing.Ink, Text: c.Y.Name, Size: normal, Bold: true, At: drawing.At(margin, d.top-14)})
	d.Add(drawing.Element{Fill: drawing.Ink, Text: c.X.Name, Size: normal, Bold: true, Anchor: 1, At: drawing.At(d.left+d.across, d.top+frameHeight+42)})
	for i, line := range notes {
		d.Add(drawing.Element{Fill: drawing.Muted, Text: line, Size: small, At: drawing.At(margin, notesTop+15*float64(i))})
	}
	d.Elements = append(d.Elements, d.above...)
	return d, nil
}

// values returns the values that a scale must show: limits only if they are not far from the others.
func (c *Chart) values(of func(Point) []float64) (values []float64) {
	var limits []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			if s.Line == Dashed {
				limits = append(limits, of(p)...)
			} else {
				values = append(values, of(p)...)
			}
		}
	}
	if len(values) == 0 {
		return limits
	}
	least, most := slices.Min(values)/near, slices.Max(values)*near
	return append(values, slices.DeleteFunc(limits, func(v float64) bool { return v < least || v > most })...)
}

// near is the largest ratio of a limit to all other values at which it is shown in full.
const near = 4

// axes draws the frame, with a faint line at each tick.
func (d *layout) axes() {
	bottom, right := d.top+frameHeight, d.left+d.across
	ticks, every := d.x.ticks, d.every()
	for i, t := range ticks {
		x := d.x.at(t.value)
		d.Add(drawing.Element{Stroke: drawing.Grid, Width: 1, Path: drawing.Lines(drawing.At(x, d.top), drawing.At(x, bottom))})
		if (len(ticks)-1-i)%every == 0 {
			d.Add(drawing.Element{Stroke: drawing.Axis, Width: 1, Path: drawing.Lines(drawing.At(x, bottom), drawing.At(x, bottom+5))})
			d.Add(drawing.Element{Fill: drawing.Muted, Text: t.name, Size: small, Anchor: 0.5, At: drawing.At(x, bottom+19)})
		}
	}
	free := math.Inf(1)
	for _, t := range d.y.ticks {
		y := d.y.at(t.value)
		d.Add(drawing.Element{Stroke: drawing.Grid, Width: 1, Path: drawing.Lines(drawing.At(d.left, y), drawing.At(right, y))})
		if t.name != "" && y < free {
			free = y - 15
			d.Add(drawing.Element{Fill: drawing.Muted, Text: t.name, Size: small, Anchor: 1, At: drawing.At(d.left-9, y+4)})
		}
	}
	d.Add(drawing.Element{Stroke: drawing.Axis, Width: 1, Path: drawing.Lines(drawing.At(d.left, bottom), drawing.At(right, bottom))})
}

// every returns the distance of named ticks, counted from the last one: all, or as many as there is room for.
func (d *layout) every() int {
	ticks := d.x.ticks
	for every := 1; ; every++ {
		free, fits := math.Inf(1), true
		for i := len(ticks) - 1; i >= 0; i -= every {
			x, half := d.x.at(ticks[i].value), render.TextWidth(ticks[i].name, small)/2
			fits = fits && x+half <= free
			free = x - half - 10
		}
		if fits {
			return every
		}
	}
}

// series draws the lines first, then the markers.
func (d *layout) series() {
	for _, s := range d.Series {
		d.line(s)
	}
	for _, s := range d.Series {
		if !s.Marked {
			continue
		}
		for _, p := range s.Points {
			d.marker(s, p)
		}
	}
}

func (d *layout) marker(s Series, p Point) {
	at, ok := d.place(p)
	if !ok {
		return
	}
	colour := look(s.Look)
	if low, high := d.y.at(p.Y-p.Error), d.y.at(p.Y+p.Error); low-high > 2*radius+4 {
		low, high = min(low, d.top+frameHeight), max(high, d.top)
		d.Add(drawing.Element{Stroke: colour, Width: 1.2, Path: drawing.Lines(drawing.At(at.X, low), drawing.At(at.X, high))})
		d.Add(drawing.Element{Stroke: colour, Width: 1.2, Path: drawing.Lines(drawing.At(at.X-3, low), drawing.At(at.X+3, low))})
		d.Add(drawing.Element{Stroke: colour, Width: 1.2, Path: drawing.Lines(drawing.At(at.X-3, high), drawing.At(at.X+3, high))})
	}
	d.Add(symbol(s.Look, at))
}

// at returns the place of a point, in or out of the frame.
func (d *layout) at(p Point) drawing.Point { return drawing.At(d.x.at(p.X), d.y.at(p.Y)) }

func finite(at drawing.Point) bool { return !math.IsNaN(at.X+at.Y) && !math.IsInf(at.X+at.Y, 0) }

// place returns the place of a point, if it is in the frame.
func (d *layout) place(p Point) (drawing.Point, bool) {
	at := d.at(p)
	const slack = 0.5
	return at, finite(at) && at.X >= d.left-slack && at.X <= d.left+d.across+slack && at.Y >= d.top-slack && at.Y <= d.top+frameHeight+slack
}

// line draws the part of a series' line in the frame, and notes its label.
func (d *layout) line(s Series) {
	style := drawing.Element{Stroke: look(s.Look), Width: 1.8}
	switch s.Line {
	case Thin:
		style.Width, style.Faint = 1.2, 0.85
	case Dashed:
		style.Width, style.Dashes = 1.3, dashes(s.Look)
	}
	var pieces [][]drawing.Point
	for i := range s.Points {
		from, to := d.at(s.Points[max(0, i-1)]), d.at(s.Points[i])
		a, b, visible := d.clip(from, to)
		last := len(pieces) - 1
		switch {
		case !finite(from) || !finite(to) || !visible:
		case last >= 0 && pieces[last][len(pieces[last])-1] == a:
			pieces[last] = append(pieces[last], b)
		default:
			pieces = append(pieces, []drawing.Point{a, b})
		}
	}
	if len(pieces) == 0 {
		return
	}
	if s.Line != Alone {
		for _, piece := range pieces {
			e := style
			e.Path = drawing.Lines(piece...)
			d.Add(e)
		}
	}
	end := pieces[len(pieces)-1][len(pieces[len(pieces)-1])-1]
	switch {
	case s.Name == "":
	case s.Line == Dashed && end.Y <= d.top+0.5 && end.X < d.left+d.across-1:
		d.exit(s, end)
	default:
		d.labels = append(d.labels, label{text: s.Name, look: s.Look, line: s.Line, mark: s.Marked, end: end})
	}
}

// exit names a line where it leaves the frame through the top.
func (d *layout) exit(s Series, end drawing.Point) {
	at, anchor := drawing.At(end.X+7, d.top+15+17*float64(d.exits)), 0.0
	d.exits++
	if at.X+render.TextWidth(s.Name, small) > d.left+d.across {
		at.X, anchor = end.X-7, 1
	}
	d.above = append(d.above, drawing.Element{Fill: drawing.Ink, Text: s.Name, Size: small, Anchor: anchor, Above: true, At: at})
}

// clip returns the part of a line from a to b that is in the frame, after Liang and Barsky.
func (d *layout) clip(a, b drawing.Point) (drawing.Point, drawing.Point, bool) {
	from, to := 0.0, 1.0
	dx, dy := b.X-a.X, b.Y-a.Y
	for _, edge := range [][2]float64{
		{-dx, a.X - d.left}, {dx, d.left + d.across - a.X}, {-dy, a.Y - d.top}, {dy, d.top + frameHeight - a.Y},
	} {
		p, q := edge[0], edge[1]+0.01
		switch {
		case p == 0 && q < 0:
			return a, b, false
		case p < 0:
			from = max(from, q/p)
		case p > 0:
			to = min(to, q/p)
		}
	}
	if from > to {
		return a, b, false
	}
	first, second := a, b
	if from > 0 {
		first = drawing.At(a.X+from*dx, a.Y+from*dy)
	}
	if to < 1 {
		second = drawing.At(a.X+to*dx, a.Y+to*dy)
	}
	return first, second, true
}

// placeLabels puts the names of lines beside the frame, each as near to its line's end as the others allow.
func (d *layout) placeLabels() {
	slices.SortStableFunc(d.labels, func(a, b label) int {
		switch {
		case a.end.Y < b.end.Y:
			return -1
		case a.end.Y > b.end.Y:
			return 1
		}
		return 0
	})
	wanted := make([]float64, len(d.labels))
	for i := range d.labels {
		wanted[i] = d.labels[i].end.Y
	}
	for i, y := range apart(wanted, labelGap, d.top+6, d.top+frameHeight) {
		l := &d.labels[i]
		l.y = y
		edge, colour := d.left+d.across, look(l.look)
		if math.Abs(l.end.X-edge) > 1 || math.Abs(l.end.Y-y) > 3 {
			d.Add(drawing.Element{Stroke: colour, Width: 0.8, Faint: 0.5, Path: drawing.Lines(l.end, drawing.At(edge+labelAway-6, y))})
		}
		sample := drawing.Element{Stroke: colour, Width: 1.8, Path: drawing.Lines(drawing.At(edge+labelAway, y), drawing.At(edge+labelAway+22, y))}
		switch l.line {
		case Thin:
			sample.Width = 1.2
		case Dashed:
			sample.Width, sample.Dashes = 1.3, dashes(l.look)
		}
		if l.line != Alone {
			d.Add(sample)
		}
		if l.mark {
			d.Add(symbol(l.look, drawing.At(edge+labelAway+11, y)))
		}
		d.Add(drawing.Element{Fill: drawing.Ink, Text: l.text, Size: l.line.size(), At: drawing.At(edge+labelAway+labelIn, y+4.5)})
	}
}

// apart moves sorted places apart, as little as possible, so that they keep a gap and, if possible, stay between two
// limits. Places that would touch become a group around the middle of their wanted places.
func apart(wanted []float64, gap, least, most float64) []float64 {
	type group struct {
		first, members int
		middle         float64
	}
	reach := func(g group) (low, high float64) {
		half := float64(g.members-1) / 2 * gap
		middle := max(least+half, min(g.middle, most-half))
		return middle - half, middle + half
	}
	var groups []group
	for i, y := range wanted {
		g := group{i, 1, y}
		for len(groups) > 0 {
			before := groups[len(groups)-1]
			_, end := reach(before)
			if begin, _ := reach(g); begin-end >= gap {
				break
			}
			sum := before.members + g.members
			g = group{before.first, sum, (before.middle*float64(before.members) + g.middle*float64(g.members)) / float64(sum)}
			groups = groups[:len(groups)-1]
		}
		groups = append(groups, g)
	}
	places := make([]float64, len(wanted))
	for _, g := range groups {
		low, _ := reach(g)
		for k := range g.members {
			places[g.first+k] = low + float64(k)*gap
		}
	}
	return places
}

func look(i int) drawing.Colour { return drawing.Looks[i%len(drawing.Looks)] }

func wrap(text string, size, width float64) []string {
	return drawing.Wrap(text, width, func(text string) float64 { return render.TextWidth(text, size) })
}
