package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/internal/show/chart"
)

// chartQuestion is a chart, with the words of package chart.
type chartQuestion struct {
	Title    string    `json:"title"`
	Subtitle string    `json:"subtitle"`
	Notes    string    `json:"notes"`
	X        chartAxis `json:"x"`
	Y        chartAxis `json:"y"`
	Series   []struct {
		Name   string       `json:"name"`
		Look   int          `json:"look"`
		Line   string       `json:"line"`
		Marked bool         `json:"marked"`
		Points [][2]float64 `json:"points"`
	} `json:"series"`
}

type chartAxis struct {
	Name string `json:"name"`
	Log  bool   `json:"log"`
}

// chartLines are the words for lines, by their numbers.
var chartLines = []string{"joined", "thin", "dashed", "alone"}

// The limits of a chart.
const (
	mostSeries    = 64
	mostPoints    = 10_000
	mostChartText = 500 // bytes
)

// chart draws a chart as compare --draw does, in SVG.
func (l *laboratory) chart(_ context.Context, a asked) (any, error) {
	var question chartQuestion
	if err := a.read(&question); err != nil {
		return nil, err
	}
	figure, err := question.chart()
	if err != nil {
		return nil, err
	}
	drawn, err := figure.Drawing()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := drawn.SVG(&out); err != nil {
		return nil, err
	}
	return labFile{"image/svg+xml", out.Bytes()}, nil
}

// chart returns the chart that is asked for.
func (q *chartQuestion) chart() (*chart.Chart, error) {
	figure := &chart.Chart{
		Title: q.Title, Subtitle: q.Subtitle, Notes: q.Notes,
		X: chart.Axis{Name: q.X.Name, Log: q.X.Log}, Y: chart.Axis{Name: q.Y.Name, Log: q.Y.Log},
	}
	points, texts := 0, []string{q.Title, q.Subtitle, q.Notes, q.X.Name, q.Y.Name}
	for _, s := range q.Series {
		line := slices.Index(chartLines, s.Line)
		if line < 0 || s.Look < 0 || s.Look >= mostSeries {
			return nil, errors.New("a series has a line, which is joined, thin, dashed or alone, and a look from 0 on")
		}
		series := chart.Series{Name: s.Name, Look: s.Look, Line: chart.Line(line), Marked: s.Marked}
		for _, point := range s.Points {
			if q.X.Log && point[0] <= 0 || q.Y.Log && point[1] <= 0 {
				return nil, errors.New("a logarithmic axis has numbers above 0 only")
			}
			series.Points = append(series.Points, chart.Point{X: point[0], Y: point[1]})
		}
		points, texts = points+len(s.Points), append(texts, s.Name)
		figure.Series = append(figure.Series, series)
	}
	if len(q.Series) > mostSeries || points > mostPoints || slices.ContainsFunc(texts, func(text string) bool { return len(text) > mostChartText }) {
		return nil, fmt.Errorf("a chart has at most %d series with %d points, and texts of %d bytes", mostSeries, mostPoints, mostChartText)
	}
	return figure, nil
}
