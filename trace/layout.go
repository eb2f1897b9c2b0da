package trace

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/sheet"
)

// All lengths of a drawing are pixels. Products are converted to float64 before they are added to, which
// keeps compilers from fusing the two: bytes are the same on every machine.
const (
	margin     = sheet.Margin
	markRadius = 7.0
	labelled   = 24  // a drawing of so many processes has no labels on its arrows
	headed     = 400 // a drawing of more messages has no heads on its arrows
	readable   = 14  // rows this far apart all have names
)

type point = sheet.Point

// diagram is where everything stands. Lines of processes run to the right, and time with them.
type diagram struct {
	sheet.Sheet
	r           *Record
	window      Window
	first, past int // steps in the window, as indices
	names       naming
	lines       int // N, and one more on a ring where a message passes the seam
	labelling   bool
	lineGap     float64
	scale       float64   // of marks
	top         float64   // y of the first line
	left, end   float64   // where lines begin and end
	x           []float64 // of each step in the window
	final       []string  // what each process is at the end of the window
	arrows      []arrow
	stretches   []stretch
	shades      []shade
	marks       []mark
	labels      []label
	ticks       []tick
	breaks      []float64 // x of the cuts of the axis
}

// arrow is one message that is sent or arrives in the window.
type arrow struct {
	sent             Sent
	from             int
	sentIn, endedIn  int // steps, as indices; endedIn is -1 while the message is under way
	lost             bool
	copy             bool // made by a link
	onTheWay         bool // where it was lost
	start, end       point
	startRow, endRow int
}

// stretch is a part of a process's line in which its role does not change.
type stretch struct {
	line     int
	from, to int    // steps, as indices; -1 is where the line begins, and as many as there are where it ends
	class    string // alive, leads or dead
}

// shade is a fault that lasts.
type shade struct {
	text     string
	line     int // of the process that it is about; -1: of links among all
	from, to int // as of a stretch
	level    int // of its name
}

// mark is an event or a decision of a step.
type mark struct {
	step   int // index
	line   int
	x      float64
	symbol string
	about  string
}

// label is a text with its middle.
type label struct {
	text  string
	class string // name, of a process, or label, of an arrow
	at    point
}

type tick struct {
	x     float64
	at    election.Ticks // the time or the number of the step
	label string
}

func (t tick) half() float64 { return textWidth(t.label, sheet.Small) / 2 }

// layOut decides all places; those of lines are below the first one, whose y is known when the legend is.
func layOut(r *Record, window Window) *diagram {
	d := &diagram{r: r, window: window, names: r.naming(), lines: r.N}
	d.first, d.past = window.steps(r)
	d.left = margin + 14
	for p := range r.N {
		d.left = max(d.left, margin+14+textWidth(d.names.of(p), sheet.Normal))
	}
	d.left = math.Ceil(d.left)
	d.follow()
	d.collectArrows()
	d.placeSteps()
	d.placeLines()
	d.placeArrows()
	d.placeMarks()
	d.trimArrows()
	d.nameShades()
	d.placeLabels()
	return d
}

// steps are the indices of the first step in the window and of the first one behind it.
func (w Window) steps(r *Record) (first, past int) {
	for first < len(r.Steps) && w.place(&r.Header, &r.Steps[first]).Less(w.From) {
		first++
	}
	past = first
	for past < len(r.Steps) && !w.endsBefore(w.place(&r.Header, &r.Steps[past])) {
		past++
	}
	return first, past
}

// placeLines decides how far apart lines and how large marks are.
func (d *diagram) placeLines() {
	most, column := 60.0, (d.end-d.left)/float64(max(1, len(d.x)))
	switch complete := d.r.Topology == complete || d.r.Topology == strangers; {
	case !d.labelling:
		most = 40
	case complete: // arrows cross lines
		most = 84
	}
	d.lineGap = math.Floor(min(most, max(5, 900/float64(d.r.N))))
	d.scale = 1
	if !d.labelling {
		d.scale = max(0.35, min(1, d.lineGap/22, 0.5+column/28))
	}
}

