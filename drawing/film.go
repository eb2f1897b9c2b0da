package drawing

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// MaxFilmedSteps is the largest number of steps of a film.
const MaxFilmedSteps = 300

// ErrTooLong reports that a window has more steps than a film. It wraps ErrTooLarge.
var ErrTooLong = fmt.Errorf("%w step by step", ErrTooLarge)

// Film draws the network before the first step of the window, and after each step: the roles of processes, and the messages under
// way. All drawings have one size, and everything its place. The error wraps [ErrTooLarge] or [trace.ErrRecord].
func Film(r *trace.Record, window trace.Window) (iter.Seq[*Drawing], error) {
	if err := drawable(r); err != nil {
		return nil, err
	}
	first, past := window.Steps(r)
	if past-first > MaxFilmedSteps {
		return nil, fmt.Errorf("%w: %d steps; at most %d can be", ErrTooLong, past-first, MaxFilmedSteps)
	}
	f := film{topology: topology{diagram: &diagram{r: r, window: window, texts: r.Texts()}}, lives: newborn(r.N)}
	f.first, f.past = first, past
	f.set()
	for i := range first {
		f.step(&r.Steps[i])
	}
	return func(yield func(*Drawing) bool) {
		now := f
		now.lives, now.flying = slices.Clone(f.lives), slices.Clone(f.flying)
		if !yield(now.frame(nil)) {
			return
		}
		for i := first; i < past; i++ {
			now.step(&r.Steps[i])
			if !yield(now.frame(&r.Steps[i])) {
				return
			}
		}
	}, nil
}

// film holds the network after a step.
type film struct {
	topology // with what all frames have
	lives    []life
	flying   []flight // in the order of sending
	landed   *flight  // the message of the step, if it has one
}

// flight is a message under way.
type flight struct {
	number, from, to int
	kind             int
	text             string
	lost             bool
}

const (
	captionLine = 20.0 // the height of a line above the network
	lane        = 7.0  // the distance of messages from the middle of their link
	dart        = 24.0 // the length of an arrow for a message under way
	shortDart   = 12.0 // … where many are on one link
	mostDarts   = 6    // of one link
)

// set places everything, and draws what all frames have.
func (f *film) set() {
	roles := map[string]bool{}
	f.follow()
	lives := newborn(f.r.N)
	for i := range f.past + 1 {
		for p := range lives {
			if i >= f.first {
				roles[roleOf(lives[p].text())] = true
			}
		}
		if i < f.past {
			s := &f.r.Steps[i]
			lives[s.Process].class, _ = lives[s.Process].step(s)
		}
	}
	var items []item
	for i, k := range f.r.Kinds {
		items = append(items, item{text: network.MessageText(k.Name, ""), kind: i})
	}
	f.layOut(f.diagram.subtitle(), append(items, roleItems(func(role string) bool { return roles[role] })...), f.captionRoom)
	f.links()
}

// captionRoom returns the height of the longest caption.
func (f *film) captionRoom() float64 {
	most := 2 // lines
	for i := f.first; i < f.past; i++ {
		most = max(most, len(f.caption(&f.r.Steps[i])))
	}
	return captionLine*float64(most) + 12
}

// step makes a step.
func (f *film) step(s *trace.Step) {
	l := &f.lives[s.Process]
	l.class, _ = l.step(s)
	f.landed = nil
	if at := slices.IndexFunc(f.flying, func(m flight) bool { return m.number == s.Message }); at >= 0 {
		f.landed = new(f.flying[at])
		f.landed.lost = s.Event == trace.Lost
		f.flying = slices.Delete(f.flying, at, at+1)
	}
	for _, m := range s.Sent {
		for range 1 + m.Copies {
			f.flying = append(f.flying, flight{number: m.Message, from: s.Process, to: m.To, kind: f.r.KindIndex(m.Kind), text: m.Text})
		}
	}
}

// frame draws the network as it is; s is the last step, or nil.
func (f *film) frame(s *trace.Step) *Drawing {
	d := &film{topology: f.topology, flying: f.flying, landed: f.landed}
	d.diagram = new(*f.diagram)
	d.Elements, d.taken, d.final = slices.Clone(f.Elements), nil, nil
	for p := range f.lives {
		d.final = append(d.final, f.lives[p].text())
	}
	if s != nil {
		d.Add(Element{Role: "acting", Stroke: blue, Width: 3, Path: Circle(d.places[s.Process], d.radius+6)})
	}
	d.cast()
	d.messages()
	for i, line := range d.caption(s) {
		line.At = At(Margin, f.top+12+captionLine*float64(i))
		d.text(line)
	}
	return &d.Drawing
}

