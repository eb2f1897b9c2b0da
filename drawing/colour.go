package drawing

import "fmt"

// Colour is a colour by its role in a drawing, for light and dark paper.
type Colour struct{ Name, Light, Dark string }

// The colours of what all drawings have.
var (
	Paper = Colour{"paper", "#ffffff", "#16181c"}
	Ink   = Colour{"ink", "#1b1b1b", "#e8e8e8"}
	Muted = Colour{"muted", "#5f5f5f", "#a6a6a6"}
	Grid  = Colour{"grid", "#ececec", "#2a2d33"}
	Axis  = Colour{"axis", "#999999", "#777777"}
)

// Looks are the colours of different things, after Okabe and Ito: colour-blind readers can distinguish them. Shapes,
// dashes or widths must differ, too, because a print may be grey.
var Looks = looks(
	[2]string{"#0072b2", "#56b4e9"},
	[2]string{"#d55e00", "#ff9248"},
	[2]string{"#009e73", "#2fc598"},
	[2]string{"#b0528c", "#e59ac4"},
	[2]string{"#1b1b1b", "#e8e8e8"},
	[2]string{"#a87400", "#f0d442"},
	[2]string{"#4a9ad4", "#8f9bff"},
)

func looks(pairs ...[2]string) (looks []Colour) {
	for i, pair := range pairs {
		looks = append(looks, Colour{fmt.Sprintf("look-%d", i), pair[0], pair[1]})
	}
	return looks
}
