package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/worstcase"
)

type worstOptions struct {
	n, tries   int
	of         string
	seed       uint64
	parameters []string
	json       bool
	working
}

func (p *program) worst() *cobra.Command {
	var o worstOptions
	command := &cobra.Command{
		Use:     "worst ALGORITHM",
		GroupID: groupStudy,
		Short:   "Search for the costliest inputs on a ring",
		Long: `Search for the costliest inputs: orders of identifiers, and for synchronous elections also the
identifiers, the times to wake, and the unwilling processes (see run --help). If the inputs
are orders of identifiers only, and not more than --tries, all are tried and the result is exact,
unless steps make random choices: each order is run with one draw of them, so it is a lower bound.
Otherwise the search climbs from random inputs by small changes, and finds a lower bound on the worst
case. The result includes a command that runs the input. With --out an interrupted search continues. With
--nats workers on any number of machines search; ringleader worker starts one.`,
		Example: `  ringleader worst lcr --n 8 --of election
  ringleader worst stop-and-go-p1 --n 8 --param c=3 --tries 60000
  ringleader worst peterson --n 16 --of total --json
  ringleader worst lcr --n 10 --tries 400000 --shard 3/16 --out part3
  ringleader worst lcr --n 10 --tries 400000 --nats nats://10.0.0.1:4222`,
		RunE: func(command *cobra.Command, args []string) error {
			e, err := p.oneAlgorithm(command, args)
			if err != nil {
				return err
			}
			return p.climb(command, e, &o)
		},
		ValidArgsFunction: p.oneOf(func(e *catalogue.Entry) bool {
			return e.Topology == election.Ring && e.Identifiers != election.Anonymous
		}),
	}
	f := command.Flags()
	decimalVar(f, &o.n, "n", "n", 8, "number of processes")
	f.StringVar(&o.of, "of", "", strings.Join(worstcase.Measures, ", ")+": the cost to maximize (default phase, or election without phases)")
	decimalVar(f, &o.tries, "tries", "", 20_000, "largest number of inputs to run")
	decimalVar(f, &o.seed, "seed", "", 1, "seed of the search")
	f.StringSliceVar(&o.parameters, "param", nil, "parameter of the algorithm: name=value, repeated or comma-separated")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	o.working.flags(command, p)
	offerWords(command, "of", worstcase.Measures...)
	return command
}

func (p *program) climb(command *cobra.Command, e *catalogue.Entry, o *worstOptions) error {
	s := worstcase.Options{Entry: e, Size: o.n, Seed: o.seed, Tries: o.tries}
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
	search, err := worstcase.New(s)
	if err != nil {
		return err
	}
	parts, stopped := p.work(command.Context(), assignment{
		working: &o.working, kind: "worst", task: search, units: search.What(),
		words: func() ([]string, error) { return jobWords("worst", []string{e.Name}, command.Flags()) },
		count: func(results [][]byte) (int, int) { return search.Tried(results), o.tries },
		of:    "inputs",
	})
	if stopped != nil && command.Context().Err() == nil {
		return stopped
	}
	results := make([][]byte, len(parts))
	for i, part := range parts {
		results[i] = part.Result
	}
	r, err := search.Result(results...)
	if err != nil || r.IDs == nil {
		return cmp.Or(stopped, err)
	}
	found := &report.Worst{Options: &s, Parameters: o.parameters, Program: p.Name, Result: &r}
	if p.found != nil {
		p.found(savedRun{Ringleader: p.Version, Run: found.Words()})
	}
	return cmp.Or(p.Print(found, o.json), stopped)
}
