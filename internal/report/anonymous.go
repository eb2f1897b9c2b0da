package report

import (
	"fmt"
	"strings"

	"ringleader.example/ringleader/simulate"
)

// Symmetry is a lock-step run of indistinguishable processes.
type Symmetry struct {
	Subject
	*simulate.Symmetry
}

// JSON returns the run for programs.
func (s *Symmetry) JSON() any {
	result := append(s.identity(arranged{s.Prepared}), field{"timing", s.Timing.String()}, field{"seed", s.Seed},
		field{"parameters", parameters(s.Prepared.Parameters)})
	var apart, repeats any
	if s.Apart != nil {
		apart = object{{"time", s.Apart.At}, {"positions", []int{s.Apart.Process, s.Apart.Other}}}
	}
	if s.Repeats != nil {
		repeats = object{{"from", s.Repeats.From}, {"to", s.Repeats.To}}
	}
	result = append(result, field{"anonymous", object{
		{"alike", s.Alike}, {"units_compared", s.Rounds}, {"equal", s.Apart == nil}, {"chance", s.Chance}, {"apart", apart}, {"repeats", repeats},
	}})
	result = append(result, outcomeJSON(s.Declaration, &s.Outcome)...)
	result = append(result, field{"time", times(s.Time.Elected, s.Time.Decided, s.Time.Quiet)})
	return append(result, field{"complete", s.Complete})
}

// Text prints the run for people.
func (s *Symmetry) Text(p *Printer) error {
	paint, w, n := p.Paint(), p.Out, len(s.Decisions)
	fmt.Fprintf(w, "%s · %s · %s\n", paint.Text(Bold, s.Title), networkOf(s.Declaration, s.Timing, n), s.Source)
	p.underTitle(lineUp(s.Declaration, arranged{s.Prepared}, func(int) bool { return false }), fmt.Sprintf("all start, seed %d", s.Seed))

	row := func(name, text string) { fmt.Fprintf(w, "  %-12s %s\n", name, text) }
	verdict, colour := symmetryVerdict(s.Symmetry)
	fmt.Fprintln(w, paint.Text(colour, verdict))
	row("alike", groups(s.Alike))
	if len(s.Alike) < n {
		compared := fmt.Sprintf("after each of the %d units in which anything happened: all that are alike were equal", s.Rounds)
		if s.Apart != nil {
			compared = fmt.Sprintf("equal, until choices told positions %d and %d apart in unit %s", s.Apart.Process, s.Apart.Other, s.Apart.At)
		}
		row("compared", compared)
	}
	row("then", judgement(s.Symmetry))
	row("leaders", leaders(s.Symmetry))
	return nil
}

// symmetryVerdict returns a line with the result of the run.
func symmetryVerdict(s *simulate.Symmetry) (text, colour string) {
	n := len(s.Decisions)
	switch leader, one := s.Leader(); {
	case n == 1:
		return "one process is like nobody else: nothing stands against an election", Green
	case s.Alone():
		return fmt.Sprintf("no two of the %d processes are alike: nothing stands against an election", n), Green
	case one && s.Chance:
		return fmt.Sprintf("chance tells them apart: the process at position %d leads", leader), Green
	case s.Chance:
		return "they choose, and have not elected one leader", Red
	}
	return "nobody can be elected: whatever one process does, those that are like it do at the same time", Red
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
		return fmt.Sprintf("unit %s is as unit %s was, messages and all: so it goes on for ever", s.Repeats.To, s.Repeats.From)
	case !s.Complete:
		return "the limit stopped it; being equal, those that are alike stay equal for ever"
	}
	return fmt.Sprintf("all is quiet after unit %s: nothing changes any more", s.Time.Quiet)
}

// leaders returns a text with the number of leaders.
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
