package render

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"iter"
	"slices"
	"testing"

	"ringleader.example/ringleader/drawing"
)

// film is a drawing on which a text moves, and then does not.
func film() iter.Seq[*drawing.Drawing] {
	return func(yield func(*drawing.Drawing) bool) {
		for _, x := range []float64{20, 60, 100, 100} {
			s := sample()
			s.Add(drawing.Element{Fill: drawing.Looks[3], Text: "here", Size: drawing.Normal, At: drawing.At(x, 50)})
			if !yield(s) {
				return
			}
		}
	}
}

func animation(t *testing.T, frames iter.Seq[*drawing.Drawing]) (*gif.GIF, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := GIF(&b, frames); err != nil {
		t.Fatal(err)
	}
	made := bytes.Clone(b.Bytes())
	g, err := gif.DecodeAll(&b)
	if err != nil {
		t.Fatal(err)
	}
	return g, made
}

// near reports whether two colours look alike.
func near(c, d color.Color) bool {
	apart := func(a, b uint32) bool { return max(a, b)-min(a, b) > 40<<8 }
	r, g, b, _ := c.RGBA()
	s, h, i, _ := d.RGBA()
	return !apart(r, s) && !apart(g, h) && !apart(b, i)
}

func TestAnAnimationShowsEachDrawing(t *testing.T) {
	g, made := animation(t, film())
	if _, again := animation(t, film()); !bytes.Equal(made, again) {
		t.Error("the same drawings are other bytes")
	}
	drawings := slices.Collect(film())
	if len(g.Image) != len(drawings) || g.LoopCount != 0 {
		t.Fatalf("%d frames of %d drawings, repeated %d times", len(g.Image), len(drawings), g.LoopCount)
	}
	screen := image.NewRGBA(g.Image[0].Bounds())
	for i, frame := range g.Image {
		draw.Draw(screen, frame.Bounds(), frame, frame.Bounds().Min, draw.Over)
		want := paint(drawings[i], 1).Image()
		if screen.Bounds() != want.Bounds() {
			t.Fatalf("frame %d is %v, want %v", i, screen.Bounds(), want.Bounds())
		}
		apart := 0
		for y := range screen.Bounds().Dy() {
			for x := range screen.Bounds().Dx() {
				if !near(screen.At(x, y), want.At(x, y)) {
					apart++
				}
			}
		}
		if pixels := screen.Bounds().Dx() * screen.Bounds().Dy(); apart > pixels/200 { // where two colours touch
			t.Errorf("frame %d differs from its drawing in %d of %d pixels", i, apart, pixels)
		}
	}
	if size := g.Image[3].Bounds().Size(); size != image.Pt(1, 1) {
		t.Errorf("a frame without a change has %v pixels", size)
	}
}

func TestFramesAreShownForATimeThatAViewerCanFollow(t *testing.T) {
	for _, test := range []struct{ frames, each int }{{1, 0}, {2, longestFrame}, {100, filmTime / 100}, {300, shortestFrame}} {
		g, _ := animation(t, func(yield func(*drawing.Drawing) bool) {
			for range test.frames {
				if !yield(&drawing.Drawing{Width: 4, Height: 4}) {
					return
				}
			}
		})
		last := len(g.Delay) - 1
		if g.Delay[last] != lastFrame || slices.ContainsFunc(g.Delay[:last], func(delay int) bool { return delay != test.each }) {
			t.Errorf("%d frames: %v", test.frames, g.Delay)
		}
	}
}
