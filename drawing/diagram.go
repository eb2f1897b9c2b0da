package drawing

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// The limits of a drawing of a record: beyond them it would be unreadable and slow to open.
const (
	MaxProcesses = 256
	MaxSteps     = 1 << 17
	MaxMessages  = 1 << 17
)

// ErrTooLarge reports that a record is beyond the limits of a drawing.
var ErrTooLarge = errors.New("too large to draw")

// Diagram draws a window of the record as a space–time diagram: a line for each process, time to the right, an arrow
// for each message. With a clock, time is to scale, and a cut in the axis is marked; otherwise each step has a
// column. On a ring the first process is repeated below the last if a message passes there, so that clockwise is
// always one line down. Colour and arrowhead show the class of a message, and dashes its kind. Lasting faults are
// shaded and named. From 24 processes on, or with too many steps, arrows have no labels. The drawing is less than
// 2000 pixels wide and high, follows the viewer's preference for light or dark, has no external references, and has
// the same bytes for the same record. The error wraps [ErrTooLarge] or [trace.ErrRecord].
func Diagram(r *trace.Record, window trace.Window) (*Drawing, error) {
	if err := drawable(r); err != nil {
		return nil, err
	}
	first, past := window.Steps(r)
	messages := 0
	for i := range r.Steps[first:past] {
		messages += len(r.Steps[first+i].Sent)
	}
	for _, limit := range []struct {
		is, most int
		of       string
	}{{past - first, MaxSteps, "steps"}, {messages, MaxMessages, "messages"}} {
		if limit.is > limit.most {
			return nil, tooLarge(limit.is, limit.most, limit.of)
		}
	}
	d := layOut(r, window)
	d.draw()
	return &d.Drawing, nil
}

// drawable returns an error if the record contradicts itself, or has too many processes.
func drawable(r *trace.Record) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.N > MaxProcesses {
		return tooLarge(r.N, MaxProcesses, "processes")
	}
	return nil
}

func tooLarge(is, most int, of string) error {
	return fmt.Errorf("%w: %d %s; at most %d can be drawn (a story or a file has no limit)", ErrTooLarge, is, of, most)
}

func (d *diagram) draw() {
	items := d.legend()
	d.Width = d.widthOf(d.end+d.endWidth()+Margin, d.subtitle())
	d.head(d.r.Title, d.r.Title+": space–time diagram", d.subtitle(), d.description())
	rows := flow(items, d.Width-2*Margin)
	for _, item := range items {
		d.item(item, Margin+item.x, d.top+float64(24*item.row))
	}
	d.top += float64(24*rows) + float64(17*d.levels()) + 14
	d.Height = d.top + d.y(d.lines-1) + 60

	d.drawShades()
	d.axis()
	d.processes()
	if len(d.arrows) > headed {
		d.bareArrows()
	} else {
		for i := range d.arrows {
			d.arrow(&d.arrows[i])
		}
	}
	d.losses()
	for _, m := range d.marks {
		d.mark(m)
	}
	d.drawFaultNames()
	for _, l := range d.labels {
		d.Add(Element{Role: l.class, Fill: Ink, Text: l.text, Size: Small, Anchor: 0.5, Above: true, At: At(l.at.X, d.top+l.at.Y+4)})
	}
	d.nameLines()
}

// bold is the width of bold letters relative to others.
const bold = 1.15

// widthOf returns the width of a drawing with content of that width, its title and, if it is short, its subtitle on a
// line each.
func (d *diagram) widthOf(content float64, subtitle string) float64 {
	const long = 600
	return min(Wide, max(content, 2*Margin+TextWidth(d.r.Title, bold*Large), 2*Margin+min(long, TextWidth(subtitle, Normal))))
}

// head writes the title and the texts below it, and notes where they end.
func (d *diagram) head(shown, title, subtitle, description string) {
	d.Title, d.Description, d.Symbols = title, description, symbols()
	d.top = 18
	for _, line := range d.wrap(shown, bold*Large) {
		d.top += 22
		d.text(Element{Role: "title", Text: line, Size: Large, Bold: true, At: At(Margin, d.top)})
	}
	d.top += 4
	for _, line := range d.wrap(subtitle, Normal) {
		d.top += 18
		d.text(Element{Role: "subtitle", Fill: Muted, Text: line, At: At(Margin, d.top)})
	}
	d.top += 26
}

