package chart

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/internal/core/property"
)

// sample is a chart with everything in it.
func sample() *Chart {
	c := &Chart{
		Title: "a < b", Subtitle: strings.Repeat("words ", 60), Notes: "notes & more",
		X: Axis{Name: "n", Log: true, Ticks: []float64{1, 10, 100}}, Y: Axis{Name: "messages", Log: true},
	}
	for i, line := range []Line{Joined, Thin, Dashed, Alone} {
		s := Series{Name: "⌈lg n⌉ ≤ n²", Look: i, Line: line, Marked: line == Joined || line == Alone}
		for _, x := range []float64{1, 10, 100} {
			s.Points = append(s.Points, Point{X: x, Y: math.Pow(x, float64(i+1)), Error: x / 2})
		}
		c.Series = append(c.Series, s)
	}
	return c
}

func TestAChartHasAllItsNames(t *testing.T) {
	drawn, err := sample().Drawing()
	if err != nil {
		t.Fatal(err)
	}
	texts := ""
	for _, e := range drawn.Elements {
		texts += e.Text + "\n"
	}
	for _, want := range []string{"a < b", "notes & more", "messages", "⌈lg n⌉ ≤ n²"} {
		if !strings.Contains(texts, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestNothingIsDrawnOfNothing(t *testing.T) {
	for _, points := range [][]Point{nil, {{X: 0, Y: 1}}, {{X: 1, Y: math.Inf(1)}}, {{X: math.NaN(), Y: 1}}} {
		c := &Chart{X: Axis{Log: true}, Y: Axis{Log: true}, Series: []Series{{Points: points}}}
		if _, err := c.Drawing(); !errors.Is(err, ErrEmpty) {
			t.Errorf("%v: %v", points, err)
		}
	}
}

func TestLinesStayInTheFrame(t *testing.T) {
	property.Check(t, func(t *property.T) {
		number := property.Float64Range(-1e6, 1e9)
		s := Series{Name: "s", Look: 2, Line: Line(property.IntRange(0, 3).Draw(t, "line")), Marked: property.Bool().Draw(t, "marked")}
		for range property.IntRange(1, 8).Draw(t, "points") {
			s.Points = append(s.Points, Point{X: number.Draw(t, "x"), Y: number.Draw(t, "y")})
		}
		c := &Chart{X: Axis{Name: "x", Log: property.Bool().Draw(t, "log x")}, Y: Axis{Name: "y", Log: property.Bool().Draw(t, "log y")}, Series: []Series{s}}
		d, err := c.layOut()
		if errors.Is(err, ErrEmpty) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range d.Elements {
			for _, p := range append(e.Path, drawing.Move{To: e.At}) {
				if p.Op != drawing.Close && !(p.To.X >= 0 && p.To.Y >= 0 && p.To.X <= d.Width && p.To.Y <= d.Height) {
					t.Fatalf("%+v is outside of %v × %v", e, d.Width, d.Height)
				}
			}
		}
	})
}

func TestLabelsKeepApartAndInOrder(t *testing.T) {
	property.Check(t, func(t *property.T) {
		wanted := property.SliceOfN(property.Float64Range(0, 400), 1, 20).Draw(t, "wanted")
		slices.Sort(wanted)
		places := apart(wanted, 20, 0, 400)
		for i, y := range places {
			if i > 0 && y-places[i-1] < 20-1e-6 {
				t.Fatalf("%v and %v", places[i-1], y)
			}
			if y < -1e-6 || y > 400+1e-6 {
				t.Fatalf("%v is outside", y)
			}
		}
	})
	if got := apart([]float64{10, 100, 300}, 20, 0, 400); !slices.Equal(got, []float64{10, 100, 300}) {
		t.Errorf("moved without need: %v", got)
	}
}

func TestThreeTicksOrMoreOnEveryLogarithmicAxis(t *testing.T) {
	for _, values := range [][]float64{
		{785, 2943}, {512, 1421}, {1100, 1300}, {1, 9}, {3, 3}, {0.002, 0.003}, {1, 1e6}, {2e9, 3e9}, {1, 1e80},
	} {
		s, err := (&Axis{Log: true}).scale(values)
		if err != nil || len(s.ticks) < 3 || len(s.ticks) > 12 {
			t.Errorf("%v: %d ticks: %v (%v)", values, len(s.ticks), s.ticks, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 10: "10", 10_000: "10\u2009000", 100_000: "10⁵", 1e14: "10¹⁴", 0.5: "0.5", -1500: "−1\u2009500",
		1_048_576: "1\u2009048\u2009576", 0.001: "0.001", 5e9: "5·10⁹", 1e-5: "10⁻⁵",
	} {
		if got := number(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}
