// Package plot draws series of numbers over two axes, as SVG or PNG: with a label at each line's end instead of a
// legend, in colours that every eye tells apart, and with markers and dashes that tell them apart in grey, too.
// The same chart is the same bytes.
package plot

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Chart is a drawing.
type Chart struct {
	Title, Subtitle string
	Notes           string // below the drawing, small
	X, Y            Axis
	Series          []Series
}

// Axis is one of the two.
type Axis struct {
	Name  string
	Log   bool
	Ticks []float64 // where it is marked; nil: at round numbers
}

// Series is what belongs together.
type Series struct {
	Name   string // stands at the end
	Look   int    // colour, marker and dashes; series with the same one belong together
	Line   Line
	Marked bool // points have markers
	Points []Point
}

// Line says how the points of a series are joined.
type Line uint8

// The lines.
const (
	Joined Line = iota // by a solid line
	Thin               // by a thin one: exact values
	Dashed             // by a thin dashed one: limits
	Alone              // not at all
)

// Point is a point of a series.
type Point struct {
	X, Y  float64
	Error float64 // the value is between Y - Error and Y + Error
}

// ErrEmpty says that there is nothing to draw.
var ErrEmpty = errors.New("nothing to draw")

// The measures of a drawing.
const (
	margin      = 28.0
	frameWidth  = 640.0
	frameHeight = 480.0
	labelGap    = 17.0 // between the labels of lines
	labelAway   = 26.0 // from the frame
	labelIn     = 28.0 // from where they begin, for a sample of the line
	radius      = 4.5  // of markers
	normal      = 13.0
	small       = 11.0
	large       = 18.0
)

// xy is a place on the drawing, from its upper left corner.
type xy struct{ x, y float64 }

// element is a line, an area or a text: all that a drawing is made of.
type element struct {
	class  string // what it is, which decides its colour
	points []xy
	filled bool
	width  float64 // of the line
	dashes []float64
	text   string
	size   float64 // of the text
	anchor float64 // what part of the text is before its place: 0, 0.5 or 1
	bold   bool
	halo   bool    // keep a line of the paper around
	faint  float64 // opacity; 0 is 1
}

// drawing is a chart that is laid out.
type drawing struct {
	*Chart
	width, height   float64
	left, top       float64 // of the frame
	x, y            scale
	elements, above []element // above: drawn last
	labels          []label
	exits           int // how many lines have left through the top
}

// label is the name of a line, beside the frame.
type label struct {
	text string
	look int
	line Line
	mark bool
	end  xy
	y    float64 // where it stands
}

// layOut makes the elements of a drawing.
func (c *Chart) layOut() (*drawing, error) {
	d := &drawing{Chart: c}
	var err error
	if d.x, err = c.X.scale(c.values(func(p Point) []float64 { return []float64{p.X} })); err != nil {
		return nil, err
	}
	if d.y, err = c.Y.scale(c.values(func(p Point) []float64 { return []float64{p.Y, p.Y - p.Error, p.Y + p.Error} })); err != nil {
		return nil, err
	}
	yNames := 0.0
	for _, t := range d.y.ticks {
		yNames = max(yNames, textWidth(t.name, small))
	}
	d.left = margin + yNames + 14
	d.width = max(d.left+frameWidth, margin+1.1*textWidth(c.Title, large)) + margin
	for _, s := range c.Series {
		d.width = max(d.width, d.left+frameWidth+labelAway+labelIn+textWidth(s.Name, normal)+margin)
	}
	lines := wrap(c.Subtitle, normal, d.width-2*margin)
	d.top = 44 + 19*float64(len(lines)) + 34
	d.x.from, d.x.to = d.left, d.left+frameWidth
	d.y.from, d.y.to = d.top+frameHeight, d.top

	d.axes()
	d.series()
	d.placeLabels()
	notes := wrap(c.Notes, small, d.width-2*margin)
	notesTop := d.top + frameHeight + 68
	d.height = notesTop + 15*float64(len(notes)) + 8

	d.add(element{class: "ink", text: c.Title, size: large, bold: true, points: []xy{{margin, 40}}})
	for i, line := range lines {
		d.add(element{class: "muted", text: line, size: normal, points: []xy{{margin, 62 + 19*float64(i)}}})
	}
	d.add(element{class: "ink", text: c.Y.Name, size: normal, bold: true, points: []xy{{margin, d.top - 14}}})
	d.add(element{class: "ink", text: c.X.Name, size: normal, bold: true, anchor: 1, points: []xy{{d.left + frameWidth, d.top + frameHeight + 42}}})
	for i, line := range notes {
		d.add(element{class: "muted", text: line, size: small, points: []xy{{margin, notesTop + 15*float64(i)}}})
	}
	d.elements = append(d.elements, d.above...)
	return d, nil
}