// wrap breaks a text into lines that fit the drawing.
func (d *diagram) wrap(text string, size float64) []string {
	return Wrap(text, d.Width-2*Margin, func(text string) float64 { return TextWidth(text, size) })
}

// text adds a text, by default in ink and of the normal size.
func (d *diagram) text(e Element) {
	if e.Fill.Name == "" {
		e.Fill = Ink
	}
	if e.Size == 0 {
		e.Size = Normal
	}
	d.Add(e)
}

// subtitle returns what was run, with the changed parameters.
func (d *diagram) subtitle() string {
	r := d.r
	parts := []string{r.Timing + " " + r.NetworkText()}
	if r.Schedule != "" {
		parts = append(parts, "schedule "+r.Schedule)
	}
	if r.Delay > 1 {
		parts = append(parts, fmt.Sprintf("delays 1 to %d", r.Delay))
	}
	if r.Unordered {
		parts = append(parts, "non-FIFO links")
	}
	if r.Seed != 0 { // the checker has none
		parts = append(parts, fmt.Sprintf("seed %d", r.Seed))
	}
	for _, name := range r.Changed {
		parts = append(parts, name+" "+r.Parameters[name])
	}
	if text := d.window.Text(&r.Header); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// description returns the essentials in words, for readers who cannot see the drawing.
func (d *diagram) description() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s. Messages:", d.r.Title, d.subtitle())
	counts := d.counts()
	for i, k := range d.r.Kinds {
		fmt.Fprintf(&b, " %s %d;", network.MessageText(k.Name, ""), counts[i])
	}
	b.WriteString(" in the end:")
	for p := range d.r.N {
		fmt.Fprintf(&b, " %s %s;", d.texts.Process(p), d.final[p])
	}
	return strings.TrimSuffix(b.String(), ";") + "."
}

// counts returns the number of messages by kind.
func (d *diagram) counts() []int {
	counts := make([]int, len(d.r.Kinds))
	for i := range d.arrows {
		if !d.arrows[i].copy {
			counts[d.r.KindIndex(d.arrows[i].sent.Kind)]++
		}
	}
	return counts
}

// item is an entry of the legend: a kind of message with its count, a line, or a mark.
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
	width := TextWidth(i.text, Normal) + 16
	switch {
	case i.kind >= 0:
		return width + sample + 8
	case i.symbol != "":
		return width + symbolWidth
	}
	return width
}

// meanings are the legend's texts for marks.
var meanings = [][2]string{
	{string(trace.Start), "initiates"},
	{string(trace.Timeout), "timer expires"},
	{string(trace.Suspect), "suspects a process"},
	{string(trace.Trust), "trusts it again"},
	{string(trace.Crash), "crashes"},
	{string(trace.Recover), "recovers"},
	{string(trace.Command), "receives a command"},
	{"leader", "leader"},
	{"follower", "follower"},
	{"undecided", "electing"},
}

// legend explains what occurs.
func (d *diagram) legend() []item {
	var items []item
	counts, total := d.counts(), 0
	for i, k := range d.r.Kinds {
		items = append(items, item{text: fmt.Sprintf("%s %d", network.MessageText(k.Name, ""), counts[i]), kind: i})
		if k.Class != "overhead" {
			total += counts[i]
		}
	}
	items = append(items, item{text: fmt.Sprintf("total %d", total), kind: -1})
	begin := len(items)
	for _, meaning := range meanings {
		if slices.ContainsFunc(d.marks, func(m mark) bool { return m.symbol == meaning[0] }) {
			items = append(items, item{text: meaning[1], kind: -1, symbol: meaning[0]})
		}
	}
	if slices.ContainsFunc(d.arrows, func(a arrow) bool { return a.lost }) {
		items = append(items, item{text: "lost", kind: -1, symbol: "lost"})
	}
	if len(d.arrows) <= headed && slices.ContainsFunc(d.arrows, func(a arrow) bool { return a.endedIn < 0 }) {
		items = append(items, item{text: "under way", kind: -1, symbol: "under-way"})
	}
	if begin < len(items) {
		items[begin].first = true
	}
	return items
}

