package drawing

import (
	"slices"
	"strings"

	"ringleader.example/ringleader/trace"
)

// label is a text with its middle.
type label struct {
	text  string
	class string // label, of an arrow, or drawn, of a step
	at    Point
	plain bool // it names a kind only
}

// placeLabels puts labels on arrows. No label touches another, a mark or another arrow; labels without room are left out.
func (d *diagram) placeLabels() {
	if !d.labelling {
		return
	}
	var taken []box
	for _, m := range d.marks {
		if m.symbol != string(trace.Receive) {
			taken = append(taken, around(Point{X: m.x, Y: d.y(m.line)}, 2*markRadius, 2*markRadius))
		}
	}
	for i := range d.shades {
		if s := &d.shades[i]; s.line >= 0 {
			x, width := d.nameOf(s)
			taken = append(taken, around(Point{X: x + width/2, Y: d.y(s.line) - 17}, width, Small+2))
		}
	}
	for line := range d.lines {
		taken = append(taken, box{Point{X: 0, Y: d.y(line) - 2}, Point{X: d.end, Y: d.y(line) + 2}})
	}
	taken = d.labelDraws(taken)
	for i := range d.arrows {
		a := &d.arrows[i]
		if a.startRow == a.endRow {
			continue
		}
		text := strings.TrimSuffix(a.sent.Kind+" "+a.sent.Text, " ") // no sentence is around it, and room is rare
		for _, t := range []float64{0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82} {
			at := Point{X: along(a.start.X, a.end.X, t), Y: along(a.start.Y, a.end.Y, t)}
			b := around(at, TextWidth(text, Small)+4, Small+3)
			if !slices.ContainsFunc(taken, b.overlaps) && !d.crossed(b, i) {
				d.labels = append(d.labels, label{text, "label", at, a.sent.Text == ""})
				taken = append(taken, b)
				break
			}
		}
	}
	d.dropPlainLabels()
}

// labelDraws writes random choices beside their steps, where there is room, and returns the taken places.
func (d *diagram) labelDraws(taken []box) []box {
	for i := d.first; i < d.past; i++ {
		s := &d.r.Steps[i]
		if len(s.Drew) == 0 {
			continue
		}
		text := "drew " + s.DrawnText()
		width := TextWidth(text, Small) + 4
		for _, side := range [][2]float64{{0.5, -1}, {0.5, 1}, {-0.5, -1}, {-0.5, 1}} {
			b := around(Point{X: d.at(i) + float64(side[0]*width), Y: d.y(s.Process) + float64(side[1]*(markRadius+9))}, width, Small+3)
			if b.a.X > d.left && !slices.ContainsFunc(taken, b.overlaps) && !d.crossed(b, -1) {
				d.labels = append(d.labels, label{text: text, class: "drawn", at: Point{X: (b.a.X + b.b.X) / 2, Y: (b.a.Y + b.b.Y) / 2}})
				taken = append(taken, b)
				break
			}
		}
	}
	return taken
}

// dropPlainLabels removes labels that add nothing to the legend, unless every arrow of their kind has one.
func (d *diagram) dropPlainLabels() {
	missing := map[string]int{}
	for i := range d.arrows {
		if m := &d.arrows[i].sent; m.Text == "" {
			missing[m.Kind]++
		}
	}
	for _, l := range d.labels {
		missing[l.text]--
	}
	d.labels = slices.DeleteFunc(d.labels, func(l label) bool { return l.plain && missing[l.text] > 0 })
}

// crossed reports whether any arrow but one touches the box.
func (d *diagram) crossed(b box, but int) bool {
	for i := range d.arrows {
		a := &d.arrows[i]
		if a.end.X < b.a.X || a.start.X > b.b.X { // nearly all, in a long drawing
			continue
		}
		if i != but && b.touches(a.start, a.end) {
			return true
		}
	}
	return false
}

func along(from, to, t float64) float64 { return from + float64(t*(to-from)) }

// box is a rectangle, from its corner towards 0 to the other.
type box struct{ a, b Point }

func around(middle Point, width, height float64) box {
	return box{Point{X: middle.X - width/2, Y: middle.Y - height/2}, Point{X: middle.X + width/2, Y: middle.Y + height/2}}
}

func (b box) overlaps(c box) bool {
	return b.a.X < c.b.X && c.a.X < b.b.X && b.a.Y < c.b.Y && c.a.Y < b.b.Y
}

// touches reports whether a straight line from p to q meets the box, by Liang and Barsky's clipping.
func (b box) touches(p, q Point) bool {
	from, to := 0.0, 1.0
	for _, side := range [][3]float64{ // the coordinate, its change, and the limit that it must stay below
		{-p.X, p.X - q.X, -b.a.X},
		{p.X, q.X - p.X, b.b.X},
		{-p.Y, p.Y - q.Y, -b.a.Y},
		{p.Y, q.Y - p.Y, b.b.Y},
	} {
		room, change := side[2]-side[0], side[1]
		switch {
		case change == 0 && room < 0:
			return false
		case change > 0:
			to = min(to, room/change)
		case change < 0:
			from = max(from, room/change)
		}
	}
	return from <= to
}
