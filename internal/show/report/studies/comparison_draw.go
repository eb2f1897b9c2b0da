package studies

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/chart"
	"ringleader.example/ringleader/internal/show/render"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/experiment"
)

// Drawing holds the options of a comparison's drawing.
type Drawing struct {
	Title      string // "": the algorithms
	Against    string // what messages are drawn over: n or time
	Scale      string // log or linear
	PerProcess bool   // messages are divided by n
}

// words are the flags that change the drawing.
func (o *Drawing) words() (words string) {
	if o.Title != "" {
		words += fmt.Sprintf(" --title %q", o.Title)
	}
	if o.Against != "n" {
		words += " --against " + o.Against
	}
	if o.Scale != "log" {
		words += " --scale " + o.Scale
	}
	if o.PerProcess {
		words += " --per-process"
	}
	return words
}

// Draw returns a function that writes the drawing into a file of that name, in the format of its ending.
func (c *Comparison) Draw(path string, o *Drawing) func(io.Writer) error {
	return func(w io.Writer) error {
		drawn, err := c.chart(o).Drawing()
		if errors.Is(err, chart.ErrEmpty) {
			return report.Failed("%w; there are points, but none with numbers for both axes", chart.ErrEmpty)
		}
		if err != nil {
			return err
		}
		return render.Write(w, drawn, render.Format(path))
	}
}

// chart is the drawing of a comparison.
func (c *Comparison) chart(o *Drawing) *chart.Chart {
	y := "election messages"
	if o.Against == "time" {
		y = "messages, including announcements"
	}
	if o.PerProcess {
		y += " per process"
	}
	log := o.Scale == "log"
	figure := &chart.Chart{
		Title: o.Title,
		Notes: fmt.Sprintf("ringleader %s · %s%s", c.Version, c.Command(), o.words()),
		X:     chart.Axis{Name: "n, processes", Log: log},
		Y:     chart.Axis{Name: y, Log: log},
	}
	if figure.Title == "" {
		var labels []string
		for _, s := range c.Subjects {
			labels = append(labels, s.Label)
		}
		figure.Title = strings.Join(labels, ", ")
		if utf8.RuneCountInString(figure.Title) > 80 {
			figure.Title = fmt.Sprintf("%d algorithms compared", len(labels))
		}
	}
	if o.Against == "time" {
		c.overTime(figure, o)
	} else {
		c.overSize(figure, o)
	}
	return figure
}

// overSize draws what was measured, exact averages and worst cases over n.
func (c *Comparison) overSize(figure *chart.Chart, o *Drawing) {
	for _, n := range c.Sizes {
		figure.X.Ticks = append(figure.X.Ticks, float64(n))
	}
	if !figure.X.Log {
		figure.X.Ticks = nil
	}
	exact := false
	var measured, curves, bounds []chart.Series
	for i, name := range c.Orders {
		for k, s := range c.Subjects {
			series := chart.Series{Name: c.name(s, name), Look: i*len(c.Subjects) + k, Marked: true}
			for _, p := range c.at(s, i) {
				series.Points = append(series.Points, c.spot(p, float64(p.N), "election", o))
			}
			if len(series.Points) == 0 {
				continue
			}
			if average := s.Average(); average != nil && average.Of == "election" && (name == "random" || name == experiment.AllOrders) {
				exact = true
				series.Line = chart.Alone
				curves = append(curves, c.curve(series.Look, chart.Thin, average.Mean, o))
			}
			measured = append(measured, series)
			if i == 0 {
				bounds = append(bounds, c.limits(s, series.Look, o)...)
			}
		}
	}
	bounds = slices.CompactFunc(bounds, func(a, b chart.Series) bool { return slices.Equal(a.Points, b.Points) })
	figure.Series = slices.Concat(bounds, curves, measured)
	notes := []string{"Markers: measured" + c.precision()}
	if exact {
		notes = append(notes, "thin lines: exact averages")
	}
	if len(bounds) > 0 {
		notes = append(notes, "dashed: worst cases")
	}
	figure.Subtitle = strings.Join(notes, " · ") + "."
}

// precision returns a text on the accuracy of the means.
func (c *Comparison) precision() string {
	worst := 0.0
	for _, p := range c.Points {
		if mean, _ := p.Election.Mean().Float64(); p.Sampled() && mean > 0 {
			worst = max(worst, p.Election.HalfWidth()/mean)
		}
	}
	if worst == 0 {
		return ""
	}
	return fmt.Sprintf(", means to ±%.2g %% (95 %%)", 100*worst)
}

