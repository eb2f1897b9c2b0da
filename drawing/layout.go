package drawing

import (
	"math"
	"slices"
	"strconv"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// All lengths of a drawing are pixels. Products are converted to float64 before an addition, which prevents fused
// operations: bytes are the same on every machine.
const (
	markRadius = 7.0
	labelled   = 24  // from that many processes on, arrows have no labels
	headed     = 400 // with more messages, arrows have no heads
	readable   = 14  // rows this far apart all have names
)

// diagram holds the layout. Lines of processes run to the right, and so does time.
type diagram struct {
	Drawing
	r           *trace.Record
	window      trace.Window
	first, past int // steps in the window, as indices
	texts       *trace.Texts
	lines       int // N, and one more on a ring if a message passes the seam
	labelling   bool
	lineGap     float64
	scale       float64   // of marks
	top         float64   // y of the first line
	left, end   float64   // where lines begin and end
	x           []float64 // of each step in the window
	final       []string  // the role of each process at the end of the window
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
	sent             trace.Sent
	from             int
	sentIn, endedIn  int // steps, as indices; endedIn is -1 while the message is under way
	lost             bool
	copy             bool // made by a link
	onTheWay         bool // where it was lost
	start, end       Point
	startRow, endRow int
}

// mark is an event or a decision of a step.
type mark struct {
	step   int // index
	line   int
	x      float64
	symbol string
	about  string
}

// layOut determines all places; those of lines are relative to the first one, whose y depends on the legend.
func layOut(r *trace.Record, window trace.Window) *diagram {
	d := &diagram{r: r, window: window, texts: r.Texts(), lines: r.N}
	d.first, d.past = window.Steps(r)
	d.left = Margin + 14
	for p := range r.N {
		d.left = max(d.left, Margin+14+TextWidth(d.texts.Process(p), Normal))
	}
	d.left = math.Ceil(d.left)
	d.follow()
	d.collectArrows()
	d.placeSteps()
	d.placeLines()
	d.placeArrows()
	d.placeMarks()
	d.trimArrows()
	d.separateArrows()
	d.nameShades()
	d.placeLabels()
	return d
}

// placeLines determines the distance of lines and the size of marks.
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

// y returns the distance of a line below the first one.
func (d *diagram) y(line int) float64 { return float64(line) * d.lineGap }

// at returns the place of a step: the begin or end of the window if it is outside.
func (d *diagram) at(step int) float64 {
	switch {
	case step < d.first:
		return d.left
	case step >= d.past:
		return d.end
	}
	return d.x[step-d.first]
}

// collectArrows finds the messages that are sent or arrive in the window, and the lines that they join.
func (d *diagram) collectArrows() {
	crashed := make([]bool, d.r.N)
	var arrows, copies []arrow // arrows: by number of the message, from 1
	for i := range d.r.Steps[:d.past] {
		s := &d.r.Steps[i]
		if s.Event == trace.Crash || s.Event == trace.Recover {
			crashed[s.Process] = s.Event == trace.Crash
		}
		if s.Message != 0 {
			a := &arrows[s.Message-1]
			if a.endedIn >= 0 {
				copies = append(copies, *a)
				a = &copies[len(copies)-1]
				a.copy = true
			}
			a.endedIn, a.lost = i, s.Event == trace.Lost
			a.onTheWay = a.lost && !crashed[s.Process]
		}
		for _, sent := range s.Sent {
			a := arrow{sent: sent, from: s.Process, sentIn: i, endedIn: -1}
			a.startRow, a.endRow = d.rows(s.Process, sent.To, sent.Port)
			arrows = append(arrows, a)
		}
	}
	d.arrows = slices.DeleteFunc(append(arrows, copies...), func(a arrow) bool { return a.sentIn < d.first && a.endedIn < d.first })
	for i := range d.arrows {
		d.lines = max(d.lines, d.arrows[i].startRow+1, d.arrows[i].endRow+1)
	}
}

// placeArrows shortens the arrow of a message that is lost on the way, or that is only partly in the window.
func (d *diagram) placeArrows() {
	for i := range d.arrows {
		a := &d.arrows[i]
		start, end := Point{X: d.at(a.sentIn), Y: d.y(a.startRow)}, Point{X: d.end, Y: d.y(a.endRow)}
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
		a.start = Point{X: start.X, Y: along(start.Y, end.Y, from)}
		a.end = Point{X: along(start.X, end.X, to), Y: along(start.Y, end.Y, to)}
	}
}

// rows returns the lines that a message's arrow joins. On a ring it goes one line down if it goes clockwise,
// and one up if not: the first line is repeated below the last.
func (d *diagram) rows(from, to, port int) (int, int) {
	if d.r.Topology != ring {
		return from, to
	}
	n := d.r.N
	clockwise := to == (from+1)%n
	if n <= 2 { // both links lead to the same process
		clockwise = port == 0
	}
	switch {
	case clockwise && from == n-1 && to == 0:
		return from, n
	case !clockwise && from == 0 && to == n-1:
		return n, to
	}
	return from, to
}

// placeMarks places marks: an event before the decision of its step. One of several equal overlapping marks stands
// for all. Arrivals and followers are marked only if there is room.
func (d *diagram) placeMarks() {
	d.marks = slices.DeleteFunc(d.marks, func(m mark) bool {
		return m.symbol == string(trace.Receive) && d.scale < 1 || m.symbol == "follower" && d.scale < 0.5
	})
	last := map[[2]string]int{} // by line and symbol
	kept := d.marks[:0]
	for i, m := range d.marks {
		m.x, m.about = d.at(m.step), d.about(m.step)
		if i+1 < len(d.marks) && d.marks[i+1].step == m.step {
			m.x -= (2*markRadius + 2) * d.scale
		}
		key := [2]string{strconv.Itoa(m.line), m.symbol}
		if k, found := last[key]; found && m.symbol != string(trace.Receive) && m.x-kept[k].x < 2*markRadius*d.scale {
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
	text := "step " + strconv.Itoa(s.Number) + ": " + d.texts.Process(s.Process) + " " + d.texts.Event(s)
	if effects := d.texts.Effects(s); effects != "" {
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
			a.end = Point{X: along(a.start.X, a.end.X, 1-trim/length), Y: along(a.start.Y, a.end.Y, 1-trim/length)}
		}
	}
}

// separateArrows moves an arrow to the right that would lie on another one: two messages of a step, on one link, that are under way.
func (d *diagram) separateArrows() {
	const near, apart = 4.0, 6.0
	taken := map[[4]int]bool{}
	for i := range d.arrows {
		a := &d.arrows[i]
		place := func() [4]int {
			return [4]int{int(a.start.X / near), int(a.start.Y / near), int(a.end.X / near), int(a.end.Y / near)}
		}
		for len(d.arrows) <= headed && taken[place()] {
			a.start.X, a.end.X = a.start.X+apart, a.end.X+apart
		}
		taken[place()] = true
	}
}

// The names of topologies in a record.
var (
	ring      = election.Ring.String()
	complete  = election.Complete.String()
	tree      = election.Tree.String()
	strangers = election.UnknownNeighbours.String()
)
