package drawing

import (
	"slices"

	"ringleader.example/ringleader/trace"
)

// The colours of classes of messages differ in grey, too; so do their heads.
var (
	blue     = Colour{Name: "election", Light: "#0062a3", Dark: "#5bb8f0"}
	orange   = Colour{Name: "announcement", Light: "#dd6a00", Dark: "#f0a030"}
	green    = Colour{Name: "overhead", Light: "#009e73", Dark: "#2fb58c"}
	yellow   = Colour{Name: "star", Light: "#f0e442", Dark: "#f0e442"}
	onYellow = Colour{Name: "on-star", Light: "#1b1b1b", Dark: "#1b1b1b"}
	grey     = Colour{Name: "alive", Light: "#8c8c8c", Dark: "#8c8c8c"}
	pale     = Colour{Name: "pale", Light: "#cfcfcf", Dark: "#484c54"}
	shaded   = Colour{Name: "shade", Light: "#f2eadb", Dark: "#352c1e"}
	band     = Colour{Name: "band", Light: "#ddcca6", Dark: "#5c4a26"}
	edge     = Colour{Name: "edge", Light: "#8a7a58", Dark: "#a5916a"}
)

// look is the style of arrows of a class of messages.
type look struct {
	colour Colour
	width  float64
	head   string
	dashes int // which dashes its first kind has
}

func lookOf(class string) look {
	switch class {
	case "election":
		return look{blue, 1.6, "election", 0}
	case "announcement":
		return look{orange, 2.4, "announcement", 0}
	}
	return look{green, 1.2, "overhead", 2}
}

// dashes returns the dashes of each kind: the first of its class is solid, the second dashed, the third dotted, and then a
// dash is followed by one dot, two dots, and so on. Overhead begins with dots.
func (d *diagram) dashes() [][]float64 {
	within := map[string]int{}
	patterns := make([][]float64, len(d.r.Kinds))
	for i, k := range d.r.Kinds {
		switch nth := within[k.Class] + lookOf(k.Class).dashes; nth {
		case 0:
		case 1:
			patterns[i] = []float64{6, 4}
		case 2:
			patterns[i] = []float64{2, 3}
		default:
			patterns[i] = append([]float64{9, 3}, slices.Repeat([]float64{2, 3}, nth-2)...)
		}
		within[k.Class]++
	}
	return patterns
}

func hollow(width float64, path []Move) Element {
	return Element{Fill: Paper, Stroke: Ink, Width: width, Path: path}
}

func solid(path []Move) Element { return Element{Fill: Ink, Path: path} }

// strokes are lines, each through its points.
func strokes(width float64, lines ...[]Point) Element {
	e := Element{Stroke: Ink, Width: width}
	for _, points := range lines {
		e.Path = append(e.Path, Lines(points...)...)
	}
	return e
}

func crossed(reach float64) [][]Point {
	return [][]Point{{At(-reach, -reach), At(reach, reach)}, {At(reach, -reach), At(-reach, reach)}}
}

func diamond(inside ...Element) []Element {
	return append([]Element{hollow(1.6, Area(At(0, -8.5), At(8.5, 0), At(0, 8.5), At(-8.5, 0)))}, inside...)
}

// symbols returns the marks of events and decisions by their names, and the heads of arrows: a table that only drawings need.
func symbols() []Symbol {
	return []Symbol{
		{Name: string(trace.Start), Shape: []Element{solid(Circle(At(0, 0), 4.5))}},
		{Name: string(trace.Receive), Shape: []Element{{Fill: Muted, Path: Circle(At(0, 0), 2.2)}}},
		{Name: string(trace.Timeout), Shape: []Element{
			hollow(1.6, Circle(At(0, 0), 6.5)), strokes(1.6, []Point{At(0, -4), At(0, 0), At(3, 0)}),
		}},
		{Name: string(trace.Crash), Shape: []Element{strokes(3, crossed(6)...)}},
		{Name: string(trace.Recover), Shape: []Element{solid(Area(At(-4, -6.5), At(7, 0), At(-4, 6.5)))}},
		{Name: string(trace.Suspect), Shape: diamond(
			Element{Stroke: Ink, Width: 1.6, Path: []Move{
				{Op: Start, To: At(-2.2, -1.8)},
				{Op: Curve, Bend: At(-2.2, -4.4), To: At(0, -4.4)},
				{Op: Curve, Bend: At(2.2, -4.4), To: At(2.2, -2.2)},
				{Op: Curve, Bend: At(2.2, -0.5), To: At(0, 0.2)},
				{Op: Line, To: At(0, 1.6)},
			}},
			strokes(1.6, []Point{At(0, 3), At(0, 4.6)}),
		)},
		{Name: string(trace.Trust), Shape: diamond(strokes(1.6, []Point{At(-3, 0), At(-1, 2.5), At(3, -2.5)}))},
		{Name: string(trace.Command), Shape: []Element{
			hollow(1.6, Rectangle(-6, -6, 6, 6)), strokes(1.6, []Point{At(-2.5, -3), At(1.5, 0), At(-2.5, 3)}),
		}},
		{Name: "leader", Shape: []Element{
			{Fill: yellow, Stroke: Ink, Width: 1.2, Path: Area(Star(At(0, 0), 9.5, 4, 5)...)},
		}},
		{Name: "follower", Shape: []Element{hollow(1.6, Circle(At(0, 0), 4.5))}},
		{Name: "undecided", Shape: []Element{hollow(1.6, Rectangle(-4.5, -4.5, 4.5, 4.5))}},
		{Name: "lost", Shape: []Element{strokes(1.6, crossed(4)...)}},
		{Name: "under-way", Shape: []Element{
			strokes(1.6, []Point{At(-5, -4), At(0, 0), At(-5, 4)}, []Point{At(-1, -4), At(4, 0), At(-1, 4)}),
		}},
		{Name: "election", Shape: []Element{{Fill: blue, Path: Area(At(-10, -4), At(0, 0), At(-10, 4))}}},
		{Name: "announcement", Shape: []Element{
			{Fill: Paper, Stroke: orange, Width: 1.6, Path: Area(At(-10, -4.5), At(-1, 0), At(-10, 4.5))},
		}},
		{Name: "overhead", Shape: []Element{{Stroke: green, Width: 1.4, Path: Lines(At(-7, -4), At(0, 0), At(-7, 4))}}},
	}
}
