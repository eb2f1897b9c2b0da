package trace

import (
	"bufio"
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The limits of a drawing: beyond them it would neither be readable nor open quickly.
const (
	MaxDrawnProcesses = 64
	MaxDrawnSteps     = 4096
	MaxDrawnMessages  = 8192
)

// ErrTooLarge says that a record is beyond the limits of a drawing.
var ErrTooLarge = errors.New("too large to draw")

//go:embed style.css
var style string

//go:embed defs.svg
var definitions string

// SVG draws the record as a space–time diagram: a line for each process, time to the right, an arrow for
// each message. Where there is a clock, time is to scale, and a cut in the axis is marked; else each
// step has a column. On a ring the first process stands below the last once more if a message passes
// there, so that clockwise is always one line down. Colour and arrowhead show the class of a message
// and dashes its kind. The drawing follows the viewer's preference for light or dark, needs nothing
// from outside, and is the same bytes for the same record. It wraps ErrTooLarge, or ErrRecord.
func (r *Record) SVG(w io.Writer) error {
	if err := r.Validate(); err != nil {
		return err
	}
	messages := 0
	for i := range r.Steps {
		messages += len(r.Steps[i].Sent)
	}
	for _, limit := range []struct {
		is, most int
		of       string
	}{{r.N, MaxDrawnProcesses, "processes"}, {len(r.Steps), MaxDrawnSteps, "steps"}, {messages, MaxDrawnMessages, "messages"}} {
		if limit.is > limit.most {
			return fmt.Errorf("%w: %d %s; at most %d can be drawn (a story or a file has no limit)", ErrTooLarge, limit.is, limit.of, limit.most)
		}
	}
	out := bufio.NewWriter(w)
	drawing := drawing{diagram: layOut(r), out: out}
	drawing.draw()
	return out.Flush()
}

// drawing writes a diagram.
type drawing struct {
	*diagram
	out *bufio.Writer
}

// element writes a line of XML. Numbers are rounded, and texts escaped.
func (d *drawing) element(format string, args ...any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case float64:
			args[i] = number(v)
		case string:
			var b strings.Builder
			_ = xml.EscapeText(&b, []byte(v)) // a Builder takes everything
			args[i] = b.String()
		}
	}
	fmt.Fprintf(d.out, format+"\n", args...)
}

// number is a length, rounded to hundredths.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // + 0 makes 0 of -0
}

func (d *drawing) draw() {
	const legendTop, endLabel = 88.0, 110.0
	r := d.r
	items := d.legend()
	width := max(leastWidth, d.end+endLabel+margin, 2*margin+textWidth(r.Title, 18), 2*margin+textWidth(d.subtitle(), 13))
	d.top = legendTop + float64(24*flow(items, width-2*margin)) + 12
	bottom := d.top + d.y(d.lines-1)
	height := bottom + 72

	d.element(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s">`, width, height)
	d.element(`<title id="title">%s</title>`, r.Title+": space–time diagram")
	d.element(`<desc id="description">%s</desc>`, d.description())
	fmt.Fprintf(d.out, "<style>\n%s%s</style>\n<defs>\n%s</defs>\n", style, d.dashes(), definitions)
	d.element(`<rect class="paper" width="%s" height="%s"/>`, width, height)
	d.element(`<text class="title" x="%s" y="40">%s</text>`, margin, r.Title)
	d.element(`<text class="muted" x="%s" y="62">%s</text>`, margin, d.subtitle())
	for _, item := range items {
		d.item(item, margin+item.x, legendTop+float64(24*item.row))
	}
	d.element(`<g transform="translate(0 %s)">`, d.top)
	d.axis()
	d.processes()
	for i := range d.arrows {
		d.arrow(&d.arrows[i])
	}
	for _, m := range d.marks {
		d.mark(m)
	}
	for _, l := range d.labels {
		d.element(`<text class="small middle halo %s" x="%s" y="%s">%s</text>`, l.class, l.at.x, l.at.y+4, l.text)
	}
	d.element("</g>\n</svg>")
}

// subtitle is all that it takes to run this again.
func (d *drawing) subtitle() string {
	parts := []string{fmt.Sprintf("%s %s of %d", d.r.Timing, d.r.Topology, d.r.N)}
	if d.r.Schedule != "" {
		parts = append(parts, "schedule "+d.r.Schedule)
	}
	if d.r.Delay > 1 {
		parts = append(parts, fmt.Sprintf("delays 1 to %d", d.r.Delay))
	}
	if d.r.Unordered {
		parts = append(parts, "links do not keep order")
	}
	parts = append(parts, fmt.Sprintf("seed %d", d.r.Seed))
	for _, name := range slices.Sorted(maps.Keys(d.r.Parameters)) {
		parts = append(parts, name+" "+d.r.Parameters[name])
	}
	return strings.Join(parts, " · ")
}

// description says in words what matters, for who cannot see the drawing.
func (d *drawing) description() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s. Messages:", d.r.Title, d.subtitle())
	counts := d.counts()
	for i, k := range d.r.Kinds {
		fmt.Fprintf(&b, " %s %d;", k.Name, counts[i])
	}
	b.WriteString(" in the end:")
	for p := range d.r.N {
		fmt.Fprintf(&b, " %s %s;", d.names.of(p), d.final[p])
	}
	return strings.TrimSuffix(b.String(), ";") + "."
}

