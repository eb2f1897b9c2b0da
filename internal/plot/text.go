package plot

import (
	"strings"
	"sync"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
)

// The fonts of a PNG. DejaVu has all signs that formulas need, and is wider than what browsers show an SVG in, so
// that a text that fits in it fits.
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

// face is a font at a size in pixels.
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

// textWidth is how wide a text is.
func textWidth(text string, size float64) float64 {
	f := face(size, false)
	defer f.Close()
	return float64(font.MeasureString(f, text)) / 64
}

// wrap breaks a text into lines between words.
func wrap(text string, size, width float64) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && textWidth(lines[last]+" "+word, size) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