// flow places the items in rows of that width and returns the number of rows.
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

func (d *diagram) item(i item, x, y float64) {
	e := Element{Text: i.text}
	switch {
	case i.kind >= 0:
		sampled := d.stroke(i.kind)
		sampled.Role, sampled.Path = fmt.Sprintf("sample kind-%d", i.kind), Lines(At(x, y), At(x+sample, y))
		d.Add(sampled)
		x += sample + 8
	case i.symbol != "":
		d.Add(Element{Symbol: i.symbol, At: At(x+symbolWidth/2-3, y)})
		x += symbolWidth
	default:
		e.Bold = true
	}
	e.At = At(x, y+4.5)
	d.text(e)
}

// stroke returns the style of a kind's arrows.
func (d *diagram) stroke(kind int) Element {
	class := d.r.Kinds[kind].Class
	look := lookOf(class)
	return Element{
		Role: fmt.Sprintf("message %s kind-%d", class, kind), Stroke: look.colour, Width: look.width,
		Dashes: d.dashes()[kind], Head: look.head,
	}
}

// axis draws the time and faint lines at its ticks.
func (d *diagram) axis() {
	top, bottom := d.top-12, d.top+d.y(d.lines-1)+24
	d.Add(Element{Stroke: Axis, Width: 1, Path: Lines(At(d.left, bottom), At(d.end, bottom))})
	for _, t := range d.ticks {
		d.Add(Element{Stroke: Grid, Width: 1, Path: Lines(At(t.x, top), At(t.x, bottom))})
		d.Add(Element{Stroke: Axis, Width: 1, Path: Lines(At(t.x, bottom), At(t.x, bottom+4))})
		d.text(Element{Role: "tick", Fill: Muted, Text: t.label, Size: Small, Anchor: 0.5, At: At(t.x, bottom+18)})
	}
	for _, x := range d.breaks {
		left, right := []Point{At(x-4, bottom+5), At(x, bottom-5)}, []Point{At(x+1, bottom+5), At(x+5, bottom-5)}
		d.Add(Element{Fill: Paper, Path: Area(left[0], left[1], right[1], right[0])})
		d.Add(Element{Role: "break", Stroke: Axis, Width: 1, Path: append(Lines(left...), Lines(right...)...)})
	}
	of := "step →"
	if d.r.Clock {
		of = "time →"
	}
	d.text(Element{Fill: Muted, Text: of, Size: Small, At: At(d.end+14, bottom+4)})
}

// processes draws the lines.
func (d *diagram) processes() {
	for _, s := range d.stretches {
		e := Element{Role: s.class, Stroke: grey, Width: 1.5, Path: d.along(s, s.line)}
		if d.lineGap < 30 { // many lines are fainter than their events
			e.Stroke, e.Width = pale, 1
		}
		switch s.class {
		case "leads":
			e.Stroke, e.Width = Ink, max(2.4, 5*d.scale)
		case "dead":
			e.Stroke, e.Dashes = grey, []float64{1.5, 5}
		}
		d.Add(e)
		if s.line == 0 && d.lines > d.r.N {
			e.Role, e.Faint, e.Path = s.class+" again", 0.45, d.along(s, d.r.N)
			d.Add(e)
		}
	}
}

// along returns the path of a stretch on a line.
func (d *diagram) along(s stretch, line int) []Move {
	return Lines(At(d.at(s.from), d.top+d.y(line)), At(d.at(s.to), d.top+d.y(line)))
}

