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
	fmt.Fprintf(w, "%-20s %11s %5s", "model", "obligations", "kept")
	for _, s := range solvers {
		fmt.Fprintf(w, "   %-17s", s.Name+" "+s.Version)
	}
	fmt.Fprintln(w)
}

// Row writes the row of one proof, and below it what is not proved.
func (r *Proof) Row(w io.Writer) {
	fmt.Fprintf(w, "%-20s %11d %5d", r.Plan.Model.Name, r.Plan.Proved(), r.Plan.Kept)
	for _, s := range r.Results {
		text := "proved"
		if s.Proved() < r.Plan.Proved() {
			text = fmt.Sprintf("%d of %d", s.Proved(), r.Plan.Proved())
		}
		fmt.Fprintf(w, "   %-10s %4.1f s", text, s.Used.Seconds())
	}
	fmt.Fprintln(w)
	for _, s := range r.Results {
		if s.Contradiction() {
			fmt.Fprintf(w, "  %s: the axioms contradict each other, so that anything follows from them\n", s.Name)
		}
	}
	for i := 1; i < len(r.Plan.Obligations); i++ {
		var open []string
		for _, s := range r.Results {
			if v := s.Answers[i].Verdict; v != prove.Proved {
				open = append(open, s.Name+" "+v.String())
			}
		}
		if len(open) > 0 {
			fmt.Fprintf(w, "  not proved: %s   (%s)\n", r.Plan.Obligations[i].Name, strings.Join(open, ", "))
		}
	}
}

// Counterexample is a counterexample to induction on a ring.
type Counterexample struct{ *finite.Counterexample }

// step returns the step in words.
func (c Counterexample) step() string {
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

func (c Counterexample) ring() (names []string) {
	for p := range c.Elements("Process") {
		names = append(names, c.Name("Process", p))
	}
	return names
}

// Print writes the counterexample for people.
func (c Counterexample) Print(w io.Writer) {
	text := fmt.Sprintf("The smallest state of %d that were tried in which all that is left holds, and a step that breaks it. No run reaches that state, if what was left out is true.", c.Tried)
	fmt.Fprintf(w, "\n%s\n\n", report.Wrap(text, report.UsualWidth))
	fmt.Fprintf(w, "  ring   going right: %s, and %s again\n", strings.Join(c.ring(), ", "), c.ring()[0])
	fmt.Fprintf(w, "  state  %s\n", c.texts(c.Facts))
	fmt.Fprintf(w, "  step   %s\n         %s\n", c.step(), c.Action.Words)
	fmt.Fprintf(w, "  then   %s\n", c.texts(c.New))
	for _, f := range c.Broken {
		fmt.Fprintf(w, "  broken %s: %s\n", f.Name, f.Words)
	}
}

// place returns the process at which a fact is shown, its last one, or -1.
func place(f finite.Fact) int {
	for k := len(f.Args) - 1; k >= 0; k-- {
		if f.Symbol.Args[k] == "Process" {
			return f.Args[k]
		}
	}
	return -1
}

// Sheet draws the ring, with the facts of the state at their processes, what the step changes in another colour, and the words below.
func (c Counterexample) Drawing() *drawing.Drawing {
	const radius, width = 110.0, 640.0
	names, middle := c.ring(), drawing.At(width/2, 230)
	s := &drawing.Drawing{
		Width: width, Title: "A counterexample to induction: " + c.Model.Title,
		Description: "state: " + c.texts(c.Facts) + "; step: " + c.step() + "; broken: " + logic.Names(c.Broken),
		Symbols:     []drawing.Symbol{{Name: "arrow", Shape: []drawing.Element{{Path: drawing.Area(drawing.At(-9, -5), drawing.At(0, 0), drawing.At(-9, 5)), Fill: drawing.Ink}}}},
	}
	s.Add(drawing.Element{Text: c.Model.Title, At: drawing.At(drawing.Margin, 34), Size: drawing.Large, Bold: true, Fill: drawing.Ink})
	angle := func(p float64) float64 { return 2*math.Pi*p/float64(len(names)) - math.Pi/2 }
	for p, name := range names {
		at := middle.Polar(radius, angle(float64(p)))
		s.Add(drawing.Element{Path: drawing.Lines(middle.Polar(radius, angle(float64(p)+.25)), middle.Polar(radius, angle(float64(p)+.5)), middle.Polar(radius, angle(float64(p)+.75))), Stroke: drawing.Axis, Width: 1.5, Head: "arrow"})
		s.Add(drawing.Element{Path: drawing.Circle(at, 20), Fill: drawing.Paper, Stroke: drawing.Ink, Width: 2})
		s.Add(drawing.Element{Text: name, At: drawing.At(at.X, at.Y+5), Anchor: .5, Bold: true, Size: drawing.Normal, Fill: drawing.Ink})
		line := 0
		label := func(f finite.Fact, colour drawing.Colour, mark string) {
			if place(f) != p {
				return
			}
			out := middle.Polar(radius+36, angle(float64(p)))
			anchor := .5
			if math.Abs(out.X-middle.X) > 20 {
				anchor = map[bool]float64{true: 0, false: 1}[out.X > middle.X]
			}
			up := 0.0
			if out.Y < middle.Y {
				up = -16 * float64(len(c.Facts)+len(c.New)-1) / 2
			}
			s.Add(drawing.Element{Text: mark + c.Text(f), At: drawing.At(out.X, out.Y+5+up+16*float64(line)), Anchor: anchor, Size: drawing.Small, Fill: colour, Above: true})
			line++
		}
		for _, f := range c.Facts {
			label(f, drawing.Ink, "")
		}
		for _, f := range c.New {
			label(f, drawing.Looks[1], "+ ")
		}
	}
	y := middle.Y + radius + 80
	write := func(text string, colour drawing.Colour) {
		for _, line := range drawing.Wrap(text, width-2*drawing.Margin, func(t string) float64 { return 6.6 * float64(len(t)) }) {
			s.Add(drawing.Element{Text: line, At: drawing.At(drawing.Margin, y), Size: drawing.Small, Fill: colour})
			y += 17
		}
	}
	write("Before: "+c.texts(c.Facts)+". All other invariants hold.", drawing.Ink)
	write("Step: "+c.step()+". "+c.Action.Words, drawing.Ink)
	for _, f := range c.Broken {
		write("Broken: "+f.Name+". "+f.Words, drawing.Looks[1])
	}
	s.Height = y + drawing.Margin/2
	return s
}
