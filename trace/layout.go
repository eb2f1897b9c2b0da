package trace

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringleader.example/ringleader/election"
)

// All lengths of a drawing are pixels. Products are converted to float64 before they are added to, which
// keeps compilers from fusing the two: bytes are the same on every machine.
const (
	margin     = 24.0
	widest     = 1100.0 // what a drawing tries to fit into
	leastWidth = 640.0
	small      = 11.0 // font size of labels
	markRadius = 7.0
	labelled   = 400 // a drawing with more steps than this has no labels on its arrows
)

type point struct{ x, y float64 }

// diagram is where everything stands. Lines of processes run to the right, and time with them.
type diagram struct {
	r         *Record
	names     naming
	lines     int // N, and one more on a ring where a message passes the seam
	lineGap   float64
	top       float64   // y of the first line
	left, end float64   // where lines begin and end
	x         []float64 // of each step
	final     []string  // what each process is in the end
	arrows    []arrow
	stretches []stretch
	marks     []mark
	labels    []label
	ticks     []tick
	breaks    []float64 // x of the cuts of the axis
}

// arrow is one message.
type arrow struct {
	sent             Sent
	from             int
	sentIn, endedIn  int // steps; endedIn is 0 while it is under way
	lost             bool
	copy             bool // made by a link
	start, end       point
	startRow, endRow int
}

// stretch is a part of a process's line in which its role does not change.
type stretch struct {
	line     int
	from, to float64
	class    string // alive, leads or dead
}

// mark is an event or a decision of a step.
type mark struct {
	step   int // index
	line   int
	x      float64
	symbol string
}

// label is a text with its middle.
type label struct {
	text  string
	class string // name, of a process, or label, of an arrow
	at    point
}

type tick struct {
	x     float64
	label string
}

func layOut(r *Record) *diagram {
	d := &diagram{r: r, names: r.naming(), lines: r.N}
	widestGap := 60.0
	if r.Topology == complete || r.Topology == strangers { // arrows cross lines
		widestGap = 84
	}
	d.lineGap = min(widestGap, max(26, math.Floor(700/float64(r.N))))
	d.left = margin + 14
	for p := range r.N {
		d.left = max(d.left, margin+14+textWidth(d.names.of(p), 13))
	}
	d.left = math.Ceil(d.left)
	d.placeSteps()
	d.placeArrows()
	d.placeMarks()
	d.trimArrows()
	d.placeLabels()
	return d
}

// labelling says whether arrows get labels where there is room.
func (d *diagram) labelling() bool { return len(d.r.Steps) <= labelled && d.lineGap >= 36 }

// y is the height of a line above the first one, which is moved later, when the legend is known.
func (d *diagram) y(line int) float64 { return float64(line) * d.lineGap }

// textWidth is about how wide a text is, whatever font the viewer has.
func textWidth(text string, size float64) float64 {
	return math.Ceil(0.6 * size * float64(utf8.RuneCountInString(text)))
}

// placeSteps says where each step stands on the axis: a column for each, or, where there is a clock, at its time.
func (d *diagram) placeSteps() {
	d.x = make([]float64, len(d.r.Steps))
	if d.r.Clock {
		d.placeByTime()
	} else {
		least := 13.0 // what marks need
		if d.labelling() {
			least = 20
		}
		column := math.Floor(min(56, max(widest/float64(len(d.x)+1), least)))
		stride := stride(column, textWidth(strconv.Itoa(len(d.x)), small)+10)
		for i := range d.x {
			d.x[i] = d.left + 24 + float64(float64(i)*column)
			if (i+1)%stride == 0 {
				d.ticks = append(d.ticks, tick{d.x[i], strconv.Itoa(i + 1)})
			}
		}
	}
	d.end = d.left + 48
	if len(d.x) > 0 {
		d.end = slices.Max(d.x) + 40 // not always the last: steps of one moment stand side by side
	}
}

// stride is the least of 1, 2, 5, 10, 20, … columns that a label fits into.
func stride(column, label float64) int {
	for scale := 1; ; scale *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if column*float64(digit*scale) >= label {
				return digit * scale
			}
		}
	}
}