// counts are the messages by kind.
func (d *drawing) counts() []int {
	counts := make([]int, len(d.r.Kinds))
	for i := range d.arrows {
		if !d.arrows[i].copy {
			counts[d.r.kind(d.arrows[i].sent.Kind)]++
		}
	}
	return counts
}

// dashes are the styles of kinds. Within a class the first is solid, the second dashed, the third
// dotted, and then a dash is followed by one dot, two dots, and so on.
func (d *drawing) dashes() string {
	var b strings.Builder
	within := map[string]int{}
	for i, k := range d.r.Kinds {
		pattern := ""
		switch nth := within[k.Class]; nth {
		case 0:
			pattern = "none"
		case 1:
			pattern = "6 4"
		case 2:
			pattern = "2 3"
		default:
			pattern = "9 3" + strings.Repeat(" 2 3", nth-2)
		}
		within[k.Class]++
		fmt.Fprintf(&b, ".kind-%d { stroke-dasharray: %s }\n", i, pattern)
	}
	return b.String()
}

// item is an entry of the legend: a kind of message with its count, or a mark.
type item struct {
	text   string
	kind   int // -1: none
	symbol string
	first  bool // begins a row
	x      float64
	row    int
}

const (
	sample      = 40.0 // length of an arrow in the legend
	symbolWidth = 24.0
)

func (i *item) width() float64 {
	width := textWidth(i.text, 13) + 16
	switch {
	case i.kind >= 0:
		return width + sample + 8
	case i.symbol != "":
		return width + symbolWidth
	}
	return width
}

// legend explains what occurs.
func (d *drawing) legend() []item {
	var items []item
	counts, total := d.counts(), 0
	for i, k := range d.r.Kinds {
		items = append(items, item{text: fmt.Sprintf("%s %d", k.Name, counts[i]), kind: i})
		if k.Class != "overhead" {
			total += counts[i]
		}
	}
	items = append(items, item{text: fmt.Sprintf("total %d", total), kind: -1})
	begin := len(items)
	for _, meaning := range [][2]string{
		{string(Start), "starts"},
		{string(Timeout), "a timer expires"},
		{string(Suspect), "suspects another"},
		{string(Trust), "trusts it again"},
		{string(Crash), "crashes"},
		{string(Recover), "recovers"},
		{string(Command), "is told something"},
		{string(Fault), "something goes wrong"},
		{string(Heal), "… and is over"},
		{"leader", "leads"},
		{"follower", "follows"},
		{"undecided", "knows no leader"},
	} {
		if slices.ContainsFunc(d.marks, func(m mark) bool { return m.symbol == meaning[0] }) {
			items = append(items, item{text: meaning[1], kind: -1, symbol: meaning[0]})
		}
	}
	if slices.ContainsFunc(d.arrows, func(a arrow) bool { return a.lost }) {
		items = append(items, item{text: "lost", kind: -1, symbol: "lost-mark"})
	}
	if slices.ContainsFunc(d.arrows, func(a arrow) bool { return a.endedIn == 0 }) {
		items = append(items, item{text: "under way", kind: -1, symbol: "under-way-mark"})
	}
	if begin < len(items) {
		items[begin].first = true
	}
	return items
}

// flow places the items in rows of that width and returns how many there are.
func flow(items []item, width float64) int {
	x, row := 0.0, 0
	for i := range items {
		if x > 0 && (items[i].first || x+items[i].width() > width) {
			x, row = 0, row+1
		}
		items[i].x, items[i].row = x, row
		x += items[i].width()
	}
	return row + 1
}

