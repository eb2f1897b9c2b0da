package chart

import (
	"math"

	"ringleader.example/ringleader/drawing"
)

// dashes returns the dashes of a look.
func dashes(look int) []float64 {
	patterns := [][]float64{{8, 4}, {3, 3}, {10, 3, 2, 3}, {5, 2}, {14, 4}, {10, 3, 2, 3, 2, 3}, {1.5, 4}}
	return patterns[look%len(patterns)]
}

// symbol is the marker of a look.
func symbol(i int, at drawing.Point) drawing.Element {
	var corners []drawing.Point
	switch i % 8 {
	case 0: // circle
		corners = drawing.Polygon(at, radius, 24, 0)
	case 1: // square
		corners = drawing.Polygon(at, radius*1.25, 4, math.Pi/4)
	case 2: // triangle
		corners = drawing.Polygon(at, radius*1.35, 3, -math.Pi/2)
	case 3: // diamond
		corners = drawing.Polygon(at, radius*1.35, 4, 0)
	case 4: // triangle, upside down
		corners = drawing.Polygon(at, radius*1.35, 3, math.Pi/2)
	case 5: // star
		corners = drawing.Star(at, radius*1.5, radius*0.62, 5)
	case 6: // hexagon
		corners = drawing.Polygon(at, radius*1.15, 6, 0)
	case 7: // cross
		corners = drawing.Star(at, radius*1.5, radius*0.5, 4)
	}
	return drawing.Element{Fill: look(i), Stroke: drawing.Paper, Width: 1, Path: drawing.Area(corners...)}
}