// placeByTime puts times to scale: the median time between two moments is one unit of length. Shorter
// ones than a quarter of that are drawn as a quarter, so that moments stay apart; longer ones than
// four are cut, and the axis shows a break. What happens at one moment stands in causal order within a
// fraction of the unit: a process's steps one after the other, and a message after it was sent.
func (d *diagram) placeByTime() {
	const shortest, longest = 0.25, 4.0
	steps := d.r.Steps
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
	ranks, most := d.ranks(first)
	total := 1.0
	for m := 1; m < len(gaps); m++ {
		gaps[m] /= median
		total += min(longest, max(shortest, gaps[m]))
	}
	least := 30.0
	if d.labelling() {
		least = 56
	}
	unit := math.Floor(min(120, max(widest/total, least)))
	x := d.left + 24
	for m, begin := range first {
		if m > 0 {
			length := float64(unit * min(longest, max(shortest, gaps[m])))
			if gaps[m] > longest {
				d.breaks = append(d.breaks, math.Round(x+length/2))
			}
			x += math.Round(length)
		}
		past, room := len(steps), unit
		if m+1 < len(first) {
			past = first[m+1]
			room = unit * min(1, max(shortest, gaps[m+1]))
		}
		apart := min(15, float64(0.5*room)/float64(max(1, most[m])))
		for i := begin; i < past; i++ {
			d.x[i] = x + float64(float64(ranks[i])*apart)
		}
		d.ticks = append(d.ticks, tick{x, shortTime(steps[begin].Time)})
	}
}