// caption returns the lines on what the step was, and on what it did.
func (f *film) caption(s *trace.Step) (lines []Element) {
	event, effects := "before the first step", ""
	switch {
	case s != nil:
		event = fmt.Sprintf("step %d · %s %s", s.Number, f.texts.Process(s.Process), f.texts.Event(s))
		if effects = f.texts.Effects(s); f.r.Clock {
			event = "time " + s.Time.String() + " · " + event
		}
	case f.first > 0:
		event = fmt.Sprintf("after step %d", f.first)
	}
	for _, line := range f.wrap(event, bold*Normal) {
		lines = append(lines, Element{Role: "event", Bold: true, Text: line})
	}
	if effects != "" {
		for _, line := range f.wrap(effects, Normal) {
			lines = append(lines, Element{Role: "effects", Text: line})
		}
	}
	return lines
}

// messages draws the message that has arrived, and those under way: the oldest of a link is the farthest.
func (f *film) messages() {
	if f.landed != nil {
		f.landing(f.landed)
	}
	links := map[[2]int][]*flight{}
	var order [][2]int
	for i := range f.flying {
		m := &f.flying[i]
		link := [2]int{m.from, m.to}
		if links[link] == nil {
			order = append(order, link)
		}
		links[link] = append(links[link], m)
	}
	for _, link := range order {
		all := links[link]
		shown := min(len(all), mostDarts)
		start, end, angle := f.way(link[0], link[1])
		distance := 0.6 * math.Hypot(end.X-start.X, end.Y-start.Y) / float64(shown)
		for i, m := range all[:shown] {
			part := 0.8 - float64(0.6*(float64(i)+0.5)/float64(shown))
			middle := At(along(start.X, end.X, part), along(start.Y, end.Y, part))
			if distance < shortDart+2 { // they are side by side, too
				middle = middle.Polar(lane*float64(i%2), angle+math.Pi/2)
			}
			text := m.text
			if i == mostDarts-1 && len(all) > mostDarts {
				text = fmt.Sprintf("and %d more", len(all)-mostDarts)
			}
			f.flies(m, middle, angle, min(dart, max(shortDart, distance-4)), text)
		}
	}
}

// way returns where messages leave a process and arrive at another one: on the right of their link.
func (f *film) way(from, to int) (start, end Point, angle float64) {
	a, b := f.places[from], f.places[to]
	if from == to { // a process alone
		a, b = a.Polar(f.radius+70, -math.Pi/2), a.Polar(f.radius, -math.Pi/2)
		return a, b, math.Pi / 2
	}
	angle = math.Atan2(b.Y-a.Y, b.X-a.X)
	beside := angle + math.Pi/2
	return a.Polar(lane, beside).Polar(f.radius+2, angle), b.Polar(lane, beside).Polar(-f.radius-2, angle), angle
}

// flies draws a message under way as an arrow of that length.
func (f *film) flies(m *flight, middle Point, angle, length float64, text string) {
	e := f.stroke(m.kind)
	e.Role += " flying"
	e.Path = Lines(middle.Polar(-length/2, angle), middle.Polar(length/2, angle))
	f.Add(e)
	f.label(text, middle, angle)
}

// landing draws the message that has just arrived, or was lost.
func (f *film) landing(m *flight) {
	start, end, _ := f.way(m.from, m.to)
	e := f.stroke(m.kind)
	e.Width *= 1.6
	if m.lost {
		e.Head = ""
		end = At(along(start.X, end.X, 0.6), along(start.Y, end.Y, 0.6))
		f.Add(Element{Symbol: "lost", At: end, Scale: 1.4})
	}
	e.Path = Lines(start, end)
	f.Add(e)
}

// label writes the contents of a message beside it, where there is room.
func (f *film) label(text string, middle Point, angle float64) {
	if text == "" || f.radius < namedNode {
		return
	}
	width := TextWidth(text, Small)
	beside := angle + math.Pi/2
	place := middle.Polar(12+float64(width/2*math.Abs(math.Cos(beside))), beside)
	b := around(place, width+4, Small+2)
	if b.a.X < 0 || b.b.X > f.Width || slices.ContainsFunc(f.taken, b.overlaps) {
		return
	}
	f.taken = append(f.taken, b)
	f.text(Element{Role: "label", Text: text, Size: Small, Anchor: 0.5, Above: true, At: At(place.X, place.Y+4)})
}