// y is the height of a line below the first one.
func (d *diagram) y(line int) float64 { return float64(line) * d.lineGap }

// at is where a step stands: one that is not in the window at its begin or end.
func (d *diagram) at(step int) float64 {
	switch {
	case step < d.first:
		return d.left
	case step >= d.past:
		return d.end
	}
	return d.x[step-d.first]
}

// textWidth is about how wide a text is, whatever font the viewer has.
func textWidth(text string, size float64) float64 {
	return math.Ceil(0.6 * size * float64(utf8.RuneCountInString(text)))
}

// placeSteps says where each step stands on the axis: a column for each, or, where there is a clock, at its time.
func (d *diagram) placeSteps() {
	const before, behind = 24, 40 // from a line's begin to the first step, and from the last one to its end
	steps := d.past - d.first
	d.x = make([]float64, steps)
	room := sheet.Wide - margin - d.endWidth() - d.left - before - behind
	if d.r.Clock {
		unit := d.placeByTime(d.left+before, room)
		d.labelling = d.r.N < labelled && unit >= 24
	} else {
		column := min(64, room/float64(max(1, steps-1)))
		d.labelling = d.r.N < labelled && column >= 12
		for i := range d.x {
			d.x[i] = d.left + before + float64(float64(i)*column)
			number := election.Units(uint64(d.first + i + 1))
			d.ticks = append(d.ticks, tick{d.x[i], number, number.String()})
		}
	}
	d.ticks = legible(d.ticks)
	d.end = d.left + 48
	if steps > 0 {
		d.end = slices.Max(d.x) + behind // not always the last: steps of one moment stand side by side
	}
}

// endWidth is what stands behind the lines.
func (d *diagram) endWidth() float64 {
	width := textWidth("time →", sheet.Small)
	for _, final := range d.final {
		width = max(width, textWidth(final, sheet.Small))
	}
	return width + 14
}

// legible is as many of the ticks as there is room for: the multiples of the least of 1, 2, 5, 10, 20, … that leaves
// enough, and of these none that touches the one before.
func legible(ticks []tick) []tick {
	apart := func(t, before tick) bool { return t.x-t.half() >= before.x+before.half()+8 }
	touch := func(ticks []tick) bool {
		for i := range len(ticks) - 1 {
			if !apart(ticks[i+1], ticks[i]) {
				return true
			}
		}
		return false
	}
	rest := ticks
	for scale := uint64(1); scale < math.MaxUint64/100 && touch(rest); scale *= 10 {
		for _, step := range []uint64{scale, 2 * scale, 5 * scale} {
			if touch(rest) {
				rest = slices.DeleteFunc(slices.Clone(ticks), func(t tick) bool { return t.at.Hi == 0 && t.at.Lo%step != 0 })
			}
		}
	}
	var kept []tick
	for _, t := range rest {
		if len(kept) == 0 || apart(t, kept[len(kept)-1]) {
			kept = append(kept, t)
		}
	}
	return kept
}

// placeByTime puts times to scale, from x on and into that room, and returns the unit: the length of the median time
// between two moments. Shorter times than a quarter of that are drawn as a quarter, so that moments stay apart; longer
// ones than two are cut, and the axis shows a break. What happens at one moment stands in causal order within a
// fraction of the unit: a process's steps one after the other, and a message after it was sent.
func (d *diagram) placeByTime(x, room float64) (unit float64) {
	const shortest, longest = 0.25, 2.0
	steps := d.r.Steps[d.first:d.past]
	var first []int // the first step of each moment
	for i := range steps {
		if i == 0 || steps[i].Time != steps[i-1].Time {
			first = append(first, i)
		}
	}
	gaps := make([]float64, len(first)) // before each moment
	for m := 1; m < len(first); m++ {
		gap := steps[first[m]].Time.Sub(steps[first[m-1]].Time)
		gaps[m] = float64(float64(gap.Hi)*(1<<64)) + float64(gap.Lo)
	}
	var median float64
	if len(gaps) > 1 {
		median = slices.Sorted(slices.Values(gaps[1:]))[(len(gaps)-2)/2]
	}
	ranks, most := ranks(steps, first)
	total := 1.0
	for m := 1; m < len(gaps); m++ {
		gaps[m] /= median
		total += min(longest, max(shortest, gaps[m]))
	}
	if unit = min(100, room/total); unit >= 8 {
		unit = math.Floor(unit)
	}
	for m, begin := range first {
		if m > 0 {
			length := float64(unit * min(longest, max(shortest, gaps[m])))
			if gaps[m] > longest {
				d.breaks = append(d.breaks, math.Round(x+length/2))
			}
			x += length
		}
		past, room := len(steps), unit
		if m+1 < len(first) {
			past = first[m+1]
			room = unit * min(1, max(shortest, gaps[m+1]))
		}
		apart := min(15, float64(0.6*room)/float64(max(1, most[m])))
		for i := begin; i < past; i++ {
			d.x[i] = x + float64(float64(ranks[i])*apart)
		}
		d.ticks = append(d.ticks, tick{x, steps[begin].Time, shortTime(steps[begin].Time)})
	}
	return unit
}

