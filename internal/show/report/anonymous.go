package report

import (
	"fmt"
	"strings"

	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/simulate"
)

// Symmetry is a lock-step run of indistinguishable processes.
type Symmetry struct {
	Subject
	*simulate.Symmetry
}

// JSON returns the run for programs.
func (s *Symmetry) JSON() any {
	result := append(s.identity(arranged{s.Prepared}), Field{"timing", s.Timing.String()}, Field{"seed", s.Seed},
		Field{"parameters", Parameters(s.Prepared.Parameters)})
	var apart, repeats any
	if s.Apart != nil {
		apart = Object{{"time", s.Apart.At}, {"positions", []int{s.Apart.Process, s.Apart.Other}}}
	}
	if s.Repeats != nil {
		repeats = Object{{"from", s.Repeats.From}, {"to", s.Repeats.To}}
	}
	result = append(result, Field{"anonymous", Object{
		{"alike", s.Alike}, {"units_compared", s.Rounds}, {"equal", s.Apart == nil}, {"chance", s.Chance}, {"apart", apart}, {"repeats", repeats},
	}})
	result = append(result, outcomeJSON(s.Declaration, &s.Outcome)...)
	result = append(result, Field{"time", times(s.Time.Elected, s.Time.Decided, s.Time.Quiet)})
	return append(result, Field{"complete", s.Complete})
}

// Text prints the run for people.
func (s *Symmetry) Text(p *Printer) error {
	paint, w, n := p.Paint(), p.Out, len(s.Decisions)
	fmt.Fprintf(w, "%s · %s · %s\n", paint.Text(Bold, s.Title), networkOf(s.Declaration, s.Timing, n), s.Source)
	p.underTitle(lineUp(s.Declaration, arranged{s.Prepared}, func(int) bool { return false }), fmt.Sprintf("all processes initiate, seed %d", s.Seed))

	row := func(name, text string) { fmt.Fprintf(w, "  %-12s %s\n", name, text) }
	verdict, colour := symmetryVerdict(s.Symmetry)
	fmt.Fprintln(w, paint.Text(colour, verdict))
	row("symmetric", groups(s.Alike))
	if len(s.Alike) < n {
		compared := fmt.Sprintf("states of symmetric processes were equal after each of the %s with events", amount.Of(s.Rounds, "unit"))
		if s.Apart != nil {
			compared = fmt.Sprintf("equal until choices made positions %d and %d differ, in unit %s", s.Apart.Process, s.Apart.Other, s.Apart.At)
		}
		row("compared", compared)
	}
	row("then", judgement(s.Symmetry))
	row("leaders", leaders(s.Symmetry))
	return nil
}

// symmetryVerdict returns in a line what the run shows.
func symmetryVerdict(s *simulate.Symmetry) (text, colour string) {
	n := len(s.Decisions)
	switch leader, one := s.Leader(); {
	case n == 1:
		return "one process: symmetry does not prevent an election", Green
	case s.Alone():
		return fmt.Sprintf("no two of the %d processes are symmetric: symmetry does not prevent an election", n), Green
	case one && s.Chance:
		return fmt.Sprintf("random choices break the symmetry: leader at position %d", leader), Green
	case s.Chance:
		return "processes choose at random, and have not elected one leader", Red
	}
	return "no leader can be elected: symmetric processes take the same steps at the same time", Red
}

// groups returns a text with the classes of alike positions.
func groups(alike [][]int) string {
	const shown = 8
	if len(alike) == 1 && len(alike[0]) > 1 {
		return fmt.Sprintf("all %d", len(alike[0]))
	}
	var texts []string
	for _, same := range alike {
		if len(texts) == shown {
			texts = append(texts, "…")
			break
		}
		list := fmt.Sprint(same[:min(len(same), shown)])
		if len(same) > shown {
			list = strings.TrimSuffix(list, "]") + " …]"
		}
		texts = append(texts, list)
	}
	return "positions " + strings.Join(texts, " ")
}

// judgement returns how the run ended.
func judgement(s *simulate.Symmetry) string {
	switch {
	case s.Repeats != nil:
		return fmt.Sprintf("unit %s has the states and messages of unit %s: the run repeats for ever", s.Repeats.To, s.Repeats.From)
	case !s.Complete:
		return "the limit ended the run; equal processes stay equal for ever"
	}
	return fmt.Sprintf("quiescent after unit %s: nothing changes any more", s.Time.Quiet)
}

// leaders returns how many leaders there are, and where.
func leaders(s *simulate.Symmetry) string {
	switch n := len(s.Decisions); {
	case len(s.Leaders) == 0:
		return "none"
	case len(s.Leaders) == n && n > 1:
		return fmt.Sprintf("all %d", n)
	}
	texts := fmt.Sprint(s.Leaders[:min(len(s.Leaders), 8)])
	if len(s.Leaders) > 8 {
		texts = strings.TrimSuffix(texts, "]") + " …]"
	}
	return fmt.Sprintf("%d of %d, at positions %s", len(s.Leaders), len(s.Decisions), texts)
}
