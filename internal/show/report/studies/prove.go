package studies

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/prove"
)

// Proof is what solvers have found of a model.
type Proof struct {
	Plan    *prove.Plan
	Results []*prove.Result // by solver
}

// Proved reports whether each solver has proved all.
func (r *Proof) Proved() bool {
	return len(r.Results) > 0 && !slices.ContainsFunc(r.Results, func(s *prove.Result) bool { return s.Contradiction() || s.Proved() < r.Plan.Proved() })
}

// Refuted reports whether a solver has refuted something.
func (r *Proof) Refuted() bool {
	return slices.ContainsFunc(r.Results, func(s *prove.Result) bool {
		return s.Contradiction() || slices.ContainsFunc(s.Answers[1:], func(a prove.Answer) bool { return a.Verdict == prove.Refuted })
	})
}

// ProofHead writes the head of the table of proofs.
func ProofHead(w io.Writer, solvers []*prove.Solver) {
	fmt.Fprintf(w, "%-19s %11s %4s  %-4s", "model", "obligations", "kept", "tie")
	for _, s := range solvers {
		fmt.Fprintf(w, "  %-17s", s.Name+" "+s.Version)
	}
	fmt.Fprintln(w)
}

// Row writes the row of one proof, and below it what is not proved.
func (r *Proof) Row(w io.Writer) {
	fmt.Fprintf(w, "%-19s %11d %4d  %-4s", r.Plan.Model.Name, r.Plan.Proved(), r.Plan.Kept, r.Plan.Model.Tied())
	for _, s := range r.Results {
		text := "proved"
		switch {
		case s.Contradiction():
			text = "void"
		case s.Proved() < r.Plan.Proved():
			text = fmt.Sprintf("%d of %d", s.Proved(), r.Plan.Proved())
		}
		fmt.Fprintf(w, "  %-10s %4.1f s", text, s.Used.Seconds())
	}
	fmt.Fprintln(w)
	for _, s := range r.Results {
		if s.Contradiction() {
			fmt.Fprintf(w, "  %s: the axioms contradict each other, so that anything follows from them\n", s.Name)
		}
	}
	var gaveUp []string // how, in the order of the obligations
	names := map[string][]string{}
	for i, obligation := range r.Plan.Obligations[1:] {
		how, refuted := r.open(i + 1)
		switch {
		case refuted:
			fmt.Fprintf(w, "  not proved: %s   (%s)\n", obligation.Name, how)
		case how != "":
			if names[how] == nil {
				gaveUp = append(gaveUp, how)
			}
			names[how] = append(names[how], obligation.Name)
		}
	}
	const most = 3 // of names: a solver that gives up often gives up on all
	for _, how := range gaveUp {
		text := strings.Join(names[how][:min(most, len(names[how]))], ", ")
		if more := len(names[how]) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(w, "  not proved: %s   (%s)\n", text, how)
	}
}

// open returns how solvers have failed to prove an obligation, or "" if all have proved it, and whether one has refuted it.
func (r *Proof) open(obligation int) (how string, refuted bool) {
	var open []string
	for _, s := range r.Results {
		if v := s.Answers[obligation].Verdict; v != prove.Proved {
			open, refuted = append(open, s.Name+" "+v.String()), refuted || v == prove.Refuted
		}
	}
	return strings.Join(open, ", "), refuted
}

// Counterexample is a counterexample to induction on a ring.
type Counterexample struct{ *finite.Counterexample }

// Step returns the action with its arguments.
func (c Counterexample) Step() string {
	parts := make([]string, len(c.Args))
	for k, p := range c.Action.Parameters {
		parts[k] = p.Name + " = " + c.Name(p.Sort, c.Args[k])
	}
	return c.Action.Name + "   " + strings.Join(parts, ", ")
}

func (c Counterexample) texts(facts []finite.Fact) string {
	texts := make([]string, len(facts))
	for k, f := range facts {
		texts[k] = c.Text(f)
	}
	if len(texts) == 0 {
		return "nothing"
	}
	return strings.Join(texts, ", ")
}

// Ring returns the processes, going right.
func (c Counterexample) Ring() (names []string) {
	for p := range c.Elements("Process") {
		names = append(names, c.Name("Process", p))
	}
	return names
}

// Print writes the counterexample for people.
func (c Counterexample) Print(w io.Writer) {
	text := fmt.Sprintf("The smallest state of %d that were tried in which all that is left holds, and a step that breaks it. No run need reach that state.", c.Tried)
	fmt.Fprintf(w, "%s\n\n", report.Wrap(text, report.UsualWidth))
	fmt.Fprintf(w, "  ring   going right: %s, and %s again\n", strings.Join(c.Ring(), ", "), c.Ring()[0])
	fmt.Fprintf(w, "  state  %s\n", c.texts(c.Facts))
	fmt.Fprintf(w, "  step   %s\n         %s\n", c.Step(), c.Action.Words)
	fmt.Fprintf(w, "  then   %s\n", c.texts(c.New))
	for _, f := range c.Broken {
		fmt.Fprintf(w, "  broken %s: %s\n", f.Name, f.Words)
	}
}