// ranks are the places of steps among those that happen at the same moment, and the last place of each moment.
func ranks(steps []Step, first []int) (ranks, most []int) {
	ranks, most = make([]int, len(steps)), make([]int, len(first))
	sentIn := map[int]int{} // by message: the place of its step, if that is of this moment
	for m, begin := range first {
		past := len(steps)
		if m+1 < len(first) {
			past = first[m+1]
		}
		clear(sentIn)
		next := map[int]int{} // by process
		for i := begin; i < past; i++ {
			s := &steps[i]
			ranks[i] = next[s.Process]
			if sender, found := sentIn[s.Message]; found && s.Message != 0 {
				ranks[i] = max(ranks[i], sender+1)
			}
			next[s.Process] = ranks[i] + 1
			most[m] = max(most[m], ranks[i])
			for _, sent := range s.Sent {
				sentIn[sent.Message] = ranks[i]
			}
		}
	}
	return ranks, most
}

// shortTime is a time in at most ten characters.
func shortTime(t election.Ticks) string {
	exact := t.String()
	if len(exact) <= 10 {
		return exact
	}
	if b := t.Big(); b.TrailingZeroBits() == uint(b.BitLen()-1) {
		return "2^" + strconv.Itoa(b.BitLen()-1)
	}
	return "≈" + exact[:1] + "." + exact[1:3] + "e" + strconv.Itoa(len(exact)-1)
}

// collectArrows finds the messages that are sent or arrive in the window, and the lines that they join.
func (d *diagram) collectArrows() {
	crashed := make([]bool, d.r.N)
	var arrows, copies []arrow // arrows: by number of the message, from 1
	for i := range d.r.Steps[:d.past] {
		s := &d.r.Steps[i]
		if s.Event == Crash || s.Event == Recover {
			crashed[s.Process] = s.Event == Crash
		}
		if s.Message != 0 {
			a := &arrows[s.Message-1]
			if a.endedIn >= 0 {
				copies = append(copies, *a)
				a = &copies[len(copies)-1]
				a.copy = true
			}
			a.endedIn, a.lost = i, s.Event == Lost
			a.onTheWay = a.lost && !crashed[s.Process]
		}
		for _, sent := range s.Sent {
			a := arrow{sent: sent, from: s.Process, sentIn: i, endedIn: -1}
			a.startRow, a.endRow = d.r.rows(s.Process, sent.To, sent.Port)
			arrows = append(arrows, a)
		}
	}
	d.arrows = slices.DeleteFunc(append(arrows, copies...), func(a arrow) bool { return a.sentIn < d.first && a.endedIn < d.first })
	for i := range d.arrows {
		d.lines = max(d.lines, d.arrows[i].startRow+1, d.arrows[i].endRow+1)
	}
}

