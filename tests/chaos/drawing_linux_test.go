package chaos

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"ringleader.example/ringleader/drawing"
)

// records returns what is known about all lives.
func (g *group) records() (all []*record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.all {
		all = append(all, &l.record)
	}
	return all
}

// timeline lists what has happened, in order.
func (g *group) timeline() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.SortStableFunc(g.story, func(a, b incident) int { return cmp.Compare(a.at, b.at) })
	var lines strings.Builder
	for i, s := range g.story {
		where := "      "
		if s.member != 0 {
			where = fmt.Sprintf("%6d", s.member)
		}
		fmt.Fprintf(&lines, "%3d %s %s  %s\n", i+1, clockTime(s.at), where, s.text)
	}
	return lines.String()
}

// The sizes of a drawing: pixels, and pixels a second.
const (
	lane     = 64.0
	label    = 70.0
	second   = 400.0
	top      = 60.0
	barWidth = 12.0
)

// drawTo draws an episode: a lane for each member with its lives, its leases and its work; above them, and beside each
// lane, the numbers of the lines of the timeline.
func (g *group) drawTo(name string, records []*record) error {
	begin, end := g.story[0].at, g.story[len(g.story)-1].at
	for _, r := range records {
		begin = min(begin, r.born)
	}
	x := func(t int64) float64 { return label + float64(min(t, end)-begin)/1e9*second }
	y := func(member uint64) float64 { return top + lane*float64(member) }
	s := &drawing.Drawing{
		Width: x(end) + drawing.Margin, Height: y(uint64(len(g.ids))) + lane,
		Title: "leases and work of an episode", Description: "a lane for each member",
	}
	bar := func(from, to int64, at, width float64, colour drawing.Colour, about string) {
		s.Add(drawing.Element{Path: drawing.Lines(drawing.At(x(from), at), drawing.At(max(x(to), x(from)+0.5), at)), Stroke: colour, Width: width, About: about})
	}
	for _, id := range g.ids {
		s.Add(drawing.Element{Text: fmt.Sprintf("member %d", id), At: drawing.At(4, y(id)), Size: drawing.Small, Fill: drawing.Ink})
	}
	for _, r := range records {
		bar(r.born, cmp.Or(r.dead, end), y(r.member)+barWidth, 2, drawing.Muted, r.String())
		for _, e := range r.events {
			look := drawing.Looks[e.Term%4]
			switch e.What {
			case leased:
				bar(e.To, r.ends(e), y(r.member), barWidth, look, fmt.Sprintf("%v, term %d", r, e.Term))
			case started:
				s.Add(drawing.Element{Text: fmt.Sprint(e.Term), At: drawing.At(x(e.To), y(r.member)-barWidth), Size: drawing.Small, Fill: drawing.Ink})
			case called:
				bar(e.From, e.From, y(r.member)-6, 3, drawing.Ink, e.Op)
			}
		}
	}
	for i, story := range g.story {
		s.Add(drawing.Element{
			Text: fmt.Sprint(i + 1), About: story.text, At: drawing.At(x(story.at), y(story.member)+30+float64(i%3)*9), Size: 9, Fill: drawing.Muted,
		})
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return s.SVG(file)
}