// ranks are the places of steps among those that happen at the same moment, and the last place of each moment.
func (d *diagram) ranks(first []int) (ranks, most []int) {
	ranks, most = make([]int, len(d.r.Steps)), make([]int, len(first))
	sentIn := map[int]int{} // by message: the place of its step, if that is of this moment
	for m, begin := range first {
		past := len(d.r.Steps)
		if m+1 < len(first) {
			past = first[m+1]
		}
		clear(sentIn)
		next := map[int]int{} // by process
		for i := begin; i < past; i++ {
			s := &d.r.Steps[i]
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

func (d *diagram) placeArrows() {
	crashed := make([]bool, d.r.N)
	var copies []arrow
	for i := range d.r.Steps {
		s := &d.r.Steps[i]
		if s.Event == Crash || s.Event == Recover {
			crashed[s.Process] = s.Event == Crash
		}
		if s.Message != 0 {
			a := &d.arrows[s.Message-1] // messages are numbered in the order of sending
			if a.endedIn != 0 {
				copies = append(copies, *a)
				a = &copies[len(copies)-1]
				a.copy, a.end = true, point{d.end, d.y(a.endRow)}
			}
			a.endedIn, a.lost, a.end.x = s.Number, s.Event == Lost, d.x[i]
			if a.lost && !crashed[s.Process] { // on the way
				a.end = point{along(a.start.x, a.end.x, 0.75), along(a.start.y, a.end.y, 0.75)}
			}
		}
		for _, sent := range s.Sent {
			a := arrow{sent: sent, from: s.Process, sentIn: s.Number}
			a.startRow, a.endRow = d.r.rows(s.Process, sent.To, sent.Port)
			a.start, a.end = point{d.x[i], d.y(a.startRow)}, point{d.end, d.y(a.endRow)}
			d.lines = max(d.lines, a.startRow+1, a.endRow+1)
			d.arrows = append(d.arrows, a)
		}
	}
	d.arrows = append(d.arrows, copies...)
	for i := range d.arrows {
		if a := &d.arrows[i]; a.endedIn == 0 { // short of the line, where the heads of many would be one blot
			a.end = point{along(a.start.x, a.end.x, 0.85), along(a.start.y, a.end.y, 0.85)}
		}
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

// placeMarks follows each process through its life.
func (d *diagram) placeMarks() {
	type life struct {
		class string
		since float64
		last  Decision
	}
	lives := make([]life, d.r.N)
	for p := range lives {
		lives[p] = life{class: "alive", since: d.left, last: Decision{Role: "undecided"}}
	}
	for i := range d.r.Steps {
		s, x := &d.r.Steps[i], d.x[i]
		l := &lives[s.Process]
		turn := func(class string) {
			if class != l.class {
				d.stretches = append(d.stretches, stretch{s.Process, l.since, x, l.class})
				l.class, l.since = class, x
			}
		}
		switch s.Event {
		case Crash:
			turn("dead")
			l.last = Decision{Role: "undecided"}
		case Recover:
			turn("alive")
		}
		decided := ""
		for _, now := range s.Decided {
			was, is := l.last, now
			was.Lease, is.Lease = nil, nil // to renew a lease is to decide nothing new
			if was.text() != is.text() {
				decided = now.Role
			}
			l.last = now
			if now.Role == "leader" {
				turn("leads")
			} else {
				turn("alive")
			}
		}
		if s.Event != Lost && (s.Event != Receive || decided == "") {
			at := x
			if decided != "" {
				at -= 2*markRadius - 1
			}
			d.marks = append(d.marks, mark{i, s.Process, at, string(s.Event)})
		}
		if decided != "" {
			d.marks = append(d.marks, mark{i, s.Process, x, decided})
		}
	}
	for p, l := range lives {
		d.stretches = append(d.stretches, stretch{p, l.since, d.end, l.class})
		switch {
		case l.class == "dead":
			d.final = append(d.final, "crashed")
		case l.last.Role == "undecided":
			d.final = append(d.final, "undecided")
		default:
			d.final = append(d.final, strings.ToLower(l.last.text()))
		}
	}
}

// trimArrows lets arrows end at the edge of a decision's mark.
func (d *diagram) trimArrows() {
	radius := map[int]float64{} // by number of the step
	for _, m := range d.marks {
		switch m.symbol {
		case "leader":
			radius[m.step+1] = 8
		case "follower", "undecided":
			radius[m.step+1] = 5
		}
	}
	for i := range d.arrows {
		a := &d.arrows[i]
		dx, dy := a.end.x-a.start.x, a.end.y-a.start.y
		length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
		if trim := radius[a.endedIn]; length > trim {
			a.end = point{along(a.start.x, a.end.x, 1-trim/length), along(a.start.y, a.end.y, 1-trim/length)}
		}
	}
}

// placeLabels repeats the names of processes along lines that are too long to see their beginning, and
// puts labels on arrows. None touches another, a mark or a strange arrow; who finds no room goes without.
func (d *diagram) placeLabels() {
	const again = 1200.0 // pixels from name to name
	var taken []box
	for _, m := range d.marks {
		if m.symbol != string(Receive) {
			taken = append(taken, around(point{m.x, d.y(m.line)}, 2*markRadius, 2*markRadius))
		}
	}
	place := func(l label, but int, places []point) {
		for _, l.at = range places {
			b := around(l.at, textWidth(l.text, small)+4, small+3)
			if !slices.ContainsFunc(taken, b.overlaps) && !d.crossed(b, but) {
				d.labels = append(d.labels, l)
				taken = append(taken, b)
				return
			}
		}
	}
	for x := d.left + again; x < d.end-again/2; x += again {
		for p := range d.r.N {
			places := make([]point, 8)
			for i := range places {
				places[i] = point{x + float64(20*i), d.y(p)}
			}
			place(label{text: d.names.of(p), class: "name"}, -1, places)
		}
	}
	if !d.labelling() {
		return
	}
	for line := range d.lines {
		taken = append(taken, box{point{0, d.y(line) - 2}, point{d.end, d.y(line) + 2}})
	}
	for i := range d.arrows {
		a := &d.arrows[i]
		if a.startRow == a.endRow {
			continue
		}
		var places []point
		for _, t := range []float64{0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82} {
			places = append(places, point{along(a.start.x, a.end.x, t), along(a.start.y, a.end.y, t)})
		}
		place(label{text: describe(a.sent.Kind, a.sent.Text), class: "label"}, i, places)
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
		if l.class == "label" {
			missing[l.text]--
		}
	}
	d.labels = slices.DeleteFunc(d.labels, func(l label) bool {
		return l.class == "label" && d.r.kind(l.text) >= 0 && missing[l.text] > 0
	})
}

// crossed says whether any arrow but one touches the box.
func (d *diagram) crossed(b box, but int) bool {
	for i := range d.arrows {
		a := &d.arrows[i]
		if a.end.x < b.a.x || a.start.x > b.b.x { // nearly all, in a long drawing
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
	return box{point{middle.x - width/2, middle.y - height/2}, point{middle.x + width/2, middle.y + height/2}}
}

func (b box) overlaps(c box) bool {
	return b.a.x < c.b.x && c.a.x < b.b.x && b.a.y < c.b.y && c.a.y < b.b.y
}

// touches says whether a straight line from p to q meets the box, by Liang and Barsky's clipping.
func (b box) touches(p, q point) bool {
	from, to := 0.0, 1.0
	for _, side := range [][3]float64{ // the coordinate, its change, and the limit that it must stay below
		{-p.x, p.x - q.x, -b.a.x},
		{p.x, q.x - p.x, b.b.x},
		{-p.y, p.y - q.y, -b.a.y},
		{p.y, q.y - p.y, b.b.y},
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
