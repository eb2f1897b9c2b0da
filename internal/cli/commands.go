package cli

import (
	"context"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/jobs"
	"ringleader.example/ringleader/internal/cli/lab"
	"ringleader.example/ringleader/internal/cli/operate"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/cli/study"
	"ringleader.example/ringleader/internal/show/demo"
)

// commands are all commands, in the order of the help; if only is the name of one, that one alone: all others, with their flags, are a sixth of
// what a short command costs.
func (p *program) commands(only string) (all []*cobra.Command) {
	q := p.Program
	elect := operate.Commands(operate.Host{
		Printer: p.Printer, Stdin: p.Stdin,
		Demo: func(ctx context.Context, o demo.Options) error { return lab.Demo(ctx, q, o) },
		Save: plan.SaveRecorded,
	})
	named := append(elect,
		option.Named{Name: "run", Make: func() *cobra.Command { return run.Command(q) }},
		option.Named{Name: "count", Make: func() *cobra.Command { return study.Count(q).Command }},
		option.Named{Name: "compare", Make: func() *cobra.Command { return study.Compare(q).Command }},
		option.Named{Name: "verify", Make: func() *cobra.Command { return study.Verify(q).Command }},
		option.Named{Name: "worst", Make: func() *cobra.Command { return study.Worst(q).Command }},
		option.Named{Name: "prove", Make: func() *cobra.Command { return study.Prove(q) }},
		option.Named{Name: "merge", Make: func() *cobra.Command { return jobs.Merge(q) }},
		option.Named{Name: "worker", Make: func() *cobra.Command { return jobs.Worker(q) }},
		option.Named{Name: "jobs", Make: func() *cobra.Command { return jobs.Command(q) }},
		option.Named{Name: "lab", Make: func() *cobra.Command { return lab.Command(q) }},
		option.Named{Name: "export", Make: func() *cobra.Command { return run.Export(q) }},
		option.Named{Name: "reproduce", Make: func() *cobra.Command { return study.Reproduce(q).Command }},
		option.Named{Name: "algorithms", Make: func() *cobra.Command { return study.Algorithms(q) }},
		option.Named{Name: "sources", Make: func() *cobra.Command { return study.Sources(q) }},
		option.Named{Name: "scenarios", Make: func() *cobra.Command { return run.Scenarios(q) }},
		option.Named{Name: "replay", Make: func() *cobra.Command { return run.Replay(q) }},
		option.Named{Name: "version", Make: p.version},
		option.Named{Name: "processor", Make: func() *cobra.Command { return run.Processor(q) }},
	)
	for _, n := range named {
		if n.Name == only {
			return []*cobra.Command{n.Make()}
		}
	}
	for _, n := range named {
		all = append(all, n.Make())
	}
	return all
}
