// Package incident draws a change of the leader over space and time: a lane for each member, with its leads, what held it up, and the messages
// that decided.
package incident

import (
	"errors"
	"fmt"
	"time"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/internal/serve/explain"
)

// The colours of what happens.
var (
	lead   = drawing.Looks[0]
	faulty = drawing.Looks[1]
	lives  = drawing.Colour{Name: "lives", Light: "#c9ced6", Dark: "#4a4f58"}
	outage = drawing.Colour{Name: "outage", Light: "#fdeee4", Dark: "#3a2418"}
	onLead = drawing.Colour{Name: "on-lead", Light: "#ffffff", Dark: "#10151c"}
)

const (
	left   = 110.0
	top    = 118.0
	lane   = 76.0
	bar    = 13.0 // half the height of a lead
	thin   = 3.0  // likewise of a life
	bottom = 66.0
)

// Drawing draws one change of the leader, by its number in all groups of a report, from 1 on. 0 is the one with the longest time without a leader of
// those in which a lead has ended; without any, the first leader.
func Drawing(r *explain.Report, change int) (*drawing.Drawing, error) {
	var found *drawing.Drawing
	number, longest := 0, -1.0
	for _, g := range r.Groups {
		for i := range g.Changes {
			number++
			c := &g.Changes[i]
			switch longer := c.From != nil && !c.Begun.IsZero() && c.Nobody > longest; {
			case number == change:
				return draw(g.Name, g.Scene(i)), nil
			case change == 0 && (longer || found == nil):
				found = draw(g.Name, g.Scene(i))
				if longer {
					longest = c.Nobody
				}
			}
		}
	}
	switch {
	case found != nil:
		return found, nil
	case number == 0:
		return nil, errors.New("the records have no change of the leader to draw")
	}
	return nil, fmt.Errorf("--change is from 1 to %d, or 0, not %d", number, change)
}

// canvas is a drawing of a scene.
type canvas struct {
	*drawing.Drawing
	scene explain.Scene
}

func draw(group string, s explain.Scene) *drawing.Drawing {
	c := canvas{&drawing.Drawing{Width: drawing.Wide, Height: top + lane*float64(len(s.Members)) + bottom}, s}
	c.Title = fmt.Sprintf("%s: %s", s.Change.Cause, s.Change.Text)
	c.Description = fmt.Sprintf("A lane for each member of group %s over %s. Thick bars are leads; the shaded time has no leader.", group, explain.Lasts(s.Lasts))
	c.text(drawing.At(drawing.Margin, 34), fmt.Sprintf("%s (%s)", s.Change.Cause, s.Change.Certainty), drawing.Large, true, 0, drawing.Ink)
	c.text(drawing.At(drawing.Margin, 56), s.Change.Text, drawing.Normal, false, 0, drawing.Muted)
	c.nobody()
	c.axis()
	for i := range s.Members {
		c.lane(i)
	}
	for _, a := range s.Arrows {
		c.arrow(a)
	}
	c.legend()
	return c.Drawing
}

// x returns where a time is.
func (c *canvas) x(t time.Duration) float64 {
	return left + (drawing.Wide-drawing.Margin-left)*float64(t)/float64(max(c.scene.Lasts, 1))
}

// y returns where the lane of a member is.
func (c *canvas) y(i int) float64 { return top + lane*(float64(i)+0.5) }

func (c *canvas) text(at drawing.Point, text string, size float64, bold bool, anchor float64, colour drawing.Colour) {
	c.Add(drawing.Element{Role: "label", Text: text, At: at, Size: size, Bold: bold, Anchor: anchor, Fill: colour})
}

func (c *canvas) box(from, to time.Duration, y, half float64, fill drawing.Colour, about string) {
	c.Add(drawing.Element{Role: "bar", Path: drawing.Rectangle(c.x(from), y-half, max(c.x(to), c.x(from)+1), y+half), Fill: fill, About: about})
}

// nobody shades the time without a leader.
func (c *canvas) nobody() {
	n, s := c.scene.Nobody, c.scene
	if n.To <= n.From {
		return
	}
	end := top + lane*float64(len(s.Members))
	c.Add(drawing.Element{Role: "outage", Path: drawing.Rectangle(c.x(n.From), top-4, c.x(n.To), end), Fill: outage})
	c.text(drawing.At((c.x(n.From)+c.x(n.To))/2, top-12), "no leader for "+explain.Lasts(n.To-n.From), drawing.Small, true, 0.5, faulty)
}

// axis draws the time, from the end of the lead on.
func (c *canvas) axis() {
	y := top + lane*float64(len(c.scene.Members))
	step := time.Millisecond
	for _, by := range []time.Duration{2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 600000, 3600000} {
		if c.scene.Lasts/step <= 8 {
			break
		}
		step = by * time.Millisecond
	}
	zero := c.scene.Nobody.From
	for t := zero - zero/step*step; t <= c.scene.Lasts; t += step {
		x := c.x(t)
		c.Add(drawing.Element{Role: "grid", Path: drawing.Lines(drawing.At(x, top), drawing.At(x, y)), Stroke: drawing.Grid, Width: 1})
		c.text(drawing.At(x, y+18), fmt.Sprintf("%+d ms", (t-zero).Milliseconds()), drawing.Small, false, 0.5, drawing.Muted)
		if step == 0 {
			return
		}
	}
	c.Add(drawing.Element{Role: "axis", Path: drawing.Lines(drawing.At(left, y), drawing.At(drawing.Wide-drawing.Margin, y)), Stroke: drawing.Axis, Width: 1})
}