// placeArrows draws a part of the way where a message is lost on it, or where the window holds only a part.
func (d *diagram) placeArrows() {
	for i := range d.arrows {
		a := &d.arrows[i]
		start, end := point{X: d.at(a.sentIn), Y: d.y(a.startRow)}, point{X: d.end, Y: d.y(a.endRow)}
		from, to := 0.0, 1.0
		if a.sentIn < d.first {
			from = 0.15
		}
		switch {
		case a.endedIn < 0: // short of the line, where the heads of many would be one blot
			to = 0.85
		default:
			end.X = d.at(a.endedIn)
			if a.onTheWay {
				to = 0.75
			}
		}
		a.start = point{X: start.X, Y: along(start.Y, end.Y, from)}
		a.end = point{X: along(start.X, end.X, to), Y: along(start.Y, end.Y, to)}
	}
}

// rows are the lines that a message's arrow joins. On a ring it goes one line down if it goes clockwise,
// and one up if not: below the last line stands the first one again.
func (r *Record) rows(from, to, port int) (int, int) {
	if r.Topology != ring {
		return from, to
	}
	clockwise := to == (from+1)%r.N
	if r.N <= 2 { // both links lead to the same process
		clockwise = port == 0
	}
	switch {
	case clockwise && from == r.N-1 && to == 0:
		return from, r.N
	case !clockwise && from == 0 && to == r.N-1:
		return r.N, to
	}
	return from, to
}

// life is what a process is after a step.
type life struct {
	class string
	since int
	last  Decision
}

// follow follows each process through its life, and faults that last to their end. Marks have no places yet.
func (d *diagram) follow() {
	lives := make([]life, d.r.N)
	for p := range lives {
		lives[p] = life{class: "alive", since: -1, last: Decision{Role: "undecided"}}
	}
	for i := range d.r.Steps[:d.past] {
		s := &d.r.Steps[i]
		l := &lives[s.Process]
		class, decided := l.step(s)
		if class != l.class {
			if i >= d.first {
				d.stretches = append(d.stretches, stretch{s.Process, l.since, i, l.class})
				l.since = i
			}
			l.class = class
		}
		d.shade(i)
		if i >= d.first {
			d.markStep(i, decided)
		}
	}
	for p, l := range lives {
		d.stretches = append(d.stretches, stretch{p, l.since, d.past, l.class})
		d.final = append(d.final, l.text())
	}
	d.shades = slices.DeleteFunc(d.shades, func(s shade) bool { return s.to < d.first })
}

// step returns what the process is now, as a class of its line, and which role the step decided for it, if that is
// another one.
func (l *life) step(s *Step) (class, decided string) {
	class = l.class
	switch s.Event {
	case Crash:
		class, l.last = "dead", Decision{Role: "undecided"}
	case Recover:
		class = "alive"
	}
	for _, now := range s.Decided {
		was, is := l.last, now
		was.Lease, is.Lease = nil, nil // to renew a lease is to decide nothing new
		if was.text() != is.text() {
			decided = now.Role
		}
		l.last, class = now, "alive"
		if now.Role == "leader" {
			class = "leads"
		}
	}
	return class, decided
}

func (l *life) text() string {
	switch {
	case l.class == "dead":
		return "crashed"
	case l.last.Role == "undecided":
		return "undecided"
	}
	return strings.ToLower(l.last.text())
}

// shade begins or ends a fault that lasts. One that concerns links is of no process's line.
func (d *diagram) shade(step int) {
	s := &d.r.Steps[step]
	switch line := s.Process; s.Event {
	case Fault:
		if strings.HasPrefix(s.Text, "partition ") || strings.HasPrefix(s.Text, "cut ") {
			line = -1
		}
		d.shades = append(d.shades, shade{text: s.Text, line: line, from: step, to: len(d.r.Steps)})
	case Heal:
		for i := range d.shades {
			if open := &d.shades[i]; open.text == s.Text && open.to == len(d.r.Steps) {
				open.to = step
				return
			}
		}
	}
}

// markStep marks the event and the decision of a step.
func (d *diagram) markStep(i int, decided string) {
	s := &d.r.Steps[i]
	hidden := s.Event == Lost || s.Event == Fault || s.Event == Heal || s.Event == Receive && decided != ""
	if !hidden {
		d.marks = append(d.marks, mark{step: i, line: s.Process, symbol: string(s.Event)})
	}
	if decided != "" {
		d.marks = append(d.marks, mark{step: i, line: s.Process, symbol: decided})
	}
}