// nameLines writes the names of processes before their lines and their final roles behind. If lines are too close, it
// names leaders and as many others as there is room for.
func (d *diagram) nameLines() {
	stride, size := int(math.Ceil(readable/d.lineGap)), Normal
	if d.lineGap < 20 {
		size = Small
	}
	leads := func(p int) bool { return strings.HasPrefix(d.final[p], "leader") }
	for p := range d.r.N {
		near := slices.ContainsFunc(d.final[max(0, p-stride+1):min(d.r.N, p+stride)], func(final string) bool { return strings.HasPrefix(final, "leader") })
		if !leads(p) && (near && stride > 1 || p%stride != 0) {
			continue
		}
		y := d.top + d.y(p)
		d.text(Element{Text: d.texts.Process(p), Size: size, Bold: true, Anchor: 1, At: At(d.left-10, y+5)})
		d.text(Element{Fill: Muted, Text: d.final[p], Size: Small, Bold: leads(p), At: At(d.end+14, y+4)})
	}
	if y := d.top + d.y(d.r.N); d.lines > d.r.N && stride == 1 {
		d.text(Element{Fill: Muted, Text: d.texts.Process(0), Size: size, Anchor: 1, At: At(d.left-10, y+5)})
		d.text(Element{Fill: Muted, Text: d.texts.Process(0) + " again", Size: Small, At: At(d.end+14, y+4)})
	}
}

func (d *diagram) arrow(a *arrow) {
	e := d.stroke(d.r.KindIndex(a.sent.Kind))
	e.About = fmt.Sprintf("message %d, %s from %s to %s: sent in step %d, ", a.sent.Message, network.MessageText(a.sent.Kind, a.sent.Text),
		d.texts.Process(a.from), d.texts.Process(a.sent.To), a.sentIn+1)
	switch {
	case a.endedIn < 0:
		e.About, e.Head = e.About+"still under way", "under-way"
	case a.lost:
		e.About, e.Head = e.About+fmt.Sprintf("lost in step %d", a.endedIn+1), ""
	default:
		e.About += fmt.Sprintf("received in step %d", a.endedIn+1)
	}
	e.Path = d.path(a)
	d.Add(e)
}

func (d *diagram) path(a *arrow) []Move {
	start, end := At(a.start.X, d.top+a.start.Y), At(a.end.X, d.top+a.end.Y)
	if a.startRow != a.endRow {
		return Lines(start, end)
	}
	return []Move{
		{Op: Start, To: start},
		{Op: Curve, Bend: At(along(start.X, end.X, 0.5), start.Y-d.lineGap*0.6), To: end},
	}
}

// bareArrows draws all messages of a kind as one path of thin lines, without heads and stories.
func (d *diagram) bareArrows() {
	thin := max(0.12, min(0.9, 0.9*math.Sqrt(1500/float64(len(d.arrows))))) // else many make one blot
	for kind := range d.r.Kinds {
		e := d.stroke(kind)
		e.Head, e.Width = "", e.Width*thin
		if len(d.arrows) > 20*headed { // dashes would not be seen, and cost pictures their time
			e.Dashes = nil
		}
		for i := range d.arrows {
			if a := &d.arrows[i]; d.r.KindIndex(a.sent.Kind) == kind {
				e.Path = append(e.Path, d.path(a)...)
			}
		}
		if len(e.Path) > 0 {
			d.Add(e)
		}
	}
}

// losses marks lost messages. One of several overlapping marks is enough.
func (d *diagram) losses() {
	const near = 4.0
	marked := map[[2]int]bool{}
	for i := range d.arrows {
		a := &d.arrows[i]
		place := [2]int{int(a.end.X / near), int(a.end.Y / near)}
		if a.lost && !marked[place] {
			marked[place] = true
			d.Add(Element{Symbol: "lost", At: At(a.end.X, d.top+a.end.Y), Scale: max(0.5, d.scale)})
		}
	}
}

func (d *diagram) mark(m mark) {
	e := Element{Symbol: m.symbol, At: At(m.x, d.top+d.y(m.line)), About: m.about, Scale: d.scale}
	if m.symbol == "leader" {
		e.Scale = max(0.8, e.Scale)
	}
	d.Add(e)
	if m.line == 0 && d.lines > d.r.N {
		e.Role, e.About, e.Faint, e.At.Y = "again", "", 0.45, d.top+d.y(d.r.N)
		d.Add(e)
	}
}