// lane draws what happened at a member.
func (c *canvas) lane(i int) {
	m, y := &c.scene.Members[i], c.y(i)
	c.text(drawing.At(drawing.Margin, y+5), fmt.Sprintf("member %d", m.Member), drawing.Normal, true, 0, drawing.Ink)
	if !m.Recorded {
		c.text(drawing.At(drawing.Margin, y+21), "no record", drawing.Small, false, 0, drawing.Muted)
		c.Add(drawing.Element{Role: "unknown", Path: drawing.Lines(drawing.At(left, y), drawing.At(drawing.Wide-drawing.Margin, y)), Stroke: lives, Width: 2, Dashes: []float64{2, 6}})
	}
	for _, s := range m.Alive {
		c.box(s.From, s.To, y, thin, lives, "it runs")
		if s.To < c.scene.Lasts-c.scene.Lasts/50 {
			c.end(c.x(s.To), y)
		}
	}
	for _, l := range m.Leads {
		c.box(l.From, l.To, y, bar, lead, fmt.Sprintf("member %d leads in term %d", m.Member, l.Term))
		if c.x(l.To)-c.x(l.From) > 60 {
			c.text(drawing.At(c.x(l.From)+8, y+5), fmt.Sprintf("term %d", l.Term), drawing.Small, true, 0, onLead)
		}
		if l.Until > l.To {
			c.Add(drawing.Element{Role: "lease", Path: drawing.Rectangle(c.x(l.To), y-bar, c.x(l.Until), y+bar), Stroke: lead, Width: 1.5, Dashes: []float64{4, 3}, About: "the rest of its last lease"})
		}
	}
	for _, s := range m.Still {
		c.box(s.From, s.To, y, thin+3, faulty, "its loop stood still")
		c.text(drawing.At((c.x(s.From)+c.x(s.To))/2, y+bar+14), fmt.Sprintf("stood still for %v", (s.To-s.From).Round(time.Millisecond)), drawing.Small, false, 0.5, faulty)
	}
	for _, s := range m.Flushes {
		c.box(s.From, s.To, y+bar+4, 2, faulty, "a flush")
		c.text(drawing.At((c.x(s.From)+c.x(s.To))/2, y+bar+20), "flush", drawing.Small, false, 0.5, faulty)
	}
	for _, at := range m.Proven {
		x := c.x(at)
		c.Add(drawing.Element{Role: "proof", Path: drawing.Lines(drawing.At(x, y-bar-6), drawing.At(x, y+bar+6)), Stroke: faulty, Width: 2})
		c.text(drawing.At(x+6, y-bar-6), "death proven", drawing.Small, false, 0, faulty)
	}
}

// end draws the end of a life.
func (c *canvas) end(x, y float64) {
	const r = 7.0
	for _, line := range [][2]drawing.Point{{drawing.At(x-r, y-r), drawing.At(x+r, y+r)}, {drawing.At(x-r, y+r), drawing.At(x+r, y-r)}} {
		c.Add(drawing.Element{Role: "end", Path: drawing.Lines(line[0], line[1]), Stroke: faulty, Width: 3, About: "its record ends"})
	}
}

// arrow draws a message.
func (c *canvas) arrow(a explain.Arrow) {
	from, to := -1, -1
	for i := range c.scene.Members {
		switch c.scene.Members[i].Member {
		case a.From:
			from = i
		case a.To:
			to = i
		}
	}
	if from < 0 || to < 0 {
		return
	}
	colour, dashes := drawing.Ink, []float64(nil)
	switch a.Kind {
	case "grant":
		colour, dashes = drawing.Looks[2], []float64{5, 3}
	case "nack":
		colour, dashes = faulty, []float64{2, 3}
	}
	c.Add(drawing.Element{
		Role: "message", Path: drawing.Lines(drawing.At(c.x(a.Sent), c.y(from)), drawing.At(c.x(a.Received), c.y(to))),
		Stroke: colour, Width: 1.2, Dashes: dashes, About: fmt.Sprintf("%s of %d to %d", a.Kind, a.From, a.To),
	})
	c.Add(drawing.Element{Role: "arrival", Path: drawing.Circle(drawing.At(c.x(a.Received), c.y(to)), 2.6), Fill: colour})
}

// legend says what the signs mean.
func (c *canvas) legend() {
	y, x := c.Height-18, drawing.Margin
	c.text(drawing.At(x, y), fmt.Sprintf("0 ms is %s. Thick bars: leads; dashed: the rest of a lease. ×: a record ends. Lines: claim (solid), grant (dashed), nack (dotted).", c.scene.Change.Ended.Format("2006-01-02 15:04:05.000 UTC")), drawing.Small, false, 0, drawing.Muted)
}
