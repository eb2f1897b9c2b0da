package cli

import (
	"context"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/jobs"
	"ringleader.example/ringleader/internal/cli/lab"
	"ringleader.example/ringleader/internal/cli/operate"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/cli/study"
	"ringleader.example/ringleader/internal/show/demo"
)

// commands are all commands, in the order of the help.
func (p *program) commands() []*cobra.Command {
	q := p.Program
	elect := operate.Commands(operate.Host{
		Printer: p.Printer, Stdin: p.Stdin,
		Demo: func(ctx context.Context, o demo.Options) error { return lab.Demo(ctx, q, o) },
		Save: plan.SaveRecorded,
	})
	return append(elect,
		run.Command(q), study.Count(q).Command, study.Compare(q).Command, study.Verify(q).Command, study.Worst(q).Command, study.Prove(q),
		jobs.Merge(q), jobs.Worker(q), jobs.Command(q), lab.Command(q), run.Export(q), study.Reproduce(q).Command, study.Algorithms(q),
		study.Sources(q), run.Scenarios(q), run.Replay(q), p.version(), run.Processor(q),
	)
}