func (d *drawing) add(e element) { d.elements = append(d.elements, e) }

// values are those that a scale must show: of limits only what is not far away from the others.
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

// near is how many times as much as everything else a limit may be to be shown in full.
const near = 4

// axes draws the frame, with a faint line at each tick.
func (d *drawing) axes() {
	bottom, right := d.top+frameHeight, d.left+frameWidth
	ticks, every := d.x.ticks, d.every()
	for i, t := range ticks {
		x := d.x.at(t.value)
		d.add(element{class: "grid", width: 1, points: []xy{{x, d.top}, {x, bottom}}})
		if (len(ticks)-1-i)%every == 0 {
			d.add(element{class: "axis", width: 1, points: []xy{{x, bottom}, {x, bottom + 5}}})
			d.add(element{class: "muted", text: t.name, size: small, anchor: 0.5, points: []xy{{x, bottom + 19}}})
		}
	}
	free := math.Inf(1)
	for _, t := range d.y.ticks {
		y := d.y.at(t.value)
		d.add(element{class: "grid", width: 1, points: []xy{{d.left, y}, {right, y}}})
		if t.name != "" && y < free {
			free = y - 15
			d.add(element{class: "muted", text: t.name, size: small, anchor: 1, points: []xy{{d.left - 9, y + 4}}})
		}
	}
	d.add(element{class: "axis", width: 1, points: []xy{{d.left, bottom}, {right, bottom}}})
}

// every says which ticks have a name, counted from the last one: all, or as many as there is room for.
func (d *drawing) every() int {
	ticks := d.x.ticks
	for every := 1; ; every++ {
		free, fits := math.Inf(1), true
		for i := len(ticks) - 1; i >= 0; i -= every {
			x, half := d.x.at(ticks[i].value), textWidth(ticks[i].name, small)/2
			fits = fits && x+half <= free
			free = x - half - 10
		}
		if fits {
			return every
		}
	}
}

