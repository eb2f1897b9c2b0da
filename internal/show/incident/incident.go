// Package incident draws a change of the leader over space and time, and makes pages that play all: a lane for each member, with its leads, what held it up, and the messages
// that decided.
package incident

import (
	"errors"
	"fmt"
	"time"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/words"
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
	lane = 76.0
	bar  = 13.0 // half the height of a lead
	thin = 3.0  // likewise of a life
)

// layout is how much room a drawing has.
type layout struct {
	width, left, top, bottom float64
	margin                   float64
	ticks                    time.Duration // at most so many parts of the time have a label
	alone                    bool          // it has the cause and a legend; on a page these are beside it
}

var (
	sheet  = layout{width: drawing.Wide, left: 110, top: 118, bottom: 66, margin: drawing.Margin, ticks: 8, alone: true}
	wide   = layout{width: 860, left: 96, top: 34, bottom: 30, margin: 12, ticks: 7}
	narrow = layout{width: 358, left: 8, top: 34, bottom: 30, margin: 8, ticks: 3}
)

// isNarrow reports whether names of members stand above their lanes, for want of room beside them.
func (l *layout) isNarrow() bool { return l.left < 60 }

// Drawing draws one change of the leader, by its number in all groups of a report, from 1 on. 0 is the one with the longest time without a leader of
// those in which a lead has ended; without any, the first leader.
func Drawing(r *explain.Report, change int) (*drawing.Drawing, error) {
	g, chosen, err := Find(r, change)
	if err != nil {
		return nil, err
	}
	return draw(g.Name, g.Scene(chosen), sheet), nil
}

// Find returns the group with a change, and its place there. Number 0 is the change with the longest time without a leader.
func Find(r *explain.Report, number int) (g *explain.Group, change int, err error) {
	chosen, err := choose(r, number)
	if err != nil {
		return nil, 0, err
	}
	for _, g := range r.Groups {
		if chosen <= len(g.Changes) {
			return g, chosen - 1, nil
		}
		chosen -= len(g.Changes)
	}
	panic("incident: a change that is there is not found")
}

// choose returns the number of the change that is to be drawn.
func choose(r *explain.Report, change int) (chosen int, err error) {
	number, longest, older := 0, -1.0, 0
	for _, g := range r.Groups {
		older += len(g.Older)
		for i := range g.Changes {
			number++
			c := &g.Changes[i]
			switch longer := c.From != nil && !c.Begun.IsZero() && !c.AtMost && c.Nobody > longest; {
			case longer:
				chosen, longest = number, c.Nobody
			case chosen == 0:
				chosen = number
			}
		}
	}
	switch {
	case number == 0 && older > 0:
		return 0, errors.New("the records have no change of the leader with details, which a drawing or a run needs; those without any are told as text, and by --json")
	case number == 0:
		return 0, errors.New("the records have no change of the leader to draw")
	case change < 0 || change > number:
		return 0, fmt.Errorf("--change is from 1 to %d, or 0, not %d", number, change)
	case change > 0:
		return change, nil
	}
	return chosen, nil
}

// canvas is a drawing of a scene.
type canvas struct {
	*drawing.Drawing
	layout

	scene explain.Scene
}

func draw(group string, s explain.Scene, l layout) *drawing.Drawing {
	var reason []string
	if l.alone {
		reason = drawing.Wrap(s.Change.Text, l.width-2*l.margin, func(text string) float64 { return drawing.TextWidth(text, drawing.Normal) })
		l.top += lineHeight * float64(max(len(reason)-1, 0))
	}
	c := canvas{&drawing.Drawing{Width: l.width, Height: l.top + lane*float64(len(s.Members)) + l.bottom}, l, s}
	c.Title = fmt.Sprintf("%s: %s", s.Change.Cause, s.Change.Text)
	c.Description = fmt.Sprintf("A lane for each member of group %s over %s. Thick bars are leads; the shaded time has no leader.", group, words.Lasts(s.Lasts))
	if l.alone {
		c.text(drawing.At(l.margin, 34), fmt.Sprintf("%s (%s)", s.Change.Cause, s.Change.Certainty), drawing.Large, true, 0, drawing.Ink)
	}
	for i, line := range reason {
		c.text(drawing.At(l.margin, 56+lineHeight*float64(i)), line, drawing.Normal, false, 0, drawing.Muted)
	}
	c.nobody()
	c.axis()
	for i := range s.Members {
		c.lane(i)
	}
	for _, a := range s.Arrows {
		c.arrow(a)
	}
	if l.alone {
		c.legend()
	}
	return c.Drawing
}

const lineHeight = 20.0

// x returns where a time is.
func (c *canvas) x(t time.Duration) float64 {
	return c.left + (c.width-c.margin-c.left)*float64(t)/float64(max(c.scene.Lasts, 1))
}

// y returns where the lane of a member is.
func (c *canvas) y(i int) float64 { return c.top + lane*(float64(i)+0.5) }

func (c *canvas) text(at drawing.Point, text string, size float64, bold bool, anchor float64, colour drawing.Colour) {
	c.Add(drawing.Element{Role: "label", Text: text, At: at, Size: size, Bold: bold, Anchor: anchor, Fill: colour})
}

