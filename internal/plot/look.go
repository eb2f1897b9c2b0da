package plot

import "math"

// colours are what a class looks like, on light and on dark paper.
type colours struct{ light, dark string }

// The series' colours, after Okabe and Ito: told apart by every eye. Eight markers and seven dashes tell more of them
// apart, and without colour.
var looks = []colours{
	{"#0072b2", "#56b4e9"},
	{"#d55e00", "#ff9248"},
	{"#009e73", "#2fc598"},
	{"#b0528c", "#e59ac4"},
	{"#1b1b1b", "#e8e8e8"},
	{"#a87400", "#f0d442"},
	{"#4a9ad4", "#8f9bff"},
}

// classes are all others.
var classes = []struct {
	name string
	colours
}{
	{"paper", colours{"#ffffff", "#16181c"}},
	{"ink", colours{"#1b1b1b", "#e8e8e8"}},
	{"muted", colours{"#666666", "#a0a0a0"}},
	{"grid", colours{"#ececec", "#2a2d33"}},
	{"axis", colours{"#999999", "#777777"}},
}

// dashes are those of a look.
func dashes(look int) []float64 {
	patterns := [][]float64{{8, 4}, {3, 3}, {10, 3, 2, 3}, {5, 2}, {14, 4}, {10, 3, 2, 3, 2, 3}, {1.5, 4}}
	return patterns[look%len(patterns)]
}

// symbol is the marker of a look.
func symbol(i int, at xy) element {
	e := element{class: look(i), width: 1, filled: true}
	switch i % 8 {
	case 0: // circle
		e.points = polygon(at, radius, 24, 0)
	case 1: // square
		e.points = polygon(at, radius*1.25, 4, math.Pi/4)
	case 2: // triangle
		e.points = polygon(at, radius*1.35, 3, -math.Pi/2)
	case 3: // diamond
		e.points = polygon(at, radius*1.35, 4, 0)
	case 4: // triangle, upside down
		e.points = polygon(at, radius*1.35, 3, math.Pi/2)
	case 5: // star
		e.points = star(at, radius*1.5, radius*0.62, 5)
	case 6: // hexagon
		e.points = polygon(at, radius*1.15, 6, 0)
	case 7: // cross
		e.points = star(at, radius*1.5, radius*0.5, 4)
	}
	return e
}

func polygon(at xy, radius float64, corners int, turn float64) (points []xy) {
	for k := range corners {
		angle := turn + 2*math.Pi*float64(k)/float64(corners)
		points = append(points, xy{at.x + radius*math.Cos(angle), at.y + radius*math.Sin(angle)})
	}
	return points
}

func star(at xy, outer, inner float64, tips int) (points []xy) {
	for k := range 2 * tips {
		r := outer
		if k%2 == 1 {
			r = inner
		}
		angle := -math.Pi/2 + math.Pi*float64(k)/float64(tips)
		points = append(points, xy{at.x + r*math.Cos(angle), at.y + r*math.Sin(angle)})
	}
	return points
}
