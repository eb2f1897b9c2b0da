package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

// anonymousFlags are the flags that mean something with --anonymous: all else is as the argument has it.
var anonymousFlags = []string{"anonymous", "ids", "n", "seed", "param", "orientation", "limit", "json", "help"}

// anonymousLimit is after how many deliveries a run ends that comes neither to rest nor back to where it was.
const anonymousLimit = 10_000_000

// namesakes are so many processes with the same identifier.
type namesakes int

func (n namesakes) Len() int      { return int(n) }
func (n namesakes) At(int) uint64 { return 1 }
func (n namesakes) Dense() bool   { return false }

// runAnonymous compares, in lock-step, processes that nothing tells apart.
func (p *program) runAnonymous(command *cobra.Command, e *catalogue.Entry, o *runOptions) error {
	var wrong error
	command.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(anonymousFlags, f.Name) {
			wrong = fmt.Errorf("with --anonymous all start together and messages take one unit, so leave out one of --%s and --anonymous", f.Name)
		}
	})
	if wrong != nil {
		return wrong
	}
	o.duplicates = true
	i, err := o.instance(e)
	if err != nil {
		return err
	}
	if o.ids == "" && e.Identifiers != election.Anonymous {
		i.IDs, o.order = namesakes(o.n), "equal"
	}
	limit := o.limit
	if limit == 0 {
		limit = anonymousLimit
	}
	s, err := e.Symmetry(simulate.Options{Instance: i, Seed: o.seed, Limit: limit, Progress: going(command.Context())})
	if err != nil {
		return err
	}
	if o.json {
		err = p.print(symmetryJSON(e, o, s))
	} else {
		p.symmetryText(e, o, s)
	}
	switch {
	case err != nil:
		return err
	case !s.Complete:
		return exitError{exitIncomplete, fmt.Errorf("stopped after %d deliveries, before the end", s.Deliveries)}
	case !s.Right || len(s.Faults) > 0:
		return exitError{code: exitNo}
	}
	return nil
}

// going says whether a run goes on.
func going(ctx context.Context) func(uint64) bool {
	return func(uint64) bool { return ctx.Err() == nil }
}

func symmetryJSON(e *catalogue.Entry, o *runOptions, s *simulate.Symmetry) object {
	result := append(identity(e, &o.input, arranged{s.Prepared}), field{"timing", s.Timing.String()}, field{"seed", o.seed},
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
	result = append(result, outcomeJSON(e.Declaration, &s.Outcome)...)
	result = append(result, field{"time", times(s.Time.Elected, s.Time.Decided, s.Time.Quiet)})
	return append(result, field{"complete", s.Complete})
}

func (p *program) symmetryText(e *catalogue.Entry, o *runOptions, s *simulate.Symmetry) {
	paint, w, n := p.paintOn(p.stdout), p.stdout, len(s.Decisions)
	fmt.Fprintf(w, "%s · %s · %s\n", paint.text(bold, e.Title), networkOf(e.Declaration, s.Timing, n), e.Source)
	p.underTitle(lineUp(e.Declaration, arranged{s.Prepared}, func(int) bool { return false }), fmt.Sprintf("all start, seed %d", o.seed))

	row := func(name, text string) { fmt.Fprintf(w, "  %-12s %s\n", name, text) }
	verdict, colour := symmetryVerdict(s)
	fmt.Fprintln(w, paint.text(colour, verdict))
	row("alike", groups(s.Alike))
	if len(s.Alike) < n {
		compared := fmt.Sprintf("after each of the %d units in which anything happened: all that are alike were equal", s.Rounds)
		if s.Apart != nil {
			compared = fmt.Sprintf("equal, until choices told positions %d and %d apart in unit %s", s.Apart.Process, s.Apart.Other, s.Apart.At)
		}
		row("compared", compared)
	}
	row("then", judgement(s))
	row("leaders", leaders(s))
}

// symmetryVerdict says in a line what the run shows.
func symmetryVerdict(s *simulate.Symmetry) (text, colour string) {
	n := len(s.Decisions)
	switch leader, one := s.Leader(); {
	case n == 1:
		return "one process is like nobody else: nothing stands against an election", green
	case s.Alone():
		return fmt.Sprintf("no two of the %d processes are alike: nothing stands against an election", n), green
	case one && s.Chance:
		return fmt.Sprintf("chance tells them apart: the process at position %d leads", leader), green
	case s.Chance:
		return "they choose, and have not elected one leader", red
	}
	return "nobody can be elected: whatever one process does, those that are like it do at the same time", red
}

// groups writes which positions are alike.
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

// judgement says how the run went out.
func judgement(s *simulate.Symmetry) string {
	switch {
	case s.Repeats != nil:
		return fmt.Sprintf("unit %s is as unit %s was, messages and all: so it goes on for ever", s.Repeats.To, s.Repeats.From)
	case !s.Complete:
		return "the limit stopped it; being equal, those that are alike stay equal for ever"
	}
	return fmt.Sprintf("all is quiet after unit %s: nothing changes any more", s.Time.Quiet)
}

// leaders says how many lead.
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
