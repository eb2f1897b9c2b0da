package cli

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/worstcase"
)

type worstOptions struct {
	n, tries   int
	of         string
	seed       uint64
	parameters []string
	json       bool
}

func (p *program) worst() *cobra.Command {
	var o worstOptions
	command := &cobra.Command{
		Use:     "worst ALGORITHM",
		GroupID: groupStudy,
		Short:   "Search for inputs on a ring that cost much",
		Long: `Search for inputs that cost much: orders of identifiers, and for synchronous elections also which
identifiers, who wakes when, and who is unwilling. The search climbs from random inputs, a small change at
a time. What it finds is a lower bound on the worst case, with the command that runs it.`,
		Example: `  ringleader worst lcr --n 8 --of election
  ringleader worst stop-and-go-p1 --n 8 --param c=3 --tries 60000
  ringleader worst peterson --n 16 --of total --json`,
		RunE: func(command *cobra.Command, args []string) error {
			e, err := p.oneAlgorithm(command, args)
			if err != nil {
				return err
			}
			return p.climb(command, e, &o)
		},
		ValidArgsFunction: fixed(p.algorithms.Names()...),
	}
	f := command.Flags()
	f.IntVar(&o.n, "n", 8, "number of processes")
	f.StringVar(&o.of, "of", "", strings.Join(worstcase.Measures, ", ")+": what is to be large (default phase, or election where there are no phases)")
	f.IntVar(&o.tries, "tries", 20_000, "how many inputs to run")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the search")
	f.StringSliceVar(&o.parameters, "param", nil, "parameter of the algorithm: name=value, repeated or comma-separated")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	_ = command.RegisterFlagCompletionFunc("of", fixed(worstcase.Measures...))
	return command
}

func (p *program) climb(command *cobra.Command, e *catalogue.Entry, o *worstOptions) error {
	s := worstcase.Options{Entry: e, Size: o.n, Seed: o.seed, Tries: o.tries, Cores: runtime.GOMAXPROCS(0)}
	var err error
	if s.Parameters, err = pairs(o.parameters); err != nil {
		return err
	}
	if o.of == "" && !e.Phased() {
		o.of = worstcase.Elections.String()
	}
	if o.of != "" {
		of, err := word("of", o.of, worstcase.Measures...)
		if err != nil {
			return err
		}
		s.Measure = worstcase.Measure(of)
	}
	bar := p.progress()
	s.Progress = func(tries int) bool {
		bar.show("%d of %d inputs", tries, o.tries)
		return true
	}
	r, err := worstcase.Climb(command.Context(), s)
	bar.done()
	if err != nil {
		return err
	}
	stopped := r.Tries < o.tries
	if r.IDs == nil {
		return exitError{exitIncomplete, fmt.Errorf("stopped before any input was run")}
	}
	if err := p.put(e, o, &s, &r); err != nil || !stopped {
		return err
	}
	return exitError{exitIncomplete, fmt.Errorf("stopped after %d of %d inputs", r.Tries, o.tries)}
}

// call is the run of what was found.
func (o *worstOptions) call(e *catalogue.Entry, i *worstcase.Input) string {
	words := []string{"ringleader", "run", e.Name, "--ids", commas(len(i.IDs), func(p int) uint64 { return i.IDs[p] })}
	if i.Wake != nil {
		words = append(words, "--wake", strings.Join(wakes(i), ","))
	}
	if len(i.Unwilling) > 0 {
		words = append(words, "--unwilling", commas(len(i.Unwilling), func(k int) uint64 { return i.IDs[i.Unwilling[k]] }))
	}
	for _, parameter := range o.parameters {
		words = append(words, "--param", shellWord(parameter))
	}
	return strings.Join(words, " ")
}

// wakes are the times at which processes wake; - is never.
func wakes(i *worstcase.Input) []string {
	all := make([]string, len(i.Wake))
	for p, at := range i.Wake {
		if all[p] = at.String(); at == election.Forever {
			all[p] = "-"
		}
	}
	return all
}

func (p *program) put(e *catalogue.Entry, o *worstOptions, s *worstcase.Options, r *worstcase.Result) error {
	times := float64(r.Cost.Lo) / float64(o.n)
	call := o.call(e, &r.Input)
	if o.json {
		result := object{
			{"algorithm", e.Name},
			{"n", o.n},
			{"of", s.Measure.String()},
			{"seed", o.seed},
			{"tries", r.Tries},
			{"largest", r.Cost},
			{"times_n", times},
			{"ids", r.IDs},
		}
		if r.Wake != nil {
			result = append(result, field{"wake", wakes(&r.Input)})
		}
		if s.Measure == worstcase.Phase {
			result = append(result, field{"phase", r.Phase})
		}
		unwilling := make([]uint64, len(r.Unwilling))
		for k, q := range r.Unwilling {
			unwilling[k] = r.IDs[q]
		}
		return p.print(append(result, field{"unwilling", unwilling}, field{"replay", call}))
	}
	what := map[worstcase.Measure]string{
		worstcase.Phase: fmt.Sprintf("messages in phase %d", r.Phase), worstcase.Elections: "election messages",
		worstcase.Total: "messages", worstcase.Elected: "units until a leader decides",
	}[s.Measure]
	fmt.Fprintf(p.stdout, "%s · ring of %d · %d inputs, seed %d\n\n", p.paintOn(p.stdout).text(bold, e.Title), o.n, r.Tries, o.seed)
	fmt.Fprintf(p.stdout, "largest found: %s %s, %s n\n$ %s\n", r.Cost, what, strconv.FormatFloat(times, 'g', 4, 64), call)
	return nil
}
