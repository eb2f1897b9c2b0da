package render

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"ringleader.example/ringleader/drawing"
)

// The times of frames, in hundredths of a second: a film takes about filmTime, if its frames are not shown for longer or shorter
// than these times then. The last frame stays.
const (
	filmTime      = 4000
	longestFrame  = 100
	shortestFrame = 25
	lastFrame     = 300
)

// GIF writes drawings of one size as an animation that repeats for ever. It goes through them twice.
func GIF(w io.Writer, frames iter.Seq[*drawing.Drawing]) error {
	colours, film := paletteOf(frames), &gif.GIF{}
	numbers := map[color.RGBA]uint8{}
	var before *image.Paletted
	for s := range frames {
		now := reduced(paint(s, 1).Image(), colours, numbers)
		part := now.Bounds()
		if before != nil {
			part = changed(before, now)
		}
		film.Image, film.Disposal = append(film.Image, now.SubImage(part).(*image.Paletted)), append(film.Disposal, gif.DisposalNone)
		before = now
	}
	each := max(shortestFrame, min(longestFrame, filmTime/max(1, len(film.Image))))
	film.Delay = slices.Repeat([]int{each}, len(film.Image))
	if last := len(film.Delay) - 1; last >= 0 {
		film.Delay[last] = lastFrame
	}
	return gif.EncodeAll(w, film)
}

// paletteOf returns the colours of drawings, and mixtures of each with the paper, as the edges of letters and lines have them.
func paletteOf(frames iter.Seq[*drawing.Drawing]) color.Palette {
	var colours []string
	for s := range frames {
		for e := range s.Plain() {
			for _, c := range []drawing.Colour{e.Fill, e.Stroke} {
				if c.Name != "" && c != drawing.Paper && !slices.Contains(colours, c.Light) {
					colours = append(colours, c.Light)
				}
			}
		}
	}
	paper := rgba(drawing.Paper.Light)
	all := color.Palette{paper}
	const most = 1 << 8
	for levels, i := min(32, (most-1)/max(1, len(colours))), 0; i < len(colours) && levels > 0; i++ {
		c := rgba(colours[i])
		for level := 1; level <= levels; level++ {
			mix := func(from, to uint8) uint8 {
				return uint8(math.Round(float64(from) + float64((float64(to)-float64(from))*float64(level)/float64(levels))))
			}
			all = append(all, color.RGBA{mix(paper.R, c.R), mix(paper.G, c.G), mix(paper.B, c.B), 255})
		}
	}
	return all
}

// rgba returns a colour that is written as #rrggbb.
func rgba(hex string) color.RGBA {
	all, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		panic("render: " + hex + " is no colour")
	}
	return color.RGBA{uint8(all >> 16), uint8(all >> 8), uint8(all), 255}
}

// reduced returns a picture in the colours of a palette. Numbers holds the numbers of colours that were looked up before.
func reduced(picture image.Image, colours color.Palette, numbers map[color.RGBA]uint8) *image.Paletted {
	to, full := image.NewPaletted(picture.Bounds(), colours), picture.(*image.RGBA)
	for i := range to.Pix {
		at := full.Pix[4*i : 4*i+4]
		c := color.RGBA{at[0], at[1], at[2], at[3]}
		number, found := numbers[c]
		if !found {
			number = uint8(colours.Index(c))
			numbers[c] = number
		}
		to.Pix[i] = number
	}
	return to
}

// changed returns the part of a picture that differs from the one before; of equal pictures, a pixel.
func changed(before, now *image.Paletted) image.Rectangle {
	part := image.Rectangle{}
	for y := range now.Bounds().Dy() {
		was, is := before.Pix[y*before.Stride:][:now.Stride], now.Pix[y*now.Stride:][:now.Stride]
		if bytes.Equal(was, is) {
			continue
		}
		first := 0
		for was[first] == is[first] {
			first++
		}
		last := len(is) - 1
		for was[last] == is[last] {
			last--
		}
		part = part.Union(image.Rect(first, y, last+1, y+1))
	}
	if part.Empty() {
		return image.Rect(0, 0, 1, 1)
	}
	return part
}