// series draws the lines first, then the markers.
func (d *drawing) series() {
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

func (d *drawing) marker(s Series, p Point) {
	at, ok := d.place(p)
	if !ok {
		return
	}
	class := look(s.Look)
	if low, high := d.y.at(p.Y-p.Error), d.y.at(p.Y+p.Error); low-high > 2*radius+4 {
		low, high = min(low, d.top+frameHeight), max(high, d.top)
		d.add(element{class: class, width: 1.2, points: []xy{{at.x, low}, {at.x, high}}})
		d.add(element{class: class, width: 1.2, points: []xy{{at.x - 3, low}, {at.x + 3, low}}})
		d.add(element{class: class, width: 1.2, points: []xy{{at.x - 3, high}, {at.x + 3, high}}})
	}
	d.elements = append(d.elements, symbol(s.Look, at))
}

// at is where a point is, if it were in the frame.
func (d *drawing) at(p Point) xy { return xy{d.x.at(p.X), d.y.at(p.Y)} }

func finite(at xy) bool { return !math.IsNaN(at.x+at.y) && !math.IsInf(at.x+at.y, 0) }

// place is where a point is, if it is in the frame.
func (d *drawing) place(p Point) (xy, bool) {
	at := d.at(p)
	const slack = 0.5
	return at, finite(at) && at.x >= d.left-slack && at.x <= d.left+frameWidth+slack && at.y >= d.top-slack && at.y <= d.top+frameHeight+slack
}

// line draws the line of a series, as far as it is in the frame, and notes its label.
func (d *drawing) line(s Series) {
	style := element{class: look(s.Look), width: 1.8}
	switch s.Line {
	case Thin:
		style.width, style.faint = 1.2, 0.85
	case Dashed:
		style.width, style.dashes = 1.3, dashes(s.Look)
	}
	var pieces [][]xy
	for i := range s.Points {
		from, to := d.at(s.Points[max(0, i-1)]), d.at(s.Points[i])
		a, b, visible := d.clip(from, to)
		last := len(pieces) - 1
		switch {
		case !finite(from) || !finite(to) || !visible:
		case last >= 0 && pieces[last][len(pieces[last])-1] == a:
			pieces[last] = append(pieces[last], b)
		default:
			pieces = append(pieces, []xy{a, b})
		}
	}
	if len(pieces) == 0 {
		return
	}
	if s.Line != Alone {
		for _, piece := range pieces {
			e := style
			e.points = piece
			d.add(e)
		}
	}
	end := pieces[len(pieces)-1][len(pieces[len(pieces)-1])-1]
	switch {
	case s.Name == "":
	case s.Line == Dashed && end.y <= d.top+0.5 && end.x < d.left+frameWidth-1:
		d.exit(s, end)
	default:
		d.labels = append(d.labels, label{text: s.Name, look: s.Look, line: s.Line, mark: s.Marked, end: end})
	}
}

// exit names a line where it leaves the frame through the top.
func (d *drawing) exit(s Series, end xy) {
	at, anchor := xy{end.x + 7, d.top + 15 + 17*float64(d.exits)}, 0.0
	d.exits++
	if at.x+textWidth(s.Name, small) > d.left+frameWidth {
		at.x, anchor = end.x-7, 1
	}
	d.above = append(d.above, element{class: "ink", text: s.Name, size: small, anchor: anchor, halo: true, points: []xy{at}})
}

// clip is the part of a line from a to b that is in the frame, after Liang and Barsky.
func (d *drawing) clip(a, b xy) (xy, xy, bool) {
	from, to := 0.0, 1.0
	dx, dy := b.x-a.x, b.y-a.y
	for _, edge := range [][2]float64{
		{-dx, a.x - d.left}, {dx, d.left + frameWidth - a.x}, {-dy, a.y - d.top}, {dy, d.top + frameHeight - a.y},
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
		first = xy{a.x + from*dx, a.y + from*dy}
	}
	if to < 1 {
		second = xy{a.x + to*dx, a.y + to*dy}
	}
	return first, second, true
}

// placeLabels stands the names of lines beside the frame, each as near to its line's end as the others let it.
func (d *drawing) placeLabels() {
	slices.SortStableFunc(d.labels, func(a, b label) int {
		switch {
		case a.end.y < b.end.y:
			return -1
		case a.end.y > b.end.y:
			return 1
		}
		return 0
	})
	wanted := make([]float64, len(d.labels))
	for i := range d.labels {
		wanted[i] = d.labels[i].end.y
	}
	for i, y := range apart(wanted, labelGap, d.top+6, d.top+frameHeight) {
		l := &d.labels[i]
		l.y = y
		edge, class := d.left+frameWidth, look(l.look)
		if math.Abs(l.end.x-edge) > 1 || math.Abs(l.end.y-y) > 3 {
			d.add(element{class: class, width: 0.8, faint: 0.5, points: []xy{l.end, {edge + labelAway - 6, y}}})
		}
		sample := element{class: class, width: 1.8, points: []xy{{edge + labelAway, y}, {edge + labelAway + 22, y}}}
		switch l.line {
		case Thin:
			sample.width = 1.2
		case Dashed:
			sample.width, sample.dashes = 1.3, dashes(l.look)
		}
		if l.line != Alone {
			d.add(sample)
		}
		if l.mark {
			d.add(symbol(l.look, xy{edge + labelAway + 11, y}))
		}
		size := normal
		if l.line == Dashed {
			size = small
		}
		d.add(element{class: "ink", text: l.text, size: size, points: []xy{{edge + labelAway + labelIn, y + 4.5}}})
	}
}

// apart moves sorted places apart, no more than it must, so that they keep a gap and stay between two limits if they
// can: those that would touch become a group around the middle of where they wanted to be.
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

func look(i int) string { return fmt.Sprintf("look-%d", i%len(looks)) }