// about writes what a sign means in the middle of x, and within the drawing.
func (c *canvas) about(x, y float64, text string, bold bool) {
	half := drawing.TextWidth(text, drawing.Small) / 2
	c.text(drawing.At(min(max(x, half), c.width-half), y), text, drawing.Small, bold, 0.5, faulty)
}

// row is a row of texts that do not lie on each other: one that has no room is left out. Its sign has it as a tooltip.
type row struct {
	canvas *canvas
	y      float64
	taken  float64 // up to where
}

func (r *row) write(x float64, text string) {
	half := drawing.TextWidth(text, drawing.Small) / 2
	if r.canvas.isNarrow() && r.taken == 0 {
		r.taken = 90 // the name of the member
	}
	if x-half >= r.taken && x+half <= r.canvas.width {
		r.canvas.text(drawing.At(x, r.y), text, drawing.Small, false, 0.5, faulty)
		r.taken = x + half + 6
	}
}

// axisLabel returns a time since the end of the lead.
func axisLabel(t, step time.Duration) string {
	text := fmt.Sprintf("%d ms", t.Abs().Milliseconds())
	if step >= time.Second {
		text = fmt.Sprintf("%d s", int(t.Abs().Seconds()))
	}
	switch {
	case t < 0:
		return "−" + text
	case t > 0:
		return "+" + text
	}
	return text
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
	end := c.top + lane*float64(len(s.Members))
	c.Add(drawing.Element{Role: "outage", Path: drawing.Rectangle(c.x(n.From), c.top-4, max(c.x(n.To), c.x(n.From)+1), end), Fill: outage})
	lasts := words.Lasts(n.To - n.From)
	if s.Change.AtMost {
		lasts = "at most " + lasts
	}
	c.about((c.x(n.From)+c.x(n.To))/2, c.top-12, "no leader for "+lasts, true)
}

// axis draws the time, from the end of the lead on.
func (c *canvas) axis() {
	y := c.top + lane*float64(len(c.scene.Members))
	step := time.Millisecond
	for _, by := range []time.Duration{2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 600000, 3600000} {
		if c.scene.Lasts/step <= c.ticks {
			break
		}
		step = by * time.Millisecond
	}
	zero := c.scene.Nobody.From
	for t := zero - zero/step*step; t <= c.scene.Lasts; t += step {
		x := c.x(t)
		c.Add(drawing.Element{Role: "grid", Path: drawing.Lines(drawing.At(x, c.top), drawing.At(x, y)), Stroke: drawing.Grid, Width: 1})
		label := axisLabel(t-zero, step)
		half := drawing.TextWidth(label, drawing.Small) / 2
		c.text(drawing.At(min(max(x, half), c.width-half), y+18), label, drawing.Small, false, 0.5, drawing.Muted)
	}
	c.Add(drawing.Element{Role: "axis", Path: drawing.Lines(drawing.At(c.left, y), drawing.At(c.width-c.margin, y)), Stroke: drawing.Axis, Width: 1})
}

// lane draws what happened at a member.
func (c *canvas) lane(i int) {
	m, y := &c.scene.Members[i], c.y(i)
	name := drawing.At(c.margin, y+5)
	if c.isNarrow() {
		name.Y = y - bar - 7
	}
	c.text(name, fmt.Sprintf("member %d", m.Member), drawing.Normal, true, 0, drawing.Ink)
	if !m.Recorded {
		if name.Y += 16; c.isNarrow() {
			name = drawing.At(c.margin+80, y-bar-7)
		}
		c.text(name, "no record", drawing.Small, false, 0, drawing.Muted)
		c.Add(drawing.Element{Role: "unknown", Path: drawing.Lines(drawing.At(c.left, y), drawing.At(c.width-c.margin, y)), Stroke: lives, Width: 2, Dashes: []float64{2, 6}})
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
	still, flushes := row{canvas: c, y: y - bar - 5}, row{canvas: c, y: y + bar + 20}
	for _, s := range m.Still {
		c.box(s.From, s.To, y, thin+3, faulty, "its loop stood still for "+words.Lasts(s.To-s.From))
		still.write((c.x(s.From)+c.x(s.To))/2, "stood still for "+words.Lasts(s.To-s.From))
	}
	for _, s := range m.Flushes {
		c.box(s.From, s.To, y+bar+4, 2, faulty, "a flush of "+words.Lasts(s.To-s.From))
		flushes.write((c.x(s.From)+c.x(s.To))/2, "flush of "+words.Lasts(s.To-s.From))
	}
	for _, at := range m.Proven {
		x := c.x(at)
		c.Add(drawing.Element{Role: "proof", Path: drawing.Lines(drawing.At(x, y-bar-6), drawing.At(x, y+bar+6)), Stroke: faulty, Width: 2})
		c.about(x+6+drawing.TextWidth("death proven", drawing.Small)/2, y-bar-6, "death proven", false)
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
	c.text(drawing.At(c.margin, c.Height-18), fmt.Sprintf("0 ms is %s. Thick bars: leads; dashed: the rest of a lease. ×: a record ends. Lines: claim (solid), grant (dashed), nack (dotted).", c.scene.Change.Ended.Format("2006-01-02 15:04:05.000 UTC")), drawing.Small, false, 0, drawing.Muted)
}
