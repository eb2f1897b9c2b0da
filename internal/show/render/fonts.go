package render

import (
	"compress/flate"
	_ "embed" // the font
	"io"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
)

// packed is the file of the font, made half as large. The folder has its terms, too.
//
//go:embed dejavu/DejaVuSans.ttf.flate
var packed string

// unpacked returns the file of the font.
var unpacked = sync.OnceValue(func() []byte {
	file, err := io.ReadAll(flate.NewReader(strings.NewReader(packed)))
	if err != nil {
		panic(err) // as above
	}
	return file
})

// The font. DejaVu has all symbols of formulas. It is wider than browsers' fonts for SVG, so a text that fits in
// DejaVu fits there. Bold text is the same, thickened: a second font would make the program larger by a thirtieth.
var dejavu = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(unpacked())
	if err != nil {
		panic(err) // as above
	}
	return f
})

// thickness is by how much the strokes of bold text are thicker, as a part of its size.
const thickness = 0.05

// face returns the font at a size in pixels.
func face(size float64) font.Face {
	face, err := opentype.NewFace(dejavu(), &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic(err) // as above
	}
	return face
}

// TextWidth returns the width of a text in pixels.
func TextWidth(text string, size float64) float64 {
	f := face(size)
	defer f.Close()
	return float64(font.MeasureString(f, text)) / 64
}