// spot is a point of the drawing: so many messages of those that a bound of that name speaks of.
func (c *Comparison) spot(p *experiment.Point, x float64, of string, o *Drawing) chart.Point {
	y, _ := messagesOf(p, of).Float64()
	spot := chart.Point{X: x, Y: y, Error: p.Election.HalfWidth()}
	if o.PerProcess {
		spot.Y /= float64(p.N)
		spot.Error /= float64(p.N)
	}
	return spot
}

// curve is a formula, at all sizes of the study and at some between them.
func (c *Comparison) curve(look int, line chart.Line, value func(uint64) float64, o *Drawing) chart.Series {
	const between = 12 // in each doubling
	sizes := slices.Clone(c.Sizes)
	first, last := float64(sizes[0]), float64(sizes[len(sizes)-1])
	for x := first; x < last; x *= math.Exp2(1.0 / between) {
		sizes = append(sizes, int(x))
	}
	slices.Sort(sizes)
	series := chart.Series{Look: look, Line: line}
	for _, n := range slices.Compact(sizes) {
		y := value(uint64(n))
		if o.PerProcess {
			y /= float64(n)
		}
		series.Points = append(series.Points, chart.Point{X: float64(n), Y: y})
	}
	return series
}

// limits is the worst case of an algorithm, if there is one.
func (c *Comparison) limits(s *experiment.Subject, look int, o *Drawing) []chart.Series {
	b := s.Bound(c.Sizes[len(c.Sizes)-1])
	if b == nil {
		return nil
	}
	series := c.curve(look, chart.Dashed, func(n uint64) float64 {
		if limit := b.Value(n); limit != math.MaxUint64 {
			return float64(limit)
		}
		return math.Inf(1)
	}, o)
	const readable = 30
	series.Name = s.Label + " ≤ " + b.Formula
	if utf8.RuneCountInString(b.Formula) > readable {
		series.Name = s.Label + ", worst case"
	}
	if b.Of == "total" {
		series.Name += ", total messages"
	}
	return []chart.Series{series}
}

// overTime draws messages over time: of one size, a point for each algorithm, where a thin line joins those that differ
// in parameters only; of several, a line for each algorithm.
func (c *Comparison) overTime(figure *chart.Chart, o *Drawing) {
	figure.X.Name = "time until quiescence, units of delay"
	one := len(c.Sizes) == 1
	if one {
		figure.Subtitle = fmt.Sprintf("On the same rings of %s. Lower left is better.", amount.Of(c.Sizes[0], "process"))
	} else {
		figure.Subtitle = fmt.Sprintf("On the same rings, from n = %d to n = %d. Lower left is better.", c.Sizes[0], c.Sizes[len(c.Sizes)-1])
	}
	var missing, protocols []string
	var joined []chart.Series // by protocol
	for i, name := range c.Orders {
		for k, s := range c.Subjects {
			series := chart.Series{Name: c.name(s, name), Look: i*len(c.Subjects) + k, Marked: true}
			for _, p := range c.at(s, i) {
				time := math.Inf(1)
				if p.Quiet != nil {
					time, _ = new(big.Float).SetRat(p.Quiet.Mean()).Float64()
				}
				if math.IsInf(time, 0) {
					missing = append(missing, fmt.Sprintf("%s at n = %d", s.Label, p.N))
					continue
				}
				series.Points = append(series.Points, c.spot(p, time, "total", o))
			}
			if one {
				series.Line = chart.Alone
				protocol := c.name(&experiment.Subject{Label: s.Name}, name)
				at := slices.Index(protocols, protocol)
				if at < 0 {
					at = len(protocols)
					protocols, joined = append(protocols, protocol), append(joined, chart.Series{Look: series.Look, Line: chart.Thin})
				}
				joined[at].Points = append(joined[at].Points, series.Points...)
			}
			figure.Series = append(figure.Series, series)
		}
	}
	for _, line := range joined {
		slices.SortStableFunc(line.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
		figure.Series = append(figure.Series, line)
	}
	if slices.ContainsFunc(joined, func(line chart.Series) bool { return len(line.Points) > 1 }) {
		figure.Subtitle += " Thin lines join parameter values of one protocol."
	}
	if missing != nil {
		figure.Notes = "Not drawn, without a time below 10³⁰⁸: " + strings.Join(missing, ", ") + ". " + figure.Notes
	}
}

// name returns the name of a series.
func (c *Comparison) name(s *experiment.Subject, order string) string {
	name := strings.Replace(s.Label, ":", " ", 1)
	if len(c.Orders) > 1 {
		name += ", " + order
	}
	return name
}

// at are the points of an algorithm at one of the orders; at the first, those where no order means anything, too.
func (c *Comparison) at(s *experiment.Subject, order int) (points []*experiment.Point) {
	for _, p := range c.Points {
		if p.Algorithm == s.Label && (p.Order == c.Orders[order] || p.Order == "" && order == 0) {
			points = append(points, p)
		}
	}
	return points
}
