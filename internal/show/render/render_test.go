package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"ringleader.example/ringleader/drawing"
)

// sample is a drawing with everything in it.
func sample() *drawing.Drawing {
	return &drawing.Drawing{
		Width: 200, Height: 100, Title: "a < b", Description: "notes & more",
		Symbols: []drawing.Symbol{{Name: "dot", Shape: []drawing.Element{{Fill: drawing.Looks[2], Path: drawing.Circle(drawing.At(0, 0), 4)}}}},
		Elements: []drawing.Element{
			{Fill: drawing.Looks[0], Stroke: drawing.Ink, Width: 2, Path: drawing.Rectangle(10, 10, 40, 40)},
			{Stroke: drawing.Looks[1], Width: 3, Dashes: []float64{6, 4}, Head: "dot", Path: drawing.Lines(drawing.At(50, 20), drawing.At(90, 20))},
			{Stroke: drawing.Ink, Width: 1, Faint: 0.5, Path: []drawing.Move{
				{Op: drawing.Start, To: drawing.At(50, 60)}, {Op: drawing.Curve, Bend: drawing.At(70, 20), To: drawing.At(90, 60)},
			}},
			{Symbol: "dot", At: drawing.At(120, 30), Scale: 2, About: "a & b"},
			{Fill: drawing.Ink, Text: "⌈lg n⌉ ≤ n²", Size: drawing.Small, Above: true, Anchor: 0.5, At: drawing.At(100, 80)},
			{Fill: drawing.Muted, Text: "bold", Size: drawing.Large, Bold: true, At: drawing.At(150, 60)},
		},
	}
}

func print(t *testing.T, s *drawing.Drawing, ending string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s, ending); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheSameDrawingIsTheSameBytes(t *testing.T) {
	for _, ending := range Formats {
		if !bytes.Equal(print(t, sample(), ending), print(t, sample(), ending)) {
			t.Errorf("%s differs", ending)
		}
	}
}

func TestAnUnknownEndingIsRefused(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, sample(), "jpg"); err == nil || !strings.Contains(err.Error(), `"jpg", only as svg, png, pdf`) || b.Len() > 0 {
		t.Errorf("%v, and %d bytes", err, b.Len())
	}
}

func TestAnSVGIsXMLWithAllTexts(t *testing.T) {
	texts := ""
	for d := xml.NewDecoder(bytes.NewReader(print(t, sample(), "svg"))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts += string(text)
		}
	}
	for _, want := range []string{"a < b", "notes & more", "a & b", "⌈lg n⌉ ≤ n²", "bold", "prefers-color-scheme: dark"} {
		if !strings.Contains(texts, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func picture(t *testing.T, s *drawing.Drawing) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(print(t, s, "png")))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// Places are twice as far on the picture: a pixel of the paper, of an area, of its edge, of a line, of the head at its
// end, and of a symbol that is twice as large.
func TestAPNGShowsEachElementAtItsPlace(t *testing.T) {
	picture := picture(t, sample())
	for at, want := range map[image.Point][3]uint32{
		{0, 0}: {0xff, 0xff, 0xff}, {50, 50}: {0x00, 0x72, 0xb2}, {20, 50}: {0x1b, 0x1b, 0x1b}, {104, 40}: {0xd5, 0x5e, 0x00},
		{104, 38}: {0xd5, 0x5e, 0x00}, {184, 40}: {0x00, 0x9e, 0x73}, {252, 60}: {0x00, 0x9e, 0x73}, {260, 60}: {0xff, 0xff, 0xff},
	} {
		if r, g, b, _ := picture.At(at.X, at.Y).RGBA(); [3]uint32{r >> 8, g >> 8, b >> 8} != want {
			t.Errorf("at %v: %x %x %x, want %x", at, r>>8, g>>8, b>>8, want)
		}
	}
}

func TestNoSideOfAPNGIsLongerThan2000Pixels(t *testing.T) {
	for _, c := range [][4]float64{{200, 100, 400, 200}, {1000, 500, 2000, 1000}, {960, 1600, 1200, 2000}} {
		size := picture(t, &drawing.Drawing{Width: c[0], Height: c[1]}).Bounds().Max
		if size != (image.Point{int(c[2]), int(c[3])}) {
			t.Errorf("%v × %v takes %v, want %v × %v", c[0], c[1], size, c[2], c[3])
		}
	}
}

func TestAPDFIsAPageOfItsSizeWithItsFonts(t *testing.T) {
	pdf := print(t, sample(), "pdf")
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(pdf), []byte("%%EOF")) {
		t.Error("it is no PDF")
	}
	for _, want := range []string{"[0 0 200.00 100.00]", "/Count 1\n", "dejavu", "/FontFile2", "/CreationDate (D:19700101", "/ModDate (D:19700101"} {
		if !bytes.Contains(bytes.ToLower(pdf), bytes.ToLower([]byte(want))) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(pdf) > 100_000 {
		t.Errorf("%d bytes: whole fonts are embedded, not what the texts need", len(pdf))
	}
}

// The digest is that of DejaVuSans.ttf of DejaVu 2.37, whose terms let it be passed on as it is.
func TestTheFontIsThatOfItsAuthors(t *testing.T) {
	const want = "7da195a74c55bef988d0d48f9508bd5d849425c1770dba5d7bfc6ce9ed848954"
	if got := fmt.Sprintf("%x", sha256.Sum256(unpacked())); got != want {
		t.Errorf("it has the digest %s", got)
	}
}

func TestEverySignHasAGlyph(t *testing.T) {
	for _, sign := range "⌈⌉⌊⌋Σ·²≤±√εφ…–−⁻⁰¹²³⁴⁵⁶⁷⁸⁹→\u2009" {
		if glyph, err := dejavu().GlyphIndex(nil, sign); err != nil || glyph == 0 {
			t.Errorf("none for %q: %v", sign, err)
		}
	}
}