// placeMarks says where marks stand: an event before the decision of its step. Of equal marks that would cover each
// other one stands for all. Arrivals and followers are marked only where there is room.
func (d *diagram) placeMarks() {
	d.marks = slices.DeleteFunc(d.marks, func(m mark) bool {
		return m.symbol == string(Receive) && d.scale < 1 || m.symbol == "follower" && d.scale < 0.5
	})
	last := map[[2]string]int{} // by line and symbol
	kept := d.marks[:0]
	for i, m := range d.marks {
		m.x, m.about = d.at(m.step), d.about(m.step)
		if i+1 < len(d.marks) && d.marks[i+1].step == m.step {
			m.x -= (2*markRadius + 2) * d.scale
		}
		key := [2]string{strconv.Itoa(m.line), m.symbol}
		if k, found := last[key]; found && m.symbol != string(Receive) && m.x-kept[k].x < 2*markRadius*d.scale {
			kept[k].about += "\n" + m.about
			continue
		}
		last[key] = len(kept)
		kept = append(kept, m)
	}
	d.marks = kept
}

func (d *diagram) about(step int) string {
	s := &d.r.Steps[step]
	text := "step " + strconv.Itoa(s.Number) + ": " + d.names.of(s.Process) + " " + d.r.event(s, d.names)
	if effects := d.r.effects(s, d.names); effects != "" {
		text += ": " + effects
	}
	return text
}

// trimArrows lets arrows end at the edge of a decision's mark.
func (d *diagram) trimArrows() {
	radius := map[int]float64{} // by step
	for _, m := range d.marks {
		switch m.symbol {
		case "leader":
			radius[m.step] = 8 * d.scale
		case "follower", "undecided":
			radius[m.step] = 5 * d.scale
		}
	}
	for i := range d.arrows {
		a := &d.arrows[i]
		dx, dy := a.end.X-a.start.X, a.end.Y-a.start.Y
		length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
		if trim := radius[a.endedIn]; a.endedIn >= 0 && length > trim {
			a.end = point{X: along(a.start.X, a.end.X, 1-trim/length), Y: along(a.start.Y, a.end.Y, 1-trim/length)}
		}
	}
}

// nameShades gives each fault of links a level for its name, above those of others that it would touch.
func (d *diagram) nameShades() {
	var free []float64 // by level
	for i := range d.shades {
		s := &d.shades[i]
		if s.line >= 0 {
			continue
		}
		begin, width := d.nameOf(s)
		for s.level = 0; s.level < len(free) && free[s.level] > begin; s.level++ {
		}
		free = append(free, 0)
		free[s.level] = begin + width + 10
	}
}

// nameOf is where the name of a shade begins, and its width.
func (d *diagram) nameOf(s *shade) (x, width float64) {
	width = 1.15 * textWidth(s.name(), sheet.Small) // bold
	return max(d.left, min(d.at(s.from)+5, d.end+d.endWidth()-width)), width
}

// name is the text of the fault, shortened: 1–4 is 1,2,3,4.
func (s *shade) name() string {
	const most = 60
	words := strings.Split(s.text, " ")
	for i, word := range words {
		words[i] = shortList(word)
	}
	name := strings.Join(words, " ")
	if short := []rune(name); len(short) > most {
		return string(short[:most-1]) + "…"
	}
	return name
}

// shortList writes three or more successive numbers of a list as the first and the last one.
func shortList(list string) string {
	var parts []string
	numbers := strings.Split(list, ",")
	for i := 0; i < len(numbers); {
		first, err := strconv.ParseUint(numbers[i], 10, 64)
		run := 1
		for err == nil && i+run < len(numbers) && numbers[i+run] == strconv.FormatUint(first+uint64(run), 10) {
			run++
		}
		if run < 3 {
			parts, i = append(parts, numbers[i]), i+1
			continue
		}
		parts, i = append(parts, numbers[i]+"–"+numbers[i+run-1]), i+run
	}
	return strings.Join(parts, ",")
}

