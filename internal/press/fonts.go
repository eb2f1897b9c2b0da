package press

import (
	"sync"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
)

// The fonts. DejaVu has all symbols of formulas. It is wider than browsers' fonts for SVG, so a text that fits in
// DejaVu fits there.
var fonts = sync.OnceValue(func() (parsed [2]*opentype.Font) {
	for i, ttf := range [][]byte{dejavusans.TTF, dejavusansbold.TTF} {
		f, err := opentype.Parse(ttf)
		if err != nil {
			panic(err) // they are part of the program
		}
		parsed[i] = f
	}
	return parsed
})

// face returns a font at a size in pixels.
func face(size float64, bold bool) font.Face {
	f := fonts()[0]
	if bold {
		f = fonts()[1]
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic(err) // as above
	}
	return face
}

// TextWidth returns the width of a text in pixels.
func TextWidth(text string, size float64) float64 {
	f := face(size, false)
	defer f.Close()
	return float64(font.MeasureString(f, text)) / 64
}
