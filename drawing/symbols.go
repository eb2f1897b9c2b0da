package trace

import (
	"slices"

	"ringleader.example/ringleader/internal/show/sheet"
)

// The colours of classes of messages differ in grey, too; so do their heads.
var (
	blue     = sheet.Colour{Name: "election", Light: "#0062a3", Dark: "#5bb8f0"}
	orange   = sheet.Colour{Name: "announcement", Light: "#dd6a00", Dark: "#f0a030"}
	green    = sheet.Colour{Name: "overhead", Light: "#009e73", Dark: "#2fb58c"}
	yellow   = sheet.Colour{Name: "star", Light: "#f0e442", Dark: "#f0e442"}
	onYellow = sheet.Colour{Name: "on-star", Light: "#1b1b1b", Dark: "#1b1b1b"}
	grey     = sheet.Colour{Name: "alive", Light: "#8c8c8c", Dark: "#8c8c8c"}
	pale     = sheet.Colour{Name: "pale", Light: "#cfcfcf", Dark: "#484c54"}
	shaded   = sheet.Colour{Name: "shade", Light: "#f2eadb", Dark: "#352c1e"}
	band     = sheet.Colour{Name: "band", Light: "#ddcca6", Dark: "#5c4a26"}
	edge     = sheet.Colour{Name: "edge", Light: "#8a7a58", Dark: "#a5916a"}
)

// look is the style of arrows of a class of messages.
type look struct {
	colour sheet.Colour
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

// dashes returns the dashes of each kind: the first of its class is solid, the second dashed, the third dotted, and
// then a
// dash is followed by one dot, two dots, and so on. Overhead begins with dots.
func (r *Record) dashes() [][]float64 {
	within := map[string]int{}
	patterns := make([][]float64, len(r.Kinds))
	for i, k := range r.Kinds {
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

func at(x, y float64) point { return sheet.At(x, y) }

func hollow(width float64, path []sheet.Move) sheet.Element {
	return sheet.Element{Fill: sheet.Paper, Stroke: sheet.Ink, Width: width, Path: path}
}

func solid(path []sheet.Move) sheet.Element { return sheet.Element{Fill: sheet.Ink, Path: path} }

// strokes are lines, each through its points.
func strokes(width float64, lines ...[]point) sheet.Element {
	e := sheet.Element{Stroke: sheet.Ink, Width: width}
	for _, points := range lines {
		e.Path = append(e.Path, sheet.Lines(points...)...)
	}
	return e
}

func crossed(reach float64) [][]point {
	return [][]point{{at(-reach, -reach), at(reach, reach)}, {at(reach, -reach), at(-reach, reach)}}
}

func diamond(inside ...sheet.Element) []sheet.Element {
	return append([]sheet.Element{hollow(1.6, sheet.Area(at(0, -8.5), at(8.5, 0), at(0, 8.5), at(-8.5, 0)))}, inside...)
}

// symbols are the marks of events and decisions by their names, and the heads of arrows.
var symbols = []sheet.Symbol{
	{Name: string(Start), Shape: []sheet.Element{solid(sheet.Circle(at(0, 0), 4.5))}},
	{Name: string(Receive), Shape: []sheet.Element{{Fill: sheet.Muted, Path: sheet.Circle(at(0, 0), 2.2)}}},
	{Name: string(Timeout), Shape: []sheet.Element{
		hollow(1.6, sheet.Circle(at(0, 0), 6.5)), strokes(1.6, []point{at(0, -4), at(0, 0), at(3, 0)}),
	}},
	{Name: string(Crash), Shape: []sheet.Element{strokes(3, crossed(6)...)}},
	{Name: string(Recover), Shape: []sheet.Element{solid(sheet.Area(at(-4, -6.5), at(7, 0), at(-4, 6.5)))}},
	{Name: string(Suspect), Shape: diamond(
		sheet.Element{Stroke: sheet.Ink, Width: 1.6, Path: []sheet.Move{
			{Op: sheet.Start, To: at(-2.2, -1.8)},
			{Op: sheet.Curve, Bend: at(-2.2, -4.4), To: at(0, -4.4)},
			{Op: sheet.Curve, Bend: at(2.2, -4.4), To: at(2.2, -2.2)},
			{Op: sheet.Curve, Bend: at(2.2, -0.5), To: at(0, 0.2)},
			{Op: sheet.Line, To: at(0, 1.6)},
		}},
		strokes(1.6, []point{at(0, 3), at(0, 4.6)}),
	)},
	{Name: string(Trust), Shape: diamond(strokes(1.6, []point{at(-3, 0), at(-1, 2.5), at(3, -2.5)}))},
	{Name: string(Command), Shape: []sheet.Element{
		hollow(1.6, sheet.Rectangle(-6, -6, 6, 6)), strokes(1.6, []point{at(-2.5, -3), at(1.5, 0), at(-2.5, 3)}),
	}},
	{Name: "leader", Shape: []sheet.Element{
		{Fill: yellow, Stroke: sheet.Ink, Width: 1.2, Path: sheet.Area(sheet.Star(at(0, 0), 9.5, 4, 5)...)},
	}},
	{Name: "follower", Shape: []sheet.Element{hollow(1.6, sheet.Circle(at(0, 0), 4.5))}},
	{Name: "undecided", Shape: []sheet.Element{hollow(1.6, sheet.Rectangle(-4.5, -4.5, 4.5, 4.5))}},
	{Name: "lost", Shape: []sheet.Element{strokes(1.6, crossed(4)...)}},
	{Name: "under-way", Shape: []sheet.Element{
		strokes(1.6, []point{at(-5, -4), at(0, 0), at(-5, 4)}, []point{at(-1, -4), at(4, 0), at(-1, 4)}),
	}},
	{Name: "election", Shape: []sheet.Element{{Fill: blue, Path: sheet.Area(at(-10, -4), at(0, 0), at(-10, 4))}}},
	{Name: "announcement", Shape: []sheet.Element{
		{Fill: sheet.Paper, Stroke: orange, Width: 1.6, Path: sheet.Area(at(-10, -4.5), at(-1, 0), at(-10, 4.5))},
	}},
	{Name: "overhead", Shape: []sheet.Element{{Stroke: green, Width: 1.4, Path: sheet.Lines(at(-7, -4), at(0, 0), at(-7, 4))}}},
}