// levels is how many rows of names stand above the lines.
func (d *diagram) levels() (levels int) {
	for i := range d.shades {
		if d.shades[i].line < 0 {
			levels = max(levels, d.shades[i].level+1)
		}
	}
	return levels
}

// placeLabels puts labels on arrows. None touches another, a mark or another arrow; one without room is left out.
func (d *diagram) placeLabels() {
	if !d.labelling {
		return
	}
	var taken []box
	for _, m := range d.marks {
		if m.symbol != string(Receive) {
			taken = append(taken, around(point{X: m.x, Y: d.y(m.line)}, 2*markRadius, 2*markRadius))
		}
	}
	for i := range d.shades {
		if s := &d.shades[i]; s.line >= 0 {
			x, width := d.nameOf(s)
			taken = append(taken, around(point{X: x + width/2, Y: d.y(s.line) - 17}, width, sheet.Small+2))
		}
	}
	for line := range d.lines {
		taken = append(taken, box{point{X: 0, Y: d.y(line) - 2}, point{X: d.end, Y: d.y(line) + 2}})
	}
	for i := range d.arrows {
		a := &d.arrows[i]
		if a.startRow == a.endRow {
			continue
		}
		text := describe(a.sent.Kind, a.sent.Text)
		for _, t := range []float64{0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82} {
			at := point{X: along(a.start.X, a.end.X, t), Y: along(a.start.Y, a.end.Y, t)}
			b := around(at, textWidth(text, sheet.Small)+4, sheet.Small+3)
			if !slices.ContainsFunc(taken, b.overlaps) && !d.crossed(b, i) {
				d.labels = append(d.labels, label{text, "label", at})
				taken = append(taken, b)
				break
			}
		}
	}
	d.dropPlainLabels()
}

// dropPlainLabels takes labels away that say no more than the legend, unless every arrow of their kind has one.
func (d *diagram) dropPlainLabels() {
	missing := map[string]int{}
	for i := range d.arrows {
		missing[describe(d.arrows[i].sent.Kind, d.arrows[i].sent.Text)]++
	}
	for _, l := range d.labels {
		missing[l.text]--
	}
	d.labels = slices.DeleteFunc(d.labels, func(l label) bool { return d.r.kind(l.text) >= 0 && missing[l.text] > 0 })
}

// crossed says whether any arrow but one touches the box.
func (d *diagram) crossed(b box, but int) bool {
	for i := range d.arrows {
		a := &d.arrows[i]
		if a.end.X < b.a.X || a.start.X > b.b.X { // nearly all, in a long drawing
			continue
		}
		if i != but && b.touches(a.start, a.end) {
			return true
		}
	}
	return false
}

func along(from, to, t float64) float64 { return from + float64(t*(to-from)) }

// box is a rectangle, from its corner towards 0 to the other.
type box struct{ a, b point }

func around(middle point, width, height float64) box {
	return box{point{X: middle.X - width/2, Y: middle.Y - height/2}, point{X: middle.X + width/2, Y: middle.Y + height/2}}
}

func (b box) overlaps(c box) bool {
	return b.a.X < c.b.X && c.a.X < b.b.X && b.a.Y < c.b.Y && c.a.Y < b.b.Y
}

// touches says whether a straight line from p to q meets the box, by Liang and Barsky's clipping.
func (b box) touches(p, q point) bool {
	from, to := 0.0, 1.0
	for _, side := range [][3]float64{ // the coordinate, its change, and the limit that it must stay below
		{-p.X, p.X - q.X, -b.a.X},
		{p.X, q.X - p.X, b.b.X},
		{-p.Y, p.Y - q.Y, -b.a.Y},
		{p.Y, q.Y - p.Y, b.b.Y},
	} {
		room, change := side[2]-side[0], side[1]
		switch {
		case change == 0 && room < 0:
			return false
		case change > 0:
			to = min(to, room/change)
		case change < 0:
			from = max(from, room/change)
		}
	}
	return from <= to
}