func (d *drawing) item(i item, x, y float64) {
	class := "legend"
	switch {
	case i.kind >= 0:
		d.element(`<path class="message %s kind-%d" d="M%s %sH%s"/>`, d.r.Kinds[i.kind].Class, i.kind, x, y, x+sample)
		x += sample + 8
	case i.symbol != "":
		d.element(`<use href="#%s" x="%s" y="%s"/>`, i.symbol, x+symbolWidth/2-3, y)
		x += symbolWidth
	default:
		class = "bold"
	}
	d.element(`<text class="%s" x="%s" y="%s">%s</text>`, class, x, y+4.5, i.text)
}

// axis draws the time and faint lines at its ticks, as many as there is room for.
func (d *drawing) axis() {
	bottom := d.y(d.lines-1) + 24
	d.element(`<path class="axis" d="M%s %sH%s"/>`, d.left, bottom, d.end)
	free := 0.0
	for _, t := range d.ticks {
		half := textWidth(t.label, small) / 2
		if t.x-half < free {
			continue
		}
		free = t.x + half + 8
		d.element(`<path class="grid" d="M%s -16V%s"/>`, t.x, bottom)
		d.element(`<path class="axis" d="M%s %sv4"/>`, t.x, bottom)
		d.element(`<text class="small muted middle" x="%s" y="%s">%s</text>`, t.x, bottom+17, t.label)
	}
	for _, x := range d.breaks {
		d.element(`<path class="paper" d="M%s %sl4 -10h5l-4 10z"/>`, x-4, bottom+5)
		d.element(`<path class="axis" d="M%s %sl4 -10m5 0l-4 10"/>`, x-4, bottom+5)
	}
	of := "step"
	if d.r.Clock {
		of = "time"
	}
	d.element(`<text class="small muted" x="%s" y="%s">%s →</text>`, d.end+14, bottom+4, of)
}

// processes draws the lines, with their names before and what became of them behind.
func (d *drawing) processes() {
	for _, s := range d.stretches {
		d.element(`<path class="%s" d="M%s %sH%s"/>`, s.class, s.from, d.y(s.line), s.to)
		if s.line == 0 && d.lines > d.r.N {
			d.element(`<path class="%s again" d="M%s %sH%s"/>`, s.class, s.from, d.y(d.r.N), s.to)
		}
	}
	for p := range d.r.N {
		d.element(`<text class="bold right" x="%s" y="%s">%s</text>`, d.left-10, d.y(p)+4.5, d.names.of(p))
		d.element(`<text class="small muted" x="%s" y="%s">%s</text>`, d.end+14, d.y(p)+4, d.final[p])
	}
	if d.lines > d.r.N {
		d.element(`<text class="muted right" x="%s" y="%s">%s</text>`, d.left-10, d.y(d.r.N)+4.5, d.names.of(0))
		d.element(`<text class="small muted" x="%s" y="%s">%s once more</text>`, d.end+14, d.y(d.r.N)+4, d.names.of(0))
	}
}

func (d *drawing) arrow(a *arrow) {
	what := describe(a.sent.Kind, a.sent.Text)
	story := fmt.Sprintf("message %d, %s from %s to %s: sent in step %d, ", a.sent.Message, what, d.names.of(a.from), d.names.of(a.sent.To), a.sentIn)
	fate := ""
	switch {
	case a.endedIn == 0:
		story, fate = story+"still under way", " under-way"
	case a.lost:
		story, fate = story+fmt.Sprintf("lost in step %d", a.endedIn), " lost"
	default:
		story += fmt.Sprintf("received in step %d", a.endedIn)
	}
	k := d.r.kind(a.sent.Kind)
	path := fmt.Sprintf("M%s %sL%s %s", number(a.start.x), number(a.start.y), number(a.end.x), number(a.end.y))
	if a.startRow == a.endRow {
		path = fmt.Sprintf("M%s %sQ%s %s %s %s", number(a.start.x), number(a.start.y),
			number(along(a.start.x, a.end.x, 0.5)), number(a.start.y-d.lineGap*0.6), number(a.end.x), number(a.end.y))
	}
	d.element(`<path class="message %s kind-%d%s" d="%s"><title>%s</title></path>`, d.r.Kinds[k].Class, k, fate, path, story)
}

func (d *drawing) mark(m mark) {
	s := &d.r.Steps[m.step]
	story := fmt.Sprintf("step %d: %s %s", s.Number, d.names.of(s.Process), d.r.event(s, d.names))
	if effects := d.r.effects(s, d.names); effects != "" {
		story += ": " + effects
	}
	d.element(`<use href="#%s" x="%s" y="%s"><title>%s</title></use>`, m.symbol, m.x, d.y(m.line), story)
	if m.line == 0 && d.lines > d.r.N {
		d.element(`<use class="again" href="#%s" x="%s" y="%s"/>`, m.symbol, m.x, d.y(d.r.N))
	}
}