// Place returns the process at which a fact is shown, its last one, or -1.
func Place(f finite.Fact) int {
	for k := len(f.Args) - 1; k >= 0; k-- {
		if f.Symbol.Args[k] == "Process" {
			return f.Args[k]
		}
	}
	return -1
}

// meanings returns what the state functions of the facts mean, one a line.
func (c Counterexample) meanings() (lines []string) {
	for _, f := range slices.Concat(c.Facts, c.New) {
		if line := f.Symbol.Name + ": " + f.Symbol.Words; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Drawing draws the ring, with the facts of the state at their processes, what the step changes in another colour, and the words below.
func (c Counterexample) Drawing() *drawing.Drawing {
	s := &drawing.Drawing{
		Width: 640, Title: "A counterexample to induction: " + c.Model.Title,
		Description: "state: " + c.texts(c.Facts) + "; step: " + c.Step() + "; broken: " + logic.Names(c.Broken),
		Symbols:     []drawing.Symbol{{Name: "arrow", Shape: []drawing.Element{{Path: drawing.Area(drawing.At(-9, -5), drawing.At(0, 0), drawing.At(-9, 5)), Fill: drawing.Axis}}}},
	}
	s.Add(drawing.Element{Text: c.Model.Title, At: drawing.At(drawing.Margin, 34), Size: drawing.Large, Bold: true, Fill: drawing.Ink})
	top := 0 // the facts above the ring
	for _, f := range slices.Concat(c.Facts, c.New) {
		top += map[bool]int{true: 1}[Place(f) == 0]
	}
	ring := &ringDrawing{Drawing: s, names: c.Ring(), middle: drawing.At(s.Width/2, 200+lineHeight*float64(top)), radius: 110}
	for p := range ring.names {
		ring.process(p)
		ring.facts(c, p)
	}
	y := ring.middle.Y + ring.radius + 80
	write := func(text string, colour drawing.Colour) {
		for _, line := range drawing.Wrap(text, s.Width-2*drawing.Margin, func(t string) float64 { return 6.6 * float64(len(t)) }) {
			s.Add(drawing.Element{Text: line, At: drawing.At(drawing.Margin, y), Size: drawing.Small, Fill: colour})
			y += 17
		}
	}
	write("Before: "+c.texts(c.Facts)+". All invariants that are left hold.", drawing.Ink)
	write("Step: "+c.Step()+". "+c.Action.Words, drawing.Ink)
	write("Then: "+c.texts(c.New)+".", drawing.Looks[1])
	for _, f := range c.Broken {
		write("Broken: "+f.Name+". "+f.Words, drawing.Looks[1])
	}
	y += 8
	for _, line := range c.meanings() {
		write(line+".", drawing.Muted)
	}
	s.Height = y + drawing.Margin/2
	return s
}

// lineHeight is the distance of lines of facts.
const lineHeight = 16.0

// ringDrawing is where the processes of a ring are drawn.
type ringDrawing struct {
	*drawing.Drawing
	names  []string
	middle drawing.Point
	radius float64
}

// angle returns the direction of a place on the ring: the first process is at the top.
func (r *ringDrawing) angle(p float64) float64 {
	return 2*math.Pi*p/float64(len(r.names)) - math.Pi/2
}

// process draws a process, and the arrow to its right neighbour.
func (r *ringDrawing) process(p int) {
	const parts = 12 // of an arc
	gap := 30 / r.radius / (2 * math.Pi) * float64(len(r.names))
	arc := make([]drawing.Point, parts+1)
	for k := range arc {
		arc[k] = r.middle.Polar(r.radius, r.angle(float64(p)+gap+(1-2*gap)*float64(k)/parts))
	}
	at := r.middle.Polar(r.radius, r.angle(float64(p)))
	r.Add(drawing.Element{Path: drawing.Lines(arc...), Stroke: drawing.Axis, Width: 1.5, Head: "arrow"})
	r.Add(drawing.Element{Path: drawing.Circle(at, 20), Fill: drawing.Paper, Stroke: drawing.Ink, Width: 2})
	r.Add(drawing.Element{Text: r.names[p], At: drawing.At(at.X, at.Y+5), Anchor: .5, Bold: true, Size: drawing.Normal, Fill: drawing.Ink})
}

// facts writes the facts that are shown at a process beside it.
func (r *ringDrawing) facts(c Counterexample, p int) {
	var lines []drawing.Element
	write := func(all []finite.Fact, mark string, colour drawing.Colour) {
		for _, f := range all {
			if Place(f) == p {
				lines = append(lines, drawing.Element{Text: mark + c.Text(f), Size: drawing.Small, Fill: colour, Above: true})
			}
		}
	}
	write(c.Facts, "", drawing.Ink)
	write(c.New, "+ ", drawing.Looks[1])
	out := r.middle.Polar(r.radius+36, r.angle(float64(p)))
	anchor, above := .5, 0.0
	if math.Abs(out.X-r.middle.X) > 20 {
		anchor = map[bool]float64{true: 0, false: 1}[out.X > r.middle.X]
	}
	if out.Y < r.middle.Y {
		above = lineHeight * float64(len(lines)-1)
	}
	for k, line := range lines {
		line.At, line.Anchor = drawing.At(out.X, out.Y+5-above+lineHeight*float64(k)), anchor
		r.Add(line)
	}
}
